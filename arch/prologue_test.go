// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch_test

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
)

// The instructions that change sp and set x29 in arm64's libc are the same as in objdump's text.
func TestARM64PrologueAgreesWithObjdump(t *testing.T) {
	const tool, file = "aarch64-linux-gnu-objdump", "/usr/aarch64-linux-gnu/lib/libc.so.6"
	if _, err := exec.LookPath(tool); err != nil {
		t.Skip("skipped: " + tool + " is not installed")
	}
	out, err := exec.Command(tool, "-d", "-j.text", file).Output()
	if err != nil {
		t.Skip("skipped: " + file + " is not installed")
	}
	m := arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	// sp as the destination, and as a base that is written back.
	changes := regexp.MustCompile(`^(mov|add|sub|and|orr|eor) sp,|\[sp, #-?[0-9]+\]!|\[sp\], `)
	sets := regexp.MustCompile(`^(mov x29, sp|add x29, sp, #0x([0-9a-f]+))`)
	returns := regexp.MustCompile(`^ret(aa|ab)?$`)
	counts := [3]int{}
	for line := range strings.Lines(string(out)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(fields) < 3 {
			continue
		}
		op, err := strconv.ParseUint(strings.TrimSpace(fields[1]), 16, 32)
		if err != nil {
			continue
		}
		code := []byte{byte(op), byte(op >> 8), byte(op >> 16), byte(op >> 24)}
		text := strings.Join(strings.Fields(fields[2]), " ")
		offset, set := m.SetsFramePointer(code)
		for i, pair := range [...][2]bool{{changes.MatchString(text), !m.KeepsStackPointer(code)}, {sets.MatchString(text), set}, {returns.MatchString(text), m.Returns(code)}} {
			if pair[0] {
				counts[i]++
			}
			if pair[0] != pair[1] {
				t.Errorf("%s: %q: %v", strings.TrimSpace(fields[0]), text, pair[1])
			}
		}
		if set {
			want := int64(0)
			if imm := sets.FindStringSubmatch(text); imm != nil && imm[2] != "" {
				want, _ = strconv.ParseInt(imm[2], 16, 64)
			}
			if offset != want {
				t.Errorf("%q: offset %d", text, offset)
			}
		}
	}
	if counts[0] < 1000 || counts[1] < 1000 || counts[2] < 1000 {
		t.Errorf("%d changes of sp, %d frame pointers, %d returns", counts[0], counts[1], counts[2])
	}
}

