// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source

import (
	"fmt"
	"strconv"

	"github.com/clewdev/clew/arch"
)

// gasOf returns the syntax of GNU as for a machine. Of machines without a description it
// takes the columns' numbers. The names of s390's floating-point registers are left out:
// gas 2.40 takes %f2 for column 18, where the psABI has f4.
func gasOf(m *arch.Machine) *arch.Assembler {
	if m.Assembler != nil {
		return m.Assembler
	}
	return &arch.Assembler{Comment: "#"}
}

// gasName returns the name of a column, and false where gas takes none.
func gasName(m *arch.Machine, column uint64) (string, bool) {
	g := gasOf(m)
	if column >= uint64(g.Named) {
		return "", false
	}
	for _, c := range g.Unnamed {
		if c == column {
			return "", false
		}
	}
	name := m.RegisterName(column)
	if name == fmt.Sprintf("r%d", column) && column >= uint64(g.Numbered) {
		return "", false
	}
	return g.Prefix + name, true
}

// gasRegister returns a column as directives name it.
func (p *printer) gasRegister(column uint64) string {
	m := p.names.machine
	if name, ok := gasName(m, column); ok {
		return name
	}
	return strconv.FormatUint(column, 10)
}
