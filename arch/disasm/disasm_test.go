// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package disasm_test

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/arch/disasm"
)

func machine(m elf.Machine, class elf.Class, data elf.Data) *arch.Machine {
	return arch.Lookup(m, class, data)
}

var machines = []*arch.Machine{
	machine(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB),
	machine(elf.EM_386, elf.ELFCLASS32, elf.ELFDATA2LSB),
	machine(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB),
	machine(elf.EM_PPC64, elf.ELFCLASS64, elf.ELFDATA2LSB),
	machine(elf.EM_PPC, elf.ELFCLASS32, elf.ELFDATA2MSB),
	machine(elf.EM_RISCV, elf.ELFCLASS64, elf.ELFDATA2LSB),
	machine(elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB),
	machine(elf.EM_LOONGARCH, elf.ELFCLASS64, elf.ELFDATA2LSB),
	machine(elf.EM_ARM, elf.ELFCLASS32, elf.ELFDATA2LSB),
}

func TestDecode(t *testing.T) {
	const amd64, i386, arm64, ppc64, ppc, riscv, s390x, loong, arm = 0, 1, 2, 3, 4, 5, 6, 7, 8
	name := func(addr uint64) (string, uint64) {
		if addr >= 0x1050 && addr < 0x1060 {
			return "puts", 0x1050
		}
		return "", 0
	}
	for _, test := range []struct {
		machine int
		code    string
		text    string
		size    int
	}{
		{amd64, "5b", "pop %rbx", 1},
		{amd64, "f30f1efa", "endbr64", 4},
		{amd64, "c3", "ret", 1},
		{amd64, "e84b000000", "call 0x1050 <puts>", 5},
		{amd64, "e84f000000", "call 0x1054 <puts+0x4>", 5},
		{amd64, "e800010000", "call 0x1105", 5},
		{amd64, "488d3d280e0000", "lea 0xe28(%rip),%rdi # 0x1e2f", 7},
		{amd64, "c5f877", "vzeroupper", 3},
		{amd64, "488d3d45e7ffff", "lea -0x18bb(%rip),%rdi # 0xfffffffffffff74c", 7},
		{amd64, "4c8da42448fcffff", "lea -0x3b8(%rsp),%r12", 8},
		{amd64, "41890c24", "mov %ecx,(%r12)", 4},
		{amd64, "8b042500000000", "mov 0x0,%eax", 7},
		{amd64, "64488b042500000000", "mov %fs:0x0,%rax", 9},
		{amd64, "8b04cd00000000", "mov 0x0(,%rcx,8),%eax", 7},
		{amd64, "c704250000000001000000", "movl $0x1,0x0", 11},
		{amd64, "ff142500000000", "call *0x0", 7},
		{amd64, "0f", ".byte 0x0f", 1},
		{amd64, "06", ".byte 0x06", 1}, // push %es, of 32-bit code only
		{i386, "06", "push %es", 1},
		{i386, "f30f1efb", "endbr32", 4},
		{arm64, "fd7bbfa9", "stp x29, x30, [sp,#-16]!", 4},
		{arm64, "14000094", "bl 0x1050 <puts>", 4},
		{arm64, "00000000", ".byte 0x00, 0x00, 0x00, 0x00", 4},
		{arm64, "fd7b", ".byte 0xfd, 0x7b", 2},
		{ppc64, "a602087c", "mflr r0", 4},
		{ppc64, "51000048", "bl 0x1050 <puts>", 4},
		{ppc, "7c0802a6", "mflr r0", 4},
		{riscv, "4111", "addi sp,sp,-16", 2},
		{riscv, "ef000005", "jal 0x1050 <puts>", 4},
		{riscv, "8280", "ret", 2},
		{s390x, "c0e500000028", "brasl %r14,0x1050 <puts>", 6},
		{s390x, "07fe", "br %r14", 2},
		{s390x, "0000", ".byte 0x00, 0x00", 2},
		{loong, "2000004c", "ret", 4},
		{arm, "1eff2fe1", ".byte 0x1e, 0xff", 2},
	} {
		m := machines[test.machine]
		code, err := hex.DecodeString(test.code)
		if err != nil {
			t.Fatal(err)
		}
		text, size := disasm.Decode(m, code, 0x1000, name)
		if text = strings.Join(strings.Fields(text), " "); text != test.text || size != test.size {
			t.Errorf("%s %s: %q of %d bytes, want %q of %d", m.Name, test.code, text, size, test.text, test.size)
		}
	}
	if text, size := disasm.Decode(machines[0], nil, 0, nil); text != "" || size != 0 {
		t.Errorf("no code: %q of %d bytes", text, size)
	}
}

