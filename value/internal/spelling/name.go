// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package spelling

import (
	"slices"
	"strings"
)

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
	left := slices.Clone(words)
	take := func(word string) bool {
		k := slices.Index(left, word)
		if k >= 0 {
			left = slices.Delete(left, k, k+1)
		}
		return k >= 0
	}
	unsigned, signed, isInt := take("unsigned"), take("signed"), take("int")
	slices.Sort(left)
	name := strings.Join(left, " ")
	switch name {
	case "short", "long", "long long": // int is optional
	case "char", "__int128":
		if isInt {
			return ""
		}
	case "":
		if !isInt && !unsigned && !signed {
			return ""
		}
		name = "int"
	case "void", "_Bool", "bool", "float", "double", "double long":
		if isInt || unsigned || signed {
			return ""
		}
		if name == "double long" {
			name = "long double"
		}
	default:
		return ""
	}
	switch {
	case unsigned && signed:
		return ""
	case unsigned:
		name = "unsigned " + name
	case signed && name == "char":
		name = "signed char"
	}
	return name
}
