// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package lift

import (
	"debug/elf"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"github.com/clewdev/clew/object"
)

// The registers that an instruction changes are those that x/arch names as its first operand,
// in the code of a library.
func TestAMD64WritesAgreeWithXArch(t *testing.T) {
	f, err := object.Open("/usr/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil {
		t.Skip("skipped: libc.so.6 is not installed")
	}
	defer f.Close()
	var operations []Operation
	count := 0
	for n, s := range f.Sections() {
		if s.Name != ".text" || s.Type != elf.SHT_PROGBITS {
			continue
		}
		code, err := f.SectionData(n)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(code); {
			i := Instruction{Right: NoRegister}
			var ok bool
			if operations, ok = (amd64{}).Decode(code[at:], s.Address+uint64(at), &i, operations[:0]); !ok {
				at++
				continue
			}
			x, err := x86asm.Decode(code[at:min(at+15, len(code))], 64)
			if err == nil && x.Op != 0 && x.Len == int(i.Size) {
				count++
				compareWrites(t, &x, writesOf(&i, operations), s.Address+uint64(at))
			}
			at += int(i.Size)
		}
	}
	if count < 100_000 {
		t.Errorf("%d instructions", count)
	}
}

func writesOf(i *Instruction, operations []Operation) uint64 {
	set := i.Clobbered
	for _, o := range operations {
		if o.Op != OpStore && o.Op != OpSpill && o.To != Scratch {
			set |= 1 << o.To
		}
	}
	return set
}

func compareWrites(t *testing.T, x *x86asm.Inst, set uint64, pc uint64) {
	named := uint64(0)
	for _, a := range x.Args {
		if c, ok := columnOf(a); ok {
			named |= 1 << c
		}
	}
	first, isRegister := columnOf(x.Args[0])
	switch x.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.PUSH, x86asm.CALL, x86asm.JMP, x86asm.NOP, x86asm.MUL, x86asm.DIV, x86asm.IDIV,
		x86asm.CRC32, x86asm.OUT, x86asm.LTR, x86asm.LLDT, x86asm.LMSW, x86asm.WRFSBASE, x86asm.WRGSBASE, x86asm.VERR, x86asm.VERW, x86asm.CLFLUSH, x86asm.PREFETCHW:
	case x86asm.IMUL:
		if x.Args[1] == nil {
			return
		}
		fallthrough
	default:
		if isRegister && set>>first&1 == 0 && !(x.Op == x86asm.XCHG && x.Args[0] == x.Args[1]) {
			t.Errorf("%#x: %v does not change %s", pc, x, amd64ABI.Names[first])
		}
	}
	// No preserved register but those that are named.
	extra := set & amd64ABI.PreservedSet &^ named
	if extra != 0 && x.Op != x86asm.CPUID && x.Op != x86asm.LEAVE && x.Op != x86asm.ENTER {
		t.Errorf("%#x: %v changes columns %#x", pc, x, extra)
	}
}

// columnOf returns the column of a general register.
func columnOf(a x86asm.Arg) (uint8, bool) {
	r, ok := a.(x86asm.Reg)
	switch {
	case !ok:
	case r >= x86asm.RAX && r <= x86asm.R15:
		return amd64Columns[r-x86asm.RAX], true
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return amd64Columns[r-x86asm.EAX], true
	case r >= x86asm.AX && r <= x86asm.R15W:
		return amd64Columns[r-x86asm.AX], true
	case r >= x86asm.AL && r <= x86asm.BL:
		return amd64Columns[r-x86asm.AL], true
	case r >= x86asm.AH && r <= x86asm.BH:
		return amd64Columns[r-x86asm.AH], true
	case r >= x86asm.SPB && r <= x86asm.DIB:
		return amd64Columns[4+r-x86asm.SPB], true
	case r >= x86asm.R8B && r <= x86asm.R15B:
		return amd64Columns[8+r-x86asm.R8B], true
	}
	return 0, false
}

// Every opcode with every ModRM byte is decoded without a panic.
func TestAMD64Opcodes(t *testing.T) {
	var operations []Operation
	for _, prefix := range []string{"", "\x66", "\xf2", "\xf3", "\x48", "\x67", "\x64\x4f"} {
		for _, escape := range []string{"", "\x0f", "\x0f\x38", "\x0f\x3a", "\xc5\xf8", "\xc4\xe1\x78", "\xc4\xe2\xf9", "\xc4\xe3\x7b",
			"\x62\xf1\x7c\x48", "\x62\xf2\xfd\x48", "\x62\xf3\x7f\x48", "\x8f\xe8\x78", "\x8f\xe9\x78", "\x8f\xea\x78"} {
			for opcode := range 256 {
				for modRM := range 256 {
					code := append([]byte(prefix+escape), byte(opcode), byte(modRM), 0x24, 1, 2, 3, 4, 5, 6, 7, 8)
					operations = checkDecoded(t, amd64{}, code, operations)
				}
			}
		}
	}
}

// Instructions of APX are refused (Intel APX Architecture Specification, §3.1): REX2, EVEX map 4, conditional
// comparisons, and the forms of BMI and cmpccxadd with EVEX.
func TestAPX(t *testing.T) {
	for name, code := range map[string]string{
		"mov %rbx,%r16":       "\xd5\x18\x89\xd8",
		"push %r16":           "\xd5\x10\x50",
		"jmpabs":              "\xd5\x00\xa1\x01\x02\x03\x04\x05\x06\x07\x08",
		"add %rax,%rbx,%rcx":  "\x62\xf4\xf4\x18\x01\xc3",
		"push2 %rbx,%rbp":     "\x62\xf4\x64\x18\xff\xf5",
		"andn with EVEX":      "\x62\xf2\xe4\x08\xf2\xc1",
		"cmpbxadd with EVEX":  "\x62\xf2\xe5\x08\xe2\x08",
		"ccmpb {dfv=} to rbx": "\x62\xf4\x84\x02\x39\xc3",
	} {
		i := Instruction{Right: NoRegister}
		if _, ok := (amd64{}).Decode([]byte(code), 0x1000, &i, nil); ok {
			t.Errorf("%s is decoded: %+v", name, i)
		}
	}
}