func TestKnown(t *testing.T) {
	for _, m := range machines {
		if want := m.ELF != elf.EM_ARM; disasm.Known(m) != want {
			t.Errorf("%s: known %v, want %v", m.Name, !want, want)
		}
	}
}

// The sizes of instructions decide where rows seem to start: they have to be
// objdump's. Text differs in taste, and is not compared.
func TestSizesAgreeWithObjdump(t *testing.T) {
	const most = 1 << 17 // bytes of code
	for _, test := range []struct{ tool, file string }{
		{"objdump", "/lib/x86_64-linux-gnu/libc.so.6"},
		{"objdump", "/usr/i686-linux-gnu/lib/libc.so.6"},
		{"riscv64-linux-gnu-objdump", "/usr/riscv64-linux-gnu/lib/libc.so.6"},
		{"s390x-linux-gnu-objdump", "/usr/s390x-linux-gnu/lib/libc.so.6"},
	} {
		t.Run(test.file, func(t *testing.T) {
			if _, err := exec.LookPath(test.tool); err != nil {
				t.Skip("skipped: " + test.tool + " is not installed")
			}
			f, err := elf.Open(test.file)
			if err != nil {
				t.Skip("skipped: " + test.file + " is not installed")
			}
			defer f.Close()
			section := f.Section(".text")
			code, err := section.Data()
			if err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(test.tool, "-d", "-j.text", "--no-show-raw-insn",
				fmt.Sprintf("--stop-address=%#x", section.Addr+most), test.file).Output()
			if err != nil {
				t.Fatal(err)
			}
			m := arch.Lookup(f.Machine, f.Class, f.Data)
			at, compared, unknown := uint64(0), 0, 0
			for line := range strings.Lines(string(out)) {
				address, text, ok := strings.Cut(line, ":\t")
				pc, err := strconv.ParseUint(strings.TrimSpace(address), 16, 64)
				if !ok || err != nil {
					at = 0 // a label, or zeros that objdump leaves out
					continue
				}
				if pc > section.Addr+most-32 {
					break // objdump guesses at instructions that the stop address cuts
				}
				if at != 0 && pc != at {
					t.Errorf("the instruction before %#x (%s) ends at %#x", pc, strings.TrimSpace(text), at)
				}
				text, size := disasm.Decode(m, code[pc-section.Addr:], pc, nil)
				at = pc + uint64(size)
				compared++
				if strings.HasPrefix(text, ".byte") {
					unknown, at = unknown+1, 0
				}
			}
			if compared < 1000 || unknown > compared/1000 {
				t.Errorf("%d instructions, %d unknown", compared, unknown)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for i := range machines {
		f.Add(uint8(i), []byte("\xf3\x0f\x1e\xfa\x53\xc5\xf8\x77\x0f\x00\x00\x00"))
	}
	f.Fuzz(func(t *testing.T, which uint8, code []byte) {
		m := machines[int(which)%len(machines)]
		text, size := disasm.Decode(m, code, 0x1000, nil)
		if len(code) == 0 {
			return
		}
		if text == "" || size < 1 || size > len(code) {
			t.Errorf("%s % x: %q of %d bytes", m.Name, code, text, size)
		}
	})
}