func TestPrologue(t *testing.T) {
	x86 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	i386 := arch.Lookup(elf.EM_386, elf.ELFCLASS32, elf.ELFDATA2LSB)
	arm64 := arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	riscv := arch.Lookup(elf.EM_RISCV, elf.ELFCLASS64, elf.ELFDATA2LSB)
	loong := arch.Lookup(elf.EM_LOONGARCH, elf.ELFCLASS64, elf.ELFDATA2LSB)
	for _, test := range []struct {
		m    *arch.Machine
		what string
		code string
		want string
	}{
		{x86, "sets", "4889e5", "0 true"},
		{x86, "sets", "89e5", "0 false"},
		{i386, "sets", "89e5", "0 true"},
		{i386, "sets", "8bec", "0 true"},
		{riscv, "sets", "13040102", "32 true"}, // addi s0, sp, 32
		{riscv, "sets", "0010", "32 true"},     // c.addi4spn s0, sp, 32
		{riscv, "sets", "0410", "32 false"},    // c.addi4spn s1, sp, 32
		{loong, "sets", "7640c002", "16 true"}, // addi.d fp, sp, 16
		{x86, "entry 0", "f30f1efa55", "0 true"},
		{x86, "entry 4", "f30f1efa55", "0 true"},
		{x86, "entry 5", "f30f1efa55", "8 true"},
		{i386, "entry 1", "5589e5", "4 true"},
		{x86, "entry 3", "5589e5", "0 false"},
		{arm64, "entry 0", "", "0 true"},
		{x86, "returns", "c3", "true"},
		{x86, "returns", "f3c3", "true"},
		{x86, "returns", "90", "false"},
		{x86, "slot", "f30f1efaf2ff25f5000000", "0x1100 true"},
		{x86, "slot", "ff25fa000000", "0x1100 true"},
		{arm64, "slot", "1000009011c640f9", "0x1188 true"}, // adrp x16, 0x1000; ldr x17, [x16, #392]
		{x86, "jump", "f30f1efae9f7000000", "0x1100 true"},
		{x86, "jump", "ebfe", "0x1000 true"},
		{riscv, "slot", "171e0000 033e8e18 67030e00 13000000", "0x2188 true"}, // auipc t3, 1; ld t3, 392(t3)
		{loong, "slot", "2f00001c ef21c628 ed01004c 00004003", "0x2188 true"}, // pcaddu12i t3, 1; ld.d t3, t3, 392
		{loong, "slot", "2f00001c ee21c628", "0x0 false"},                     // to t2
		{loong, "jump", "00000150", "0x1100 true"},                            // b
		{loong, "jump", "00000154", "0x0 false"},                              // bl
		{loong, "returns", "2000004c", "true"},
		{loong, "returns", "2100004c", "false"},                // jirl ra, ra, 0
		{loong, "keeps", "76c0ff29 76808028 63c0ff29", "true"}, // st.d fp, sp, -16; ld.w fp, sp, 32; st.d sp, sp, -16
		{loong, "keeps", "63c0ff02", "false"},                  // addi.d sp, sp, -16
		{arm64, "jump", "40000014", "0x1100 true"},
		{arm64, "jump", "40000094", "0x0 false"}, // bl
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(test.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		switch what, at, _ := strings.Cut(test.what, " "); what {
		case "sets":
			offset, ok := test.m.SetsFramePointer(code)
			got = fmt.Sprint(offset, ok)
		case "entry":
			n, _ := strconv.ParseUint(at, 10, 64)
			depth, ok := test.m.AtEntry(code, n)
			got = fmt.Sprint(depth, ok)
		case "keeps":
			got = fmt.Sprint(test.m.KeepsStackPointer(code))
		case "returns":
			got = fmt.Sprint(test.m.Returns(code))
		case "slot":
			stub, ok := test.m.Stub(code, 0x1000)
			got = fmt.Sprintf("%#x %v", stub.Slot, ok)
		case "jump":
			target, ok := test.m.JumpTarget(code, 0x1000)
			got = fmt.Sprintf("%#x %v", target, ok)
		}
		if got != test.want && !(strings.HasSuffix(got, "false") && strings.HasSuffix(test.want, "false")) {
			t.Errorf("%s: %s of %s: %s, want %s", test.m.Name, test.what, test.code, got, test.want)
		}
	}
}

// No code makes a decoder panic.
func FuzzCode(f *testing.F) {
	f.Add([]byte{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x14, 0x25, 0xe8}, uint64(0x1001))
	f.Fuzz(func(t *testing.T, code []byte, pc uint64) {
		for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_386, elf.EM_AARCH64, elf.EM_ARM, elf.EM_RISCV, elf.EM_PPC, elf.EM_PPC64, elf.EM_S390, elf.EM_LOONGARCH, elf.EM_MIPS, elf.EM_68K} {
			for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
				m := arch.Lookup(machine, class, elf.ELFDATA2LSB)
				if m == nil {
					continue
				}
				if _, ok := m.CallBefore(code, pc); ok && !m.KnowsCalls() {
					t.Errorf("%s: a call", m.Name)
				}
				m.SetsFramePointer(code)
				m.KeepsStackPointer(code)
				m.Returns(code)
				m.AtEntry(code, pc)
				m.Stub(code, pc)
				m.StubAround(code, pc, pc%32)
				m.JumpTarget(code, pc)
			}
		}
	})
}
