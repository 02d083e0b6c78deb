// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/clewdev/clew/cfi"
)

// frameSource uses no instruction, so that every machine's assembler takes it.
const frameSource = `
	.cfi_sections .eh_frame, .debug_frame
	.text
	.globl	outer
	.type	outer, %function
outer:
	.cfi_startproc
	.skip	8
	.cfi_def_cfa_offset 32
	.skip	400
	.cfi_offset 1, -8
	.skip	60000
	.cfi_def_cfa_offset 0
	.skip	4
	.cfi_endproc
	.size	outer, .-outer
	.section .text.second,"ax",%progbits
	.skip	12
second:
	.cfi_startproc
	.cfi_personality 0x0, personality
	.cfi_lsda 0x0, second
	.skip	24
	.cfi_def_cfa_offset 16
	.skip	8
	.cfi_endproc
`

// hexDump returns the bytes of a section as readelf dumps them, relocated.
func hexDump(t *testing.T, file, section string) []byte {
	t.Helper()
	var b []byte
	for line := range strings.Lines(run(t, "readelf", "-R", section, file)) {
		field := strings.TrimSpace(line)
		if !strings.HasPrefix(field, "0x") || len(line) < 49 {
			continue
		}
		// "  0x00000000 10000000 00000000 017a5200 017c4101 .........zR..|A."
		_, digits, _ := strings.Cut(field, " ")
		digits = digits[:min(36, len(digits))]
		part, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		b = append(b, part...)
	}
	return b
}

