// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package spelling

// Last returns the part of a qualified name after the last "::" outside of template arguments.
func Last(name string) string {
	depth, last := 0, 0
	for k := 0; k+1 < len(name); k++ {
		switch {
		case name[k] == '<' || name[k] == '(':
			depth++
		case name[k] == '>' || name[k] == ')':
			depth--
		case depth == 0 && name[k] == ':' && name[k+1] == ':':
			last = k + 2
		}
	}
	return name[last:]
}

// Base returns the shortest name of the base type of C that words name in any order (C 6.7.2):
// "unsigned long" for "long", "unsigned" and "int". It returns "" for other types.
func Base(words []string) string {
	count := make(map[string]int)
	for _, w := range words {
		count[w]++
	}
	take := func(w string) bool {
		if count[w] == 0 {
			return false
		}
		count[w]--
		return true
	}
	unsigned, signed := take("unsigned"), take("signed")
	sign := ""
	if unsigned {
		sign = "unsigned "
	}
	base := ""
	switch {
	case unsigned && signed:
		return ""
	case take("char"):
		base = sign + "char"
		if signed {
			base = "signed char"
		}
	case take("short"):
		base = sign + "short"
		take("int")
	case count["long"] == 1 && take("double"):
		take("long")
		base = sign + "long double"
	case take("long"):
		base = sign + "long"
		if take("long") {
			base = sign + "long long"
		}
		take("int")
	case take("__int128"):
		base = sign + "__int128"
	case take("int") || signed || unsigned:
		base = sign + "int"
	default:
		for _, w := range []string{"void", "_Bool", "bool", "float", "double"} {
			if take(w) {
				base = w
				break
			}
		}
	}
	for _, n := range count {
		if n != 0 {
			return ""
		}
	}
	return base
}
