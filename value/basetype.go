// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"slices"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value/internal/spelling"
)

// Base returns a base type of C for a machine: "int", "unsigned long", "char",
// "double", "void", "__int128". It returns nil for a name that C does not have.
// Sizes are those of Linux.
func Base(m *arch.Machine, name string) *Type {
	name = spell(name).base
	t := &Type{machine: m, language: C, name: name, kind: Int, sized: true, ready: true, signed: !strings.Contains(name, "unsigned")}
	switch name {
	case "void":
		return &Type{machine: m, language: C, name: name, kind: Void, ready: true}
	case "_Bool", "bool":
		t.kind, t.size, t.signed = Bool, 1, false
	case "char":
		// gcc's plain char is unsigned on arm, powerpc, s390 and riscv.
		t.kind, t.size, t.signed = Char, 1, plainCharSigned(m)
	case "signed char", "unsigned char":
		t.kind, t.size = Char, 1
	case "short", "unsigned short":
		t.size = 2
	case "int", "unsigned int":
		t.size = 4
	case "long", "unsigned long":
		t.size = uint64(m.AddressSize)
	case "long long", "unsigned long long":
		t.size = 8
	case "__int128", "unsigned __int128":
		t.size = 16
	case "float":
		t.kind, t.size, t.signed = Float, 4, false
	case "double":
		t.kind, t.size, t.signed = Float, 8, false
	case "long double":
		t.kind, t.size, t.signed = Float, 16, false
		if m.AddressSize == 4 {
			t.size = 8
			if strings.Contains(m.Name, "86") {
				t.size = 12
			}
		}
		t.format = t.floatFormat(t.size, 0)
	default:
		return nil
	}
	return t
}

func plainCharSigned(m *arch.Machine) bool {
	for _, prefix := range []string{"arm", "aarch", "power", "ppc", "s390", "risc"} {
		if strings.HasPrefix(strings.ToLower(m.Name), prefix) {
			return false
		}
	}
	return true
}

// spelled is the name of a type as a person writes it.
type spelled struct {
	name string
	tag  Kind   // Struct for "struct x" and "class x", Union, Enum; Unknown for a plain name
	base string // the shortest name of a base type of C: "unsigned long"; else ""
}

// spell reads the name of a type.
func spell(name string) spelled {
	words := strings.Fields(name)
	if len(words) == 0 {
		return spelled{}
	}
	rest := strings.Join(words[1:], " ")
	switch words[0] {
	case "struct", "class":
		return spelled{name: rest, tag: Struct}
	case "union":
		return spelled{name: rest, tag: Union}
	case "enum":
		return spelled{name: rest, tag: Enum}
	}
	s := spelled{name: strings.Join(words, " ")}
	s.base = spelling.Base(words)
	if s.base != "" {
		s.name = s.base
	}
	return s
}

// fits reports whether t is of the kind that was written.
func (s spelled) fits(t *Type) bool {
	switch s.tag {
	case Struct:
		return t.kind == Struct || t.kind == Class
	case Union, Enum:
		return t.kind == s.tag
	}
	if t.language == CPlusPlus {
		return true
	}
	return !slices.Contains([]Kind{Struct, Union, Enum}, t.kind) || t.language != C
}
