// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"
)

func machine(t testing.TB, name string) *Machine {
	for _, m := range all() {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no machine %s", name)
	return nil
}

func TestRegisterName(t *testing.T) {
	for _, test := range []struct {
		machine string
		column  uint64
		name    string
	}{
		{"x86-64", 0, "rax"}, {"x86-64", 1, "rdx"}, {"x86-64", 7, "rsp"}, {"x86-64", 15, "r15"},
		{"x86-64", 57, "r57"}, {"x86-64", 130, "r16"}, {"x86-64", 145, "r31"}, {"x86-64", 146, "r146"},
		{"i386", 4, "esp"}, {"i386", 10, "r10"}, {"i386", 100, "k7"},
		{"arm64", 31, "sp"}, {"arm64", 32, "pc"}, {"arm64", 34, "ra_sign_state"}, {"arm64", 72, "v8"},
		{"arm", 12, "r12"}, {"arm", 13, "sp"}, {"arm", 14, "lr"}, {"arm", 15, "pc"}, {"arm", 16, "r16"},
		{"arm", 80, "s16"}, {"arm", 264, "d8"}, {"arm", 287, "d31"}, {"arm", 288, "r288"},
		{"ppc64", 31, "r31"}, {"ppc64", 32, "f0"}, {"ppc64", 64, "r64"}, {"ppc64", 65, "lr"},
		{"ppc64", 70, "cr2"}, {"ppc64", 76, "xer"}, {"ppc64", 97, "v20"}, {"ppc64", 110, "vscr"},
		{"s390x", 11, "r11"}, {"s390x", 17, "f2"}, {"s390x", 65, "pswa"}, {"s390x", 83, "v31"},
		{"riscv64", 8, "s0"}, {"riscv64", 4097, "fflags"}, {"riscv64", 4102, "csr6"}, {"riscv64", 8192, "r8192"},
		{"loong64", 20, "t8"}, {"loong64", 21, "r21"}, {"loong64", 31, "s8"}, {"loong64", 56, "fs0"}, {"loong64", 63, "fs7"},
		{"mips", 8, "t0"}, {"mips", 12, "t4"}, {"mips64", 8, "a4"}, {"mips64", 12, "t0"}, {"mipsn32", 12, "t0"},
		{"mips", 24, "t8"}, {"mips", 28, "gp"}, {"mips", 63, "f31"}, {"mips", 64, "hi"}, {"mips", 66, "r66"},
		{"sparc64", 1, "g1"}, {"sparc64", 13, "o5"}, {"sparc64", 16, "l0"}, {"sparc64", 31, "i7"}, {"sparc64", 63, "f31"},
		{"hppa", 19, "r19"}, {"m68k", 8, "a0"}, {"sh4", 40, "fr15"}, {"alpha", 9, "s0"}, {"alpha", 27, "t12"}, {"alpha", 63, "f31"},
	} {
		m := machine(t, test.machine)
		if got := m.RegisterName(test.column); got != test.name {
			t.Errorf("%s: RegisterName(%d) = %q, want %q", test.machine, test.column, got, test.name)
		}
		if got := string(m.AppendRegisterName([]byte("% "), test.column)); got != "% "+test.name {
			t.Errorf("%s: AppendRegisterName(%d) = %q, want %q", test.machine, test.column, got, "% "+test.name)
		}
	}
}

// A name leads back to its column, so no two columns share one.
func TestColumnOfEveryName(t *testing.T) {
	columns := []uint64{1 << 31, 1 << 32, 1<<64 - 1}
	for c := range uint64(8300) {
		if c < 400 || c > 4000 {
			columns = append(columns, c)
		}
	}
	for _, name := range []string{"x86-64", "x32", "l1om", "i386", "iamcu", "arm64", "arm", "riscv64", "ppc64", "ppc",
		"s390x", "loong64", "mips", "mips64", "mipsn32", "sparc64", "sparc", "hppa", "m68k", "sh4", "alpha"} {
		m := machine(t, name)
		for _, c := range columns {
			if !m.csr && c > 400 && c < 8000 {
				continue
			}
			register := m.RegisterName(c)
			if got, ok := m.Column(register); !ok || got != c {
				t.Fatalf("%s: Column(%q) = %d, %v; want %d", name, register, got, ok, c)
			}
		}
		for _, a := range m.aliases {
			if got, ok := m.Column(a.name); !ok || got != a.column {
				t.Errorf("%s: Column(%q) = %d, %v; want %d", name, a.name, got, ok, a.column)
			}
		}
	}
}

func TestColumn(t *testing.T) {
	for _, test := range []struct {
		machine string
		name    string
		column  int // -1: no such register
	}{
		{"x86-64", "sp", 7}, {"x86-64", "fp", 6}, {"x86-64", "ra", 16}, {"x86-64", "pc", 16}, {"x86-64", "r8", 8},
		{"x86-64", "r7", -1}, {"x86-64", "r57", 57}, {"x86-64", "r057", -1}, {"x86-64", "r+57", -1}, {"x86-64", "r", -1},
		{"x86-64", "", -1}, {"x86-64", "%rax", -1}, {"x86-64", "RAX", -1}, {"x86-64", "r99999999999999999999", -1},
		{"i386", "sp", 4}, {"arm64", "lr", 30}, {"arm64", "fp", 29}, {"arm64", "d8", 72}, {"arm64", "x31", -1},
		{"arm", "r13", 13}, {"arm", "fp", 11}, {"arm", "ip", 12}, {"riscv64", "fp", 8}, {"riscv64", "x2", 2},
		{"riscv64", "f8", 40}, {"riscv64", "csr6", 4102}, {"riscv64", "csr1", -1}, {"riscv64", "csr06", -1},
		{"riscv64", "csr4096", -1}, {"riscv64", "mstatus", 4864}, {"x86-64", "mstatus", -1},
		{"ppc64", "sp", 1}, {"ppc64", "fp", -1}, {"ppc64", "vr20", 97}, {"ppc64", "ra", 65},
		{"s390x", "sp", 15}, {"s390x", "r14", 14}, {"loong64", "r3", 3}, {"mips", "s8", 30},
		{"sparc64", "o6", 14}, {"sparc64", "i6", 30}, {"hppa", "r30", 30}, {"m68k", "a7", 15},
	} {
		got, ok := machine(t, test.machine).Column(test.name)
		if ok != (test.column >= 0) || ok && got != uint64(test.column) {
			t.Errorf("%s: Column(%q) = %d, %v; want %d", test.machine, test.name, got, ok, test.column)
		}
	}
}

func TestCalleeSaved(t *testing.T) {
	for name, want := range map[string]string{
		"x86-64":  "rbx rbp rsp r12 r13 r14 r15",
		"x32":     "rbx rbp rsp r12 r13 r14 r15",
		"i386":    "ebx esp ebp esi edi",
		"arm64":   "x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 sp v8 v9 v10 v11 v12 v13 v14 v15",
		"arm":     "r4 r5 r6 r7 r8 r9 r10 r11 sp s16 s17 s18 s19 s20 s21 s22 s23 s24 s25 s26 s27 s28 s29 s30 s31 d8 d9 d10 d11 d12 d13 d14 d15",
		"riscv64": "sp gp tp s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 fs0 fs1 fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 fs11",
		"ppc64": "r1 r13 r14 r15 r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31 " +
			"f14 f15 f16 f17 f18 f19 f20 f21 f22 f23 f24 f25 f26 f27 f28 f29 f30 f31 cr2 cr3 cr4 " +
			"v20 v21 v22 v23 v24 v25 v26 v27 v28 v29 v30 v31",
		"s390x":   "r6 r7 r8 r9 r10 r11 r12 r13 r15 f8 f10 f12 f14 f9 f11 f13 f15 a0 a1",
		"s390":    "r6 r7 r8 r9 r10 r11 r12 r13 r15 f4 f6 a0",
		"loong64": "tp sp r21 fp s0 s1 s2 s3 s4 s5 s6 s7 s8 fs0 fs1 fs2 fs3 fs4 fs5 fs6 fs7",
		"mips64":  "s0 s1 s2 s3 s4 s5 s6 s7 gp sp fp f24 f25 f26 f27 f28 f29 f30 f31",
		"mips":    "s0 s1 s2 s3 s4 s5 s6 s7 sp fp f20 f21 f22 f23 f24 f25 f26 f27 f28 f29 f30 f31",
		"mipsn32": "s0 s1 s2 s3 s4 s5 s6 s7 gp sp fp f20 f22 f24 f26 f28 f30",
		"sparc64": "g6 g7 sp l0 l1 l2 l3 l4 l5 l6 l7 i0 i1 i2 i3 i4 i5 fp i7",
		"hppa": "r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 r16 r17 r18 dp sp " +
			"r48 r49 r50 r51 r52 r53 r54 r55 r56 r57 r58 r59 r60 r61 r62 r63 r64 r65 r66 r67",
		"m68k":  "d2 d3 d4 d5 d6 d7 a2 a3 a4 a5 fp sp fp2 fp3 fp4 fp5 fp6 fp7",
		"sh4":   "r8 r9 r10 r11 r12 r13 r14 r15 fr12 fr13 fr14 fr15",
		"alpha": "s0 s1 s2 s3 s4 s5 fp sp f2 f3 f4 f5 f6 f7 f8 f9",
	} {
		m := machine(t, name)
		var got []string
		for c := range uint64(1000) {
			if m.CalleeSaved(c) {
				got = append(got, m.RegisterName(c))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s preserves %s\nwant %s", name, s, want)
		}
		if m.CalleeSaved(1<<64 - 1) {
			t.Errorf("%s preserves column 2^64-1", name)
		}
	}
}

// Every machine's stack pointer survives a call, and no return address register does (x86 and
// m68k have none).
func TestSpecialColumnsAndCalleeSaved(t *testing.T) {
	for name, m := range all() {
		if m.StackPointer < 0 {
			continue
		}
		if !m.CalleeSaved(uint64(m.StackPointer)) {
			t.Errorf("%s: the stack pointer is not preserved", name)
		}
		if m.FramePointer >= 0 && !m.CalleeSaved(uint64(m.FramePointer)) {
			t.Errorf("%s: the frame pointer is not preserved", name)
		}
		if m.CalleeSaved(uint64(m.ReturnAddress)) {
			t.Errorf("%s: the return address is preserved", name)
		}
	}
}

func TestCFAOffset(t *testing.T) {
	want := map[string]int64{"s390x": 160, "s390": 96, "sparc64": 2047}
	for name, m := range all() {
		family := strings.TrimSuffix(strings.TrimSuffix(m.Name, "le"), "be")
		if m.CFAOffset != want[family] {
			t.Errorf("%s: CFA offset %d, want %d", name, m.CFAOffset, want[family])
		}
	}
}

// The program counter's column is the one with its name, or there
// is none.
func TestProgramCounter(t *testing.T) {
	for name, m := range all() {
		want := -1
		for _, pc := range []string{"rip", "eip", "pc"} {
			if c := slices.Index(m.names, pc); c >= 0 {
				want = c
			}
		}
		if m.ProgramCounter != want {
			t.Errorf("%s: program counter in column %d, want %d", name, m.ProgramCounter, want)
		}
	}
	if m := Lookup(elf.EM_AVR, c32, lsb); m.ProgramCounter != -1 {
		t.Errorf("an unknown machine's program counter is column %d", m.ProgramCounter)
	}
}

func TestNamesDoNotAllocate(t *testing.T) {
	m := machine(t, "riscv64")
	csrNames()
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		for _, c := range []uint64{1, 2, 8, 63, 96, 4864} {
			if m.RegisterName(c) == "" {
				t.Fatal("no name")
			}
		}
		for _, c := range []uint64{1, 64, 4096, 4102, 1 << 40} {
			buf = m.AppendRegisterName(buf[:0], c)
			buf = m.AppendReadelfName(buf[:0], c)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The table is shared: what one caller does with a name's bytes must not be
// seen by another.
func TestAppendDoesNotAlias(t *testing.T) {
	m := Lookup(elf.EM_X86_64, c64, lsb)
	copy(m.AppendRegisterName(nil, 7), "XXX")
	if got := m.RegisterName(7); got != "rsp" {
		t.Errorf("column 7 is now %q", got)
	}
	if !slices.Contains(m.names, "rsp") {
		t.Error("the table changed")
	}
}

func BenchmarkAppendRegisterName(b *testing.B) {
	m := Lookup(elf.EM_X86_64, c64, lsb)
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	for i := uint64(0); b.Loop(); i++ {
		buf = m.AppendRegisterName(buf[:0], i&31)
	}
}

func BenchmarkCalleeSaved(b *testing.B) {
	m := Lookup(elf.EM_X86_64, c64, lsb)
	b.ReportAllocs()
	n := 0
	for i := uint64(0); b.Loop(); i++ {
		if m.CalleeSaved(i & 31) {
			n++
		}
	}
}
