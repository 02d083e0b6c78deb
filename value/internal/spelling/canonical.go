// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package spelling

import "strings"

// Canonical returns the name of a type of C++ with template arguments in gdb's spelling (the style is
// in libiberty's cp-demangle.c): "box<unsigned long, char const*>". As in gdb, it returns a name
// unchanged if it is not in C++'s syntax.
func Canonical(name string) string {
	if !strings.Contains(name, "<") {
		return name
	}
	s := speller{rest: name}
	out := s.scoped()
	if s.failed || s.rest != "" {
		return name
	}
	return out
}

// speller reads a name from its start. After a failure its results are invalid.
type speller struct {
	rest   string
	depth  int
	failed bool
}

func (s *speller) fail() string {
	s.failed = true
	return ""
}

// take skips a text if it is next.
func (s *speller) take(text string) (ok bool) {
	s.rest, ok = strings.CutPrefix(s.rest, text)
	return ok
}

func (s *speller) space() { s.rest = strings.TrimLeft(s.rest, " ") }

// word reads an identifier, or the rest of one.
func (s *speller) word() (word string) {
	n := 0
	for n < len(s.rest) && isWord(s.rest[n]) {
		n++
	}
	word, s.rest = s.rest[:n], s.rest[n:]
	return word
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

// scoped reads a qualified name: "std::vector<int>::iterator".
func (s *speller) scoped() string {
	var b strings.Builder
	for !s.failed {
		const anonymous = "(anonymous namespace)"
		if s.take(anonymous) {
			b.WriteString(anonymous)
		} else if word := s.word(); word != "" && word != "operator" {
			b.WriteString(word)
		} else {
			return s.fail()
		}
		if s.take("<") {
			b.WriteString(s.arguments())
		}
		if !s.take("::") {
			break
		}
		b.WriteString("::")
	}
	return b.String()
}

// arguments reads the arguments of a template from after its "<" up to its ">".
func (s *speller) arguments() string {
	if s.depth++; s.depth > maxDepth {
		return s.fail()
	}
	defer func() { s.depth-- }()
	list := []string{}
	for s.space(); !s.failed && !s.take(">"); s.space() {
		if len(list) > 0 && !s.take(",") {
			return s.fail()
		}
		s.space()
		list = append(list, s.argument())
	}
	text := strings.Join(list, ", ")
	if strings.HasSuffix(text, ">") {
		text += " "
	}
	return "<" + text + ">"
}

// character reads a constant like 'x' or '\n'.
func (s *speller) character() string {
	for k := 1; k < len(s.rest); k++ {
		switch s.rest[k] {
		case '\\':
			k++
		case '\'':
			text := s.rest[:k+1]
			s.rest = s.rest[k+1:]
			return "(char)" + text
		}
	}
	return s.fail()
}

// argument reads a number, a character, the address of an object or a type.
func (s *speller) argument() string {
	sign := ""
	if s.take("-") {
		sign = "-"
	}
	if sign != "" || s.rest != "" && s.rest[0] >= '0' && s.rest[0] <= '9' {
		return sign + strings.ToLower(s.word()) // 7UL
	}
	if strings.HasPrefix(s.rest, "'") {
		return s.character()
	}
	if inner, ok := strings.CutPrefix(s.rest, "(& "); ok { // GCC's spelling of &object
		s.rest = inner
		name := s.scoped()
		if !s.take(")") {
			return s.fail()
		}
		return "&" + name
	}
	if s.take("&") {
		return "&" + s.scoped()
	}
	if strings.HasPrefix(s.rest, "(") && !strings.HasPrefix(s.rest, "(anonymous") {
		// A value of an enumeration: (Kind)1.
		end := strings.IndexAny(s.rest, ",>")
		if end < 0 || strings.ContainsAny(s.rest[1:end], "(<&' ") {
			return s.fail()
		}
		text := s.rest[:end]
		s.rest = s.rest[end:]
		return text
	}
	return s.typeName()
}

// typeName reads a type. Qualifiers follow the type that they qualify.
func (s *speller) typeName() string {
	var base string
	var words, qualifiers []string
	for !s.failed {
		s.space()
		before := s.rest
		switch word := s.word(); word {
		case "const", "volatile":
			qualifiers = append(qualifiers, word)
			continue
		case "long", "short", "int", "unsigned", "signed", "char", "double":
			if base == "" {
				words = append(words, word)
				continue
			}
			return s.fail()
		case "":
			s.rest = before
			if !strings.HasPrefix(before, "(anonymous") {
				break
			}
			fallthrough
		default:
			s.rest = before
			if base != "" || len(words) > 0 {
				return s.fail() // a member pointer or "unsigned __int128"
			}
			base = s.scoped()
			continue
		}
		break
	}
	if len(words) > 0 {
		base = Base(words)
	}
	if base == "" {
		return s.fail()
	}
	for _, q := range qualifiers {
		base += " " + q
	}
	for !s.failed {
		s.space()
		switch {
		case s.take("*"):
			base += "*"
		case s.take("&&"):
			base += "&&"
		case s.take("&"):
			base += "&"
		case s.take("const"):
			base += " const"
		case s.take("volatile"):
			base += " volatile"
		case s.take("["):
			length := s.word()
			if !s.take("]") {
				return s.fail()
			}
			if !strings.HasSuffix(base, "]") {
				base += " "
			}
			base += "[" + length + "]"
		case strings.HasPrefix(s.rest, "("):
			base += " " + s.function()
		default:
			return base
		}
	}
	return base
}

// function reads the rest of the type of a pointer to a function, "(*)(int)". As in gdb, a type of
// functions, "int (int)", is not changed.
func (s *speller) function() string {
	if s.depth++; s.depth > maxDepth {
		return s.fail()
	}
	defer func() { s.depth-- }()
	text := ""
	for _, mark := range []string{"(*)", "(&&)", "(&)"} {
		if s.take(mark) {
			text = mark
			break
		}
	}
	if text == "" || !s.take("(") {
		return s.fail()
	}
	var list []string
	for s.space(); !s.failed && !s.take(")"); s.space() {
		if len(list) > 0 && !s.take(",") {
			return s.fail()
		}
		list = append(list, s.typeName())
	}
	return text + "(" + strings.Join(list, ", ") + ")"
}

// maxDepth bounds the nesting of template arguments.
const maxDepth = 64
