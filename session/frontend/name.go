// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"strings"

	"github.com/clewdev/clew/value"
)

// Name is a name that an expression can contain.
type Name struct {
	Text string
	Kind NameKind
}

// NameKind is the kind of a Name.
type NameKind uint8

// The kinds of names.
const (
	Local NameKind = iota // an argument or local variable, or a $register or $variable
	Global
	Function
)

// NameStart returns the offset in bytes of the name at the end of a text.
func NameStart(text string) int {
	return len(strings.TrimRightFunc(text, func(r rune) bool {
		return r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
	}))
}

// Names returns the names with a prefix that expressions in a frame, or outside of calls
// if f is nil, can use: local variables first, then global ones, then functions. Registers
// and convenience variables are included only if the prefix begins with $.
func (v *Values) Names(f *Frame, prefix string) []Name {
	var list []Name
	add := func(name string, kind NameKind) {
		if strings.HasPrefix(name, prefix) {
			list = append(list, Name{name, kind})
		}
	}
	if strings.HasPrefix(prefix, "$") {
		for _, r := range v.session.RegisterInfos() {
			add("$"+r.Name, Local)
		}
		for name := range v.Convenience {
			add("$"+name, Local)
		}
		add("$pc", Local)
		add("$sp", Local)
		return list
	}
	var globals []*value.Variable
	if f != nil {
		for _, l := range f.Locals() {
			add(l.Name, Local)
		}
		globals = f.Globals()
	} else {
		address := v.firstAddress()
		for _, o := range v.Objects() {
			list, _ := o.Info().Globals(address) // an object without the address has no globals
			globals = append(globals, list...)
		}
	}
	for _, g := range globals {
		add(g.Name, Global)
	}
	for f := range Functions(v.session) {
		add(f.Name, Function)
	}
	return list
}

// firstAddress returns the address of the first function that is not a host function.
func (v *Values) firstAddress() uint64 {
	for _, image := range v.session.Images() {
		if f := image.Functions(); len(f) > 0 && !image.IsHost() {
			return f[0].Start
		}
	}
	return 0
}