func TestRelocationsAgreeWithReadelf(t *testing.T) {
	assemblers := []struct{ as, flags string }{
		{"x86_64-linux-gnu-as", "--64"}, {"x86_64-linux-gnu-as", "--32"}, {"x86_64-linux-gnu-as", "--x32"},
		{"aarch64-linux-gnu-as", ""}, {"arm-linux-gnueabihf-as", ""}, {"riscv64-linux-gnu-as", ""},
		{"riscv64-linux-gnu-as", "-march=rv32i -mabi=ilp32"},
		{"s390x-linux-gnu-as", ""}, {"s390x-linux-gnu-as", "-m31"}, {"powerpc64le-linux-gnu-as", ""}, {"powerpc64-linux-gnu-as", ""},
		{"powerpc-linux-gnu-as", ""}, {"mips-linux-gnu-as", ""}, {"mips64el-linux-gnuabi64-as", ""},
		{"mips64el-linux-gnuabi64-as", "-n32"}, {"sparc64-linux-gnu-as", ""}, {"sparc64-linux-gnu-as", "-32"},
		{"hppa-linux-gnu-as", ""}, {"m68k-linux-gnu-as", ""}, {"sh4-linux-gnu-as", ""},
	}
	for _, tt := range assemblers {
		t.Run(strings.TrimSuffix(tt.as+" "+tt.flags, " "), func(t *testing.T) {
			tool(t, tt.as)
			tool(t, "readelf")
			source := write(t, "frame.s", frameSource)
			args := append(strings.Fields(tt.flags), "-g", "-o", source+".o", source)
			if out, err := exec.Command(tt.as, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			f := open(t, source+".o")
			relocated := 0
			for _, s := range f.Sections() {
				if s.Name != ".eh_frame" && !strings.HasPrefix(s.Name, ".debug_") {
					continue
				}
				got, err := f.SectionData(s.Index)
				if err != nil {
					t.Error(err)
				}
				want := hexDump(t, source+".o", s.Name)
				if !bytes.Equal(got, want) {
					t.Errorf("%s:\n%swant\n%s", s.Name, hex.Dump(got), hex.Dump(want))
				}
				if _, ok := f.relocationsOf(s.Index); ok {
					relocated++
				}
			}
			if relocated < 2 {
				t.Errorf("%d sections with relocations", relocated)
			}
			if f.Damage() != nil {
				t.Error(f.Damage())
			}
		})
	}
}

// TestRelocationSET32 has an advance of more than 16 bits: readelf 2.40 does not know
// R_RISCV_SET32 and subtracts the start of the difference twice.
func TestRelocationSET32(t *testing.T) {
	tool(t, "riscv64-linux-gnu-as")
	source := write(t, "frame.s", strings.ReplaceAll(frameSource, "60000", "70000"))
	run(t, "riscv64-linux-gnu-as", "-o", source+".o", source)
	f := open(t, source+".o")
	section, err := f.EHFrame()
	if err != nil {
		t.Fatal(err)
	}
	// DW_CFA_advance_loc4 70000; DW_CFA_def_cfa_offset 0
	if want := "\x04\x70\x11\x01\x00\x0e\x00"; !strings.Contains(string(section.Data), want) {
		t.Errorf("% x is not in\n% x", want, section.Data)
	}
}

// An entry with a relocation that cannot be applied is an error, because a linker would
// change its bytes. The other entries are read.
func TestUnappliedRelocations(t *testing.T) {
	tool(t, "x86_64-linux-gnu-as")
	const text = `	.text
f:	.cfi_startproc
	nop
	.cfi_endproc
g:	.cfi_startproc
	nop
	nop
	.cfi_endproc
`
	source := write(t, "two.s", text)
	run(t, "x86_64-linux-gnu-as", "--64", "-o", source+".o", source)
	whole, err := os.ReadFile(source + ".o")
	if err != nil {
		t.Fatal(err)
	}
	rela := -1
	for _, s := range open(t, source+".o").Sections() {
		if s.Name == ".rela.eh_frame" {
			rela = int(s.Offset)
		}
	}
	const entry = 24
	for _, tt := range []struct {
		name    string
		change  func(b []byte)
		entries []string // the error of each FDE, "" for none
		damage  string
	}{
		{"whole", func([]byte) {}, []string{"", ""}, ""},
		{"a type that is not of data", func(b []byte) { binary.LittleEndian.PutUint32(b[rela+entry+8:], 250) },
			[]string{"", ".eh_frame+0x34: relocation not applied"}, "type 250 of x86-64 is not one of data"},
		{"a symbol that is not there", func(b []byte) { binary.LittleEndian.PutUint32(b[rela+12:], 1000) },
			[]string{".eh_frame+0x20: relocation not applied", ""}, "symbol 1000 of "},
		{"a machine whose relocations are not known", func(b []byte) { b[18] = 83 },
			[]string{".eh_frame+0x20: relocation not applied", ".eh_frame+0x34: relocation not applied"}, "relocations of EM_AVR are not known"},
	} {
		b := bytes.Clone(whole)
		tt.change(b)
		f, err := NewFile(b, tt.name)
		if err != nil {
			t.Fatal(err)
		}
		section, err := f.EHFrame()
		if err != nil {
			t.Fatal(err)
		}
		n := -1
		for e, err := range section.Entries() {
			if n++; n == 0 {
				continue // the CIE
			}
			want := ""
			if n <= len(tt.entries) {
				want = tt.entries[n-1]
			}
			if (err == nil) != (want == "") || err != nil && (!errors.Is(err, cfi.ErrRelocation) || !strings.HasPrefix(err.Error(), want)) || (err == nil) != (e.FDE != nil) {
				t.Errorf("%s: entry %d: %+v, %v", tt.name, n, e, err)
			}
		}
		if n != 2 {
			t.Errorf("%s: %d entries", tt.name, n+1)
		}
		damage := f.Damage()
		if (damage == nil) != (tt.damage == "") || damage != nil && !strings.Contains(damage.Error(), tt.damage) {
			t.Errorf("%s: damage %v", tt.name, damage)
		}
		found, sound := 0, 0
		for range section.FDEs() {
			found++
		}
		for _, fault := range tt.entries {
			if fault == "" {
				sound++
			}
		}
		if found != sound {
			t.Errorf("%s: %d FDEs, expected %d", tt.name, found, sound)
		}
	}
}
