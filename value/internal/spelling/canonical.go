// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package spelling

import "strings"

// Canonical returns the name of a type of C++ with the arguments of its templates as gdb
// spells them, whatever the compiler did (libiberty's cp-demangle.c has the style):
// "box<unsigned long, char const*>". What it does not know it leaves alone, as gdb does
// what is not C++.
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

// speller reads a name from its start. After a failure nothing that it returns counts.
type speller struct {
	rest   string
	depth  int
	failed bool
}

func (s *speller) fail() string {
	s.failed = true
	return ""
}

// take takes a text that stands next.
func (s *speller) take(text string) (ok bool) {
	s.rest, ok = strings.CutPrefix(s.rest, text)
	return ok
}

func (s *speller) space() { s.rest = strings.TrimLeft(s.rest, " ") }

// word takes an identifier, or the part of one that stands next.
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

// scoped reads a name with what it stands in: "std::vector<int>::iterator".
func (s *speller) scoped() string {
	var b strings.Builder
	for !s.failed {
		const anonymous = "(anonymous namespace)"
		switch {
		case s.take(anonymous):
			b.WriteString(anonymous)
		default:
			word := s.word()
			if word == "" || word == "operator" {
				return s.fail()
			}
			b.WriteString(word)
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

// arguments reads the arguments of a template after its "<", with its ">".
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

// argument reads a number, or a type.
func (s *speller) argument() string {
	sign := ""
	if s.take("-") {
		sign = "-"
	}
	if sign != "" || s.rest != "" && s.rest[0] >= '0' && s.rest[0] <= '9' {
		return sign + strings.ToLower(s.word()) // 7UL
	}
	if strings.HasPrefix(s.rest, "(") && !strings.HasPrefix(s.rest, "(anonymous") {
		// The value of an enumeration: (Kind)1.
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

// typeName reads a type; qualifiers come after what they qualify.
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
				return s.fail() // a member pointer, or "unsigned __int128"
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
		default:
			return base
		}
	}
	return base
}

// maxDepth bounds how deep template arguments nest.
const maxDepth = 64
