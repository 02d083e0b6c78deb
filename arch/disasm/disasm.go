// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package disasm

import (
	"debug/elf"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/loong64/loong64asm"
	"golang.org/x/arch/ppc64/ppc64asm"
	"golang.org/x/arch/riscv64/riscv64asm"
	"golang.org/x/arch/s390x/s390xasm"

	"github.com/clewdev/clew/arch"
)

// Name returns the symbol that covers an address and the symbol's start address, or ""
// if no symbol covers it.
type Name func(addr uint64) (symbol string, start uint64)

// decoder decodes the instruction at the start of code, which stands at pc. It
// returns "" where it knows none; size is then the bytes to pass over.
type decoder func(m *arch.Machine, code []byte, pc uint64, name Name) (text string, size int)

// decoders has a row for each machine whose code can be decoded, or whose instructions
// need not have a multiple of four bytes.
var decoders = []struct {
	machine elf.Machine
	wide    bool // of 64 bits only
	decode  decoder
	unit    int // smallest size of an instruction in bytes
}{
	{elf.EM_X86_64, false, x86, 1},
	{elf.EM_386, false, x86, 1},
	{elf.EM_AARCH64, false, arm64, 4},
	{elf.EM_PPC64, false, ppc, 4},
	{elf.EM_PPC, false, ppc, 4},
	{elf.EM_RISCV, true, riscv, 2},
	{elf.EM_S390, true, s390x, 2},
	{elf.EM_LOONGARCH, true, loong, 4},
	{elf.EM_ARM, false, nil, 2},
	{elf.EM_SH, false, nil, 2},
	{elf.EM_68K, false, nil, 2},
}

// decoderOf returns the decoder of a machine, nil where there is none, and the
// smallest unit of its instructions in bytes.
func decoderOf(m *arch.Machine) (decoder, int) {
	for i := range decoders {
		if d := &decoders[i]; d.machine == m.ELF && (!d.wide || m.Class == elf.ELFCLASS64) {
			return d.decode, d.unit
		}
	}
	return nil, 4
}

// Known reports whether code of the machine can be disassembled. Code of arm cannot: a
// file need not say which of arm's two instruction sets its code uses.
func Known(m *arch.Machine) bool {
	d, _ := decoderOf(m)
	return d != nil
}

// Decode returns the text of the instruction at the start of code, and its size in
// bytes, at least 1 and at most len(code). Pc is the address of code. Name may be nil.
// Bytes that cannot be decoded are shown as data. The size is 0 if code is empty.
func Decode(m *arch.Machine, code []byte, pc uint64, name Name) (text string, size int) {
	if len(code) == 0 {
		return "", 0
	}
	if name == nil {
		name = func(uint64) (string, uint64) { return "", 0 }
	}
	d, unit := decoderOf(m)
	if d != nil {
		text, size = guarded(d, m, code, pc, name)
	}
	if size <= 0 || size > len(code) {
		text, size = "", min(unit, len(code))
	}
	if text == "" {
		return data(code[:size]), size
	}
	return text, size
}

// guarded calls a decoder of golang.org/x/arch, some of which panic on bytes
// that are no instruction.
func guarded(d decoder, m *arch.Machine, code []byte, pc uint64, name Name) (text string, size int) {
	defer func() {
		if recover() != nil {
			text, size = "", 0
		}
	}()
	return d(m, code, pc, name)
}

// data shows bytes as an assembler would take them.
func data(b []byte) string {
	var s strings.Builder
	s.WriteString(".byte")
	for i, c := range b {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, " %#02x", c)
	}
	return s.String()
}

// target shows where a branch leads.
func target(addr uint64, name Name) string {
	symbol, start := name(addr)
	switch {
	case symbol == "":
		return fmt.Sprintf("%#x", addr)
	case addr == start:
		return fmt.Sprintf("%#x <%s>", addr, symbol)
	}
	return fmt.Sprintf("%#x <%s+%#x>", addr, symbol, addr-start)
}

func arm64(_ *arch.Machine, code []byte, pc uint64, name Name) (string, int) {
	i, err := arm64asm.Decode(code)
	if err != nil {
		return "", 4
	}
	text := arm64asm.GNUSyntax(i)
	for _, a := range i.Args {
		if rel, ok := a.(arm64asm.PCRel); ok {
			to := pc + uint64(rel)
			if i.Op == arm64asm.ADRP {
				to = pc&^0xfff + uint64(rel)
			}
			text = strings.Replace(text, rel.String(), target(to, name), 1)
		}
	}
	return text, 4
}

func ppc(m *arch.Machine, code []byte, pc uint64, name Name) (string, int) {
	i, err := ppc64asm.Decode(code, m.Order)
	if err != nil {
		return "", 4
	}
	text := ppc64asm.GNUSyntax(i, pc)
	if text[0] == 'b' {
		text = withTarget(text, 0, name)
	}
	return text, i.Len
}

func riscv(m *arch.Machine, code []byte, pc uint64, name Name) (string, int) {
	size := 4
	if len(code) >= 2 && code[0]&3 != 3 {
		size = 2 // the C extension
	}
	i, err := riscv64asm.Decode(code)
	if err != nil {
		return "", size
	}
	// x/arch writes x10 and the distance of a branch; GNU a0 and its target.
	text := registerX().ReplaceAllStringFunc(riscv64asm.GNUSyntax(i), func(x string) string {
		column, _ := strconv.ParseUint(x[1:], 10, 8)
		return m.RegisterName(column)
	})
	switch text[0] {
	case 'b', 'j':
		text = withTarget(text, pc, name)
	}
	return text, i.Len
}

var registerX = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bx([12]?[0-9]|3[01])\b`) })

// withTarget names what the last operand of a branch leads to, which is a
// number relative to base.
func withTarget(text string, base uint64, name Name) string {
	at := strings.LastIndexAny(text, " ,\t") + 1
	delta, err := strconv.ParseInt(text[at:], 0, 64)
	if err != nil || at == 0 || base == 0 && !strings.HasPrefix(text[at:], "0x") {
		return text
	}
	return text[:at] + target(base+uint64(delta), name)
}

func s390x(_ *arch.Machine, code []byte, pc uint64, name Name) (string, int) {
	// The two top bits give the size (z/Architecture Principles of Operation, "Instruction Formats").
	size := [4]int{2, 4, 4, 6}[code[0]>>6]
	i, err := s390xasm.Decode(code)
	if err != nil {
		return "", size
	}
	text := s390xasm.GNUSyntax(i, pc)
	if strings.HasPrefix(text, ".long") {
		return "", size
	}
	switch text[0] {
	case 'b', 'c', 'j', 'l': // branches, compare and branch, loads relative
		text = withTarget(text, 0, name)
	}
	return text, size
}

func loong(_ *arch.Machine, code []byte, _ uint64, _ Name) (string, int) {
	i, err := loong64asm.Decode(code)
	if err != nil {
		return "", 4
	}
	return loong64asm.GNUSyntax(i), 4
}
