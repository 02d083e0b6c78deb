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
	"golang.org/x/arch/x86/x86asm"

	"github.com/clewdev/clew/arch"
)

// Name returns the symbol that covers an address and the symbol's start address, or ""
// if no symbol covers it.
type Name func(addr uint64) (symbol string, start uint64)

// decoder decodes the instruction at the start of code, at address pc. If it fails, it returns
// "" and the number of bytes to skip.
type decoder func(m *arch.Machine, code []byte, pc uint64, name Name) (text string, size int)

// decoders has a row for each machine with a decoder, or with instructions that need not have a
// multiple of four bytes.
var decoders = []struct {
	machine elf.Machine
	wide    bool // only with 64 bits
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

// decoderOf returns the decoder of a machine, or nil, and the smallest unit of its instructions
// in bytes.
func decoderOf(m *arch.Machine) (decoder, int) {
	for i := range decoders {
		if d := &decoders[i]; d.machine == m.ELF && (!d.wide || m.Class == elf.ELFCLASS64) {
			return d.decode, d.unit
		}
	}
	return nil, 4
}

// Known reports whether code of the machine can be disassembled. Code of arm cannot, because a
// file can omit which of arm's two instruction sets its code uses.
func Known(m *arch.Machine) bool {
	d, _ := decoderOf(m)
	return d != nil
}

// Decode returns the text of the instruction at the start of code, and its size in
// bytes, at least 1 and at most len(code). Pc is the address of code. Name may be nil.
// Bytes that cannot be decoded are printed as data. The size is 0 if code is empty.
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

// guarded calls a decoder of golang.org/x/arch. Some of them panic on invalid instructions.
func guarded(d decoder, m *arch.Machine, code []byte, pc uint64, name Name) (text string, size int) {
	defer func() {
		if recover() != nil {
			text, size = "", 0
		}
	}()
	return d(m, code, pc, name)
}

// data returns bytes in the syntax of an assembler.
func data(b []byte) string {
	list := make([]string, len(b))
	for i, c := range b {
		list[i] = fmt.Sprintf("%#02x", c)
	}
	return ".byte " + strings.Join(list, ", ")
}

// target returns the text for the target of a branch.
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
	// x/arch writes x10 and the distance of a branch; GNU writes a0 and the target.
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

// withTarget replaces the last operand of a branch, a number relative to base, by the target.
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

func x86(m *arch.Machine, code []byte, pc uint64, name Name) (string, int) {
	mode := 32
	if m.ELF == elf.EM_X86_64 {
		mode = 64
	}
	// x/arch decodes these as a NOP with a prefix (Intel SDM volume 2, "ENDBR64").
	if len(code) >= 4 && string(code[:3]) == "\xf3\x0f\x1e" {
		switch code[3] {
		case 0xfa:
			return "endbr64", 4
		case 0xfb:
			return "endbr32", 4
		}
	}
	i, err := x86asm.Decode(code, mode)
	if err != nil || i.Op == 0 || i.Len == 0 {
		return "", 1
	}
	// x/arch omits an absolute address of 0, which unlinked code has, so another number
	// replaces it. x/arch also prints some negative displacements as positive. All have 32
	// bits with a sign (Intel SDM volume 2, 2.2.1.3 and 2.2.1.6).
	const zero = 0x7a5a7a5b
	absolute := false
	for k, a := range i.Args {
		mem, ok := a.(x86asm.Mem)
		switch {
		case ok && mem.Base == 0 && mem.Disp == 0:
			mem.Disp, absolute = zero, true
		case ok && mem.Base != 0:
			mem.Disp = int64(int32(mem.Disp))
		default:
			continue
		}
		i.Args[k] = mem
	}
	text := strings.TrimSpace(x86asm.GNUSyntax(i, pc, nil))
	text = strings.Replace(text, ",%riz)", ")", 1) // no index register; objdump omits it
	if absolute {
		text = strings.Replace(text, fmt.Sprintf("%#x", zero), "0x0", 1)
	}
	// GNU syntax has no suffix if there is only one size.
	for _, mnemonic := range []string{"call", "jmp", "ret", "leave", "push", "pop"} {
		if operands, ok := strings.CutPrefix(text, mnemonic+"q"); ok && (operands == "" || operands[0] == ' ') && mode == 64 {
			text = mnemonic + operands
		}
	}
	for _, a := range i.Args {
		if mem, ok := a.(x86asm.Mem); ok && mem.Base == x86asm.RIP {
			text += fmt.Sprintf("  # %#x", pc+uint64(i.Len)+uint64(mem.Disp))
		}
	}
	switch text[0] {
	case 'c', 'j', 'l', 'x': // call, jumps, loop, xbegin
		if i.PCRel > 0 {
			text = withTarget(text, 0, name)
		}
	}
	return text, i.Len
}
