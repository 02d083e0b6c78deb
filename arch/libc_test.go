// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

var crossRoot = flag.String("cross-root", "/", "directory below which Debian's libc6-*-cross packages lie")

// crossLibraries are C libraries gcc built for the machines of the table.
var crossLibraries = []struct{ machine, pkg, path string }{
	{"arm64", "libc6-arm64-cross", "usr/aarch64-linux-gnu/lib/libc.so.6"},
	{"i386", "libc6-i386-cross", "usr/i686-linux-gnu/lib/libc.so.6"},
	{"x32", "libc6-x32-cross", "usr/x86_64-linux-gnux32/lib/libc.so.6"},
	{"riscv64", "libc6-riscv64-cross", "usr/riscv64-linux-gnu/lib/libc.so.6"},
	{"ppc64", "libc6-ppc64-cross", "usr/powerpc64-linux-gnu/lib/libc.so.6"},
	{"ppc64le", "libc6-ppc64el-cross", "usr/powerpc64le-linux-gnu/lib/libc.so.6"},
	{"ppc", "libc6-powerpc-cross", "usr/powerpc-linux-gnu/lib/libc.so.6"},
	{"s390x", "libc6-s390x-cross", "usr/s390x-linux-gnu/lib/libc.so.6"},
	{"s390", "libc6-s390-s390x-cross", "usr/s390x-linux-gnu/lib32/libc.so.6"},
	{"mips", "libc6-mips-cross", "usr/mips-linux-gnu/lib/libc.so.6"},
	{"mips64", "libc6-mips64-cross", "usr/mips64-linux-gnuabi64/lib/libc.so.6"},
	{"mips64le", "libc6-mips64el-cross", "usr/mips64el-linux-gnuabi64/lib/libc.so.6"},
	{"mipsn32le", "libc6-mipsn32-mips64el-cross", "usr/mips64el-linux-gnuabi64/lib32/libc.so.6"},
	{"sparc64", "libc6-sparc64-cross", "usr/sparc64-linux-gnu/lib/libc.so.6"},
	{"sparc32plus", "libc6-sparc-sparc64-cross", "usr/sparc64-linux-gnu/lib32/libc.so.6"},
	{"hppa", "libc6-hppa-cross", "usr/hppa-linux-gnu/lib/libc.so.6"},
	{"m68k", "libc6-m68k-cross", "usr/m68k-linux-gnu/lib/libc.so.6"},
	{"sh4", "libc6-sh4-cross", "usr/sh4-linux-gnu/lib/libc.so.6"},
	{"alpha", "libc6.1-alpha-cross", "usr/alpha-linux-gnu/lib/libc.so.6.1"},
}

// The header chooses the machine, and the first CIE has its alignment factors
// and return-address column, and starts from CFA = stack pointer + CFAOffset
// (plus what a call pushes).
func TestCrossLibraries(t *testing.T) {
	for _, test := range crossLibraries {
		t.Run(test.machine, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(*crossRoot, test.path))
			if err != nil {
				t.Skipf("skipped: %s is not installed", test.pkg)
			}
			checkFirstCIE(t, test.machine, data)
		})
	}
}

// The functions of a C library save callee-saved registers and the return address. A few
// functions save more: those that restore all registers or that are written in assembly.
func TestCrossLibrariesSave(t *testing.T) {
	if _, err := exec.LookPath("readelf"); err != nil {
		t.Skip("skipped: readelf is not installed")
	}
	saves := regexp.MustCompile(`(?m)^  DW_CFA_offset(?:_extended|_extended_sf)?: r(\d+)`)
	const few = 20
	for _, test := range crossLibraries {
		t.Run(test.machine, func(t *testing.T) {
			path := filepath.Join(*crossRoot, test.path)
			if _, err := os.Stat(path); err != nil {
				t.Skipf("skipped: %s is not installed", test.pkg)
			}
			out, _ := exec.Command("readelf", "-wf", path).Output()
			count := map[uint64]int{}
			for _, match := range saves.FindAllSubmatch(out, -1) {
				c, err := strconv.ParseUint(string(match[1]), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				count[c]++
			}
			m := machine(t, test.machine)
			if m.ELF != elf.EM_SPARCV9 && m.ELF != elf.EM_SPARC32PLUS && len(count) == 0 {
				t.Fatal("no function saves a register")
			}
			for c, n := range count {
				if n < few || m.CalleeSaved(c) || c == uint64(m.ReturnAddress) {
					continue
				}
				if m.Name == "hppa" && c == 19 {
					continue // callers keep the pointer to their linkage table there
				}
				t.Errorf("%d functions save column %d (%s)", n, c, m.RegisterName(c))
			}
		})
	}
}

func TestAssembledARM(t *testing.T) {
	const assembler = "arm-linux-gnueabihf-as" // Debian's armhf libc has no CIE
	if _, err := exec.LookPath(assembler); err != nil {
		t.Skip("skipped: " + assembler + " is not installed")
	}
	object := filepath.Join(t.TempDir(), "a.o")
	cmd := exec.Command(assembler, "-o", object, "-")
	cmd.Stdin = bytes.NewBufferString(".cfi_startproc\nnop\n.cfi_endproc\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	checkFirstCIE(t, "arm", data)
}

func checkFirstCIE(t *testing.T, name string, data []byte) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	flagsAt := 36 // e_flags of an ELF32 header
	if f.Class == elf.ELFCLASS64 {
		flagsAt = 48
	}
	m := LookupFlags(f.Machine, f.Class, f.Data, f.ByteOrder.Uint32(data[flagsAt:]))
	if m.Name != name {
		t.Fatalf("the header chooses %s", m.Name)
	}
	s := f.Section(".eh_frame")
	if s == nil {
		t.Fatal("no .eh_frame")
	}
	frame, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	// LSB 5.0 §10.6.1.1.1: length, id, version, "zR\0", the factors, the column, augmentation data.
	if len(frame) < 20 || f.ByteOrder.Uint32(frame[4:]) != 0 || string(frame[9:12]) != "zR\x00" {
		t.Fatalf(".eh_frame does not start with a CIE \"zR\": % x", frame[:min(len(frame), 20)])
	}
	rest := frame[12:]
	code, n := binary.Uvarint(rest)
	rest = rest[n:]
	if rest[0]&0x80 != 0 {
		t.Fatal("a data alignment factor of more than one byte")
	}
	factor := int64(int8(rest[0]<<1) >> 1) // SLEB128 of one byte
	column := rest[1]                      // a byte or a ULEB128 below 128
	if code != m.CodeAlign || factor != m.DataAlign || int(column) != m.ReturnAddress {
		t.Errorf("cf=%d df=%d ra=%d; the table has %d %d %d",
			code, factor, column, m.CodeAlign, m.DataAlign, m.ReturnAddress)
	}
	program := rest[4:] // augmentation length 1, pointer encoding
	register, n := binary.Uvarint(program[1:])
	offset := int64(0)
	switch program[0] {
	case 0x0c: // DW_CFA_def_cfa
		v, _ := binary.Uvarint(program[1+n:])
		offset = int64(v)
	case 0x0d: // DW_CFA_def_cfa_register
	default:
		t.Fatalf("the CIE starts with instruction %#x", program[0])
	}
	pushed := int64(0)
	switch m.ELF {
	case elf.EM_386, elf.EM_X86_64, elf.EM_68K:
		pushed = -m.DataAlign // the return address
	}
	if int(register) != m.StackPointer || offset != m.CFAOffset+pushed {
		t.Errorf("CFA=r%d+%d; the table has r%d+%d", register, offset, m.StackPointer, m.CFAOffset+pushed)
	}
}
