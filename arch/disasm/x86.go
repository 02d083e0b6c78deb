// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package disasm

import (
	"debug/elf"
	"fmt"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/clewdev/clew/arch"
)

func x86(m *arch.Machine, code []byte, pc uint64, name Name) (string, int) {
	mode := 32
	if m.ELF == elf.EM_X86_64 {
		mode = 64
	}
	// Known to x/arch as a NOP with a prefix (Intel SDM volume 2, "ENDBR64").
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
	// x/arch prints nothing for an absolute address of 0, as code that is not
	// linked yet has it: another one stands for it. And not all displacements
	// from a register are negative that should be: all are of 32 bits with a sign
	// (Intel SDM volume 2, 2.2.1.3 and 2.2.1.6).
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
	text = strings.Replace(text, ",%riz)", ")", 1) // no index: GNU as takes it, objdump omits it
	if absolute {
		text = strings.Replace(text, fmt.Sprintf("%#x", zero), "0x0", 1)
	}
	// GNU as wants no suffix where there is one size only.
	for _, mnemonic := range []string{"call", "jmp", "ret", "leave", "push", "pop"} {
		if rest, ok := strings.CutPrefix(text, mnemonic+"q"); ok && (rest == "" || rest[0] == ' ') && mode == 64 {
			text = mnemonic + rest
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
