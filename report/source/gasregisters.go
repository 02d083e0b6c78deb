// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source

import (
	"debug/elf"
	"fmt"
	"strconv"
	"sync"

	"github.com/clewdev/clew/arch"
)

// gasMachine is how gas writes one machine's registers and comments.
type gasMachine struct {
	comment string
	prefix  string // of the names of registers
	known   int    // the columns below it have names that gas takes, where the psABI names them
	numbers int    // the columns below it may be called by number: r0
	unknown []uint64
}

// gasMachines are the machines whose registers gas 2.40 takes by name in .cfi
// directives; of others it takes the columns' numbers. The names of s390's
// floating-point registers are left out: gas takes %f2 for column 18, where the
// psABI has f4.
var gasMachines = sync.OnceValue(func() map[elf.Machine]gasMachine {
	return map[elf.Machine]gasMachine{
		elf.EM_386:         {comment: "#", prefix: "%", known: 128},
		elf.EM_X86_64:      {comment: "#", prefix: "%", known: 128, numbers: 16},
		elf.EM_AARCH64:     {comment: "//", known: 32},
		elf.EM_ARM:         {comment: "@", known: 288, numbers: 13},
		elf.EM_PPC:         {comment: "#", known: 128, numbers: 32},
		elf.EM_PPC64:       {comment: "#", known: 128, numbers: 32},
		elf.EM_RISCV:       {comment: "#", known: 128},
		elf.EM_S390:        {comment: "#", prefix: "%", known: 16, numbers: 16},
		elf.EM_MIPS:        {comment: "#", prefix: "$", known: 32},
		elf.EM_SPARC:       {comment: "!", prefix: "%", known: 64},
		elf.EM_SPARC32PLUS: {comment: "!", prefix: "%", known: 64},
		elf.EM_SPARCV9:     {comment: "!", prefix: "%", known: 64},
		elf.EM_68K:         {comment: "|", prefix: "%", known: 25, unknown: []uint64{14}},
		elf.EM_PARISC:      {comment: ";", prefix: "%", known: 32, numbers: 32, unknown: []uint64{27, 28, 29}},
		elf.EM_SH:          {comment: "!", known: 64, numbers: 16},
		elf.EM_IA_64:       {comment: "//"},
	}
})

func gasOf(m *arch.Machine) gasMachine {
	if g, ok := gasMachines()[m.ELF]; ok {
		return g
	}
	return gasMachine{comment: "#"}
}

// register returns the name of a column, and false where gas takes none.
func (g gasMachine) register(m *arch.Machine, column uint64) (string, bool) {
	if column >= uint64(g.known) {
		return "", false
	}
	for _, c := range g.unknown {
		if c == column {
			return "", false
		}
	}
	name := m.RegisterName(column)
	if name == fmt.Sprintf("r%d", column) && column >= uint64(g.numbers) {
		return "", false
	}
	return g.prefix + name, true
}

// gasRegister returns a column as directives name it.
func (p *printer) gasRegister(column uint64) string {
	m := p.names.machine
	if name, ok := gasOf(m).register(m, column); ok {
		return name
	}
	return strconv.FormatUint(column, 10)
}
