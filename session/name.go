// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// sourceName is the name of a function in the source.
type sourceName struct {
	parts      []string // namespaces, classes and the name, without spaces
	parameters string   // "(int)" and qualifiers, without spaces; "" for none
}

// Limits of demangling, in bytes. A short symbol can stand for a very long name.
const (
	maxMangled        = 4096 // of the symbol
	maxDemangledPower = 14   // of the result: 1<<maxDemangledPower
)

// demangled returns the name for which a symbol of C++ or Rust stands. The cold part of a function
// ("f.cold") has none.
func demangled(symbol string) (sourceName, bool) {
	if len(symbol) > maxMangled || !strings.HasPrefix(symbol, "_Z") && !strings.HasPrefix(symbol, "_R") || strings.Contains(symbol, ".cold") {
		return sourceName{}, false
	}
	full, err := demangle.ToString(symbol, demangle.NoClones, demangle.MaxLength(maxDemangledPower))
	if err != nil {
		return sourceName{}, false
	}
	// The full name of a template's instance begins with the result type.
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

// parseName parses the name of a function that a user wrote.
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
			// After "::" it begins the name "(anonymous namespace)".
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
				end := k
				if parameters >= 0 { // of an enclosing function
					end = parameters
				}
				n.parts = append(n.parts, withoutSpaces(text[start:end]))
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

// operatorAt returns the length of an operator's name, which can contain brackets.
func operatorAt(text string, at int) (length int, ok bool) {
	const word = "operator"
	if !strings.HasPrefix(text[at:], word) || at > 0 && isIdentifier(text[at-1]) {
		return 0, false
	}
	symbol := text[at+len(word):]
	for _, operator := range [...]string{"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"} {
		if strings.HasPrefix(symbol, operator) {
			return len(word) + len(operator), true
		}
	}
	return 0, false
}

func isIdentifier(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func withoutSpaces(s string) string { return strings.ReplaceAll(s, " ", "") }

// last returns the name without scopes and parameters.
func (n *sourceName) last() string { return n.parts[len(n.parts)-1] }

// matches reports whether n, which a user wrote, stands for a function with a full name. As in gdb,
// n can leave out outer scopes, template arguments and parameters.
func (n *sourceName) matches(full sourceName) bool {
	if len(n.parts) > len(full.parts) {
		return false
	}
	for k, part := range full.parts[len(full.parts)-len(n.parts):] {
		if n.parts[k] != part && n.parts[k] != withoutTemplate(part) {
			return false
		}
	}
	if n.parameters == "" || n.parameters == full.parameters {
		return true
	}
	// "area()" matches "area() const".
	qualifiers, ok := strings.CutPrefix(full.parameters, n.parameters)
	return ok && strings.HasSuffix(n.parameters, ")") && !strings.ContainsAny(qualifiers, "()")
}

// withoutTemplate returns a part of a name without template arguments.
func withoutTemplate(part string) string {
	if at := strings.IndexByte(part, '<'); at > 0 && strings.HasSuffix(part, ">") && !strings.HasPrefix(part, "operator") {
		return part[:at]
	}
	return part
}

// isNamed reports whether a name that a user wrote stands for a function.
func isNamed(function, name string) bool {
	if function == name {
		return true
	}
	full, ok := demangled(function)
	n := parseName(name)
	return ok && n.matches(full)
}

// symbolsNamed returns the linkage names of the image's functions for which a name stands.
func (i *Image) symbolsNamed(n *sourceName) []string {
	i.demangle.Do(func() {
		i.sources = map[string]sourceName{}
		for _, f := range i.functions {
			if full, ok := demangled(f.Name); ok {
				i.sources[f.Name] = full
			}
		}
	})
	var list []string
	for symbol, full := range i.sources {
		if n.matches(full) {
			list = append(list, symbol)
		}
	}
	slices.Sort(list)
	return list
}
