// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// sourceName is the name of a function as the source has it.
type sourceName struct {
	parts      []string // namespaces, classes and the name, without spaces
	parameters string   // "(int)" and what follows, without spaces; "" for none
}

// maxMangled is the longest symbol that is demangled, in bytes, and 2 to the
// maxDemangledPower the longest result: a short one can stand for a very long name.
const (
	maxMangled        = 4096
	maxDemangledPower = 14
)

// demangled returns the name that a symbol of C++ or Rust stands for. Of a part
// of a function that the compiler moved away ("f.cold") it is none.
func demangled(symbol string) (sourceName, bool) {
	if len(symbol) > maxMangled || !strings.HasPrefix(symbol, "_Z") && !strings.HasPrefix(symbol, "_R") || strings.Contains(symbol, ".cold") {
		return sourceName{}, false
	}
	full, err := demangle.ToString(symbol, demangle.NoClones, demangle.MaxLength(maxDemangledPower))
	if err != nil {
		return sourceName{}, false
	}
	// A template's instance has the type of its result in front.
	plain, err := demangle.ToString(symbol, demangle.NoParams, demangle.MaxLength(maxDemangledPower))
	if err != nil {
		return sourceName{}, false
	}
	n := parseName(plain)
	if at := strings.Index(full, plain); at >= 0 {
		n.parameters = strings.ReplaceAll(full[at+len(plain):], " ", "")
	} else {
		n.parameters = parseName(full).parameters
	}
	return n, true
}

// parseName takes apart what a user calls a function.
func parseName(text string) (n sourceName) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "::")
	depth, start, parameters := 0, 0, -1
	for k := 0; k < len(text); k++ {
		if operator, ok := operatorAt(text, k); ok {
			k += operator - 1
			continue
		}
		switch text[k] {
		case '(':
			// After "::" there is a name: (anonymous namespace).
			if depth == 0 && k > start && parameters < 0 {
				parameters = k
			}
			depth++
		case '<', '{', '[':
			depth++
		case '>', ')', '}', ']':
			depth--
		case ':':
			if depth == 0 && strings.HasPrefix(text[k:], "::") {
				// The parentheses held the parameters of an enclosing function.
				n.parts = append(n.parts, withoutSpaces(cutAt(text[start:k], parameters-start)))
				k++
				start, parameters = k+1, -1
			}
		}
	}
	last := text[start:]
	if parameters >= 0 {
		n.parameters = withoutSpaces(text[parameters:])
		last = text[start:parameters]
	}
	n.parts = append(n.parts, withoutSpaces(last))
	return n
}

func cutAt(s string, at int) string {
	if at < 0 {
		return s
	}
	return s[:at]
}

// operatorAt returns the length of an operator's name; brackets in it do not count as brackets.
func operatorAt(text string, at int) (length int, ok bool) {
	const word = "operator"
	if !strings.HasPrefix(text[at:], word) || at > 0 && isIdentifier(text[at-1]) {
		return 0, false
	}
	rest := text[at+len(word):]
	for _, operator := range [...]string{"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"} {
		if strings.HasPrefix(rest, operator) {
			return len(word) + len(operator), true
		}
	}
	return 0, false
}

func isIdentifier(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func withoutSpaces(s string) string { return strings.ReplaceAll(s, " ", "") }

// last is the function's own name.
func (n *sourceName) last() string { return n.parts[len(n.parts)-1] }

// stands reports whether n, which a user wrote, names a function as gdb
// understands it: scopes, template arguments and parameters can be left out.
func (n *sourceName) stands(of sourceName) bool {
	if len(n.parts) > len(of.parts) {
		return false
	}
	for k, part := range of.parts[len(of.parts)-len(n.parts):] {
		if n.parts[k] != part && n.parts[k] != withoutTemplate(part) {
			return false
		}
	}
	if n.parameters == "" || n.parameters == of.parameters {
		return true
	}
	// "area()" of a method that is const.
	rest, ok := strings.CutPrefix(of.parameters, n.parameters)
	return ok && strings.HasSuffix(n.parameters, ")") && !strings.ContainsAny(rest, "()")
}

// withoutTemplate returns a part of a name without template arguments.
func withoutTemplate(part string) string {
	if at := strings.IndexByte(part, '<'); at > 0 && strings.HasSuffix(part, ">") && !strings.HasPrefix(part, "operator") {
		return part[:at]
	}
	return part
}

// isNamed reports whether a function has a name that a user wrote.
func isNamed(function, name string) bool {
	if function == name {
		return true
	}
	of, ok := demangled(function)
	if !ok {
		return false
	}
	n := parseName(name)
	return n.stands(of)
}

// symbolsNamed returns the linkage names of an image's functions that a user's
// name stands for.
func (i *Image) symbolsNamed(n *sourceName) []string {
	i.demangle.Do(func() {
		i.sources = map[string]sourceName{}
		for _, f := range i.functions {
			if of, ok := demangled(f.Name); ok {
				i.sources[f.Name] = of
			}
		}
	})
	var list []string
	for symbol, of := range i.sources {
		if n.stands(of) {
			list = append(list, symbol)
		}
	}
	slices.Sort(list)
	return list
}
