// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"cmp"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
)

// amd64Parts are the names of registers with named parts, without their first letter, by column.
var amd64Parts = [...]string{"ax", "dx", "cx", "bx", "si", "di", "bp", "sp"}

// amd64 sets r if it is a part of a register, or a register that gdb has a name for.
func (r *register) amd64(m *arch.Machine) {
	for column, part := range amd64Parts {
		switch c := uint64(column); r.name {
		case "e" + part:
			r.part(m, c, 0, 4)
		case part:
			if part != "sp" { // $sp is the stack pointer
				r.part(m, c, 0, 2)
			}
		case part[:1] + "l":
			if column < 4 {
				r.part(m, c, 0, 1)
			}
		case part[:1] + "h":
			if column < 4 {
				r.part(m, c, 1, 1)
			}
		case part + "l":
			if column >= 4 {
				r.part(m, c, 0, 1)
			}
		}
	}
	for suffix, size := range map[string]int{"d": 4, "w": 2, "l": 1} {
		if n, ok := registerNumber(r.name, "r", suffix, 16); ok && n >= 8 {
			r.part(m, n, 0, size)
		}
	}
	if n, ok := registerNumber(r.name, "xmm", "", 16); ok {
		r.column, r.typ = 17+n, vector(m, "vec128", 16)
	}
	if n, ok := registerNumber(r.name, "ymm", "", 16); ok {
		r.named, r.column, r.typ = true, n, vector(m, "vec256", 32)
	}
	if n, ok := registerNumber(r.name, "st", "", 8); ok {
		r.column, r.typ = 33+n, value.Base(m, "long double")
	}
	switch r.name {
	case "eflags", "cs", "ss", "ds", "es", "fs", "gs", "mxcsr", "fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop":
		columns := map[string]string{"fctrl": "fcw", "fstat": "fsw", "eflags": "rflags"}
		column, ok := m.Column(cmp.Or(columns[r.name], r.name))
		r.part(m, column, 0, 4)
		r.named = !ok
		if r.name == "eflags" || r.name == "mxcsr" {
			r.typ = value.IntOf(m, "i386_"+r.name, 4, true) // gdb's name, by which a front end shows flags
		}
	case "orig_rax":
		r.part(m, 0, 0, 8)
		r.named = true
	}
}
