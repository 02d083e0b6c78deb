// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

var (
	x86   = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	x32   = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS32, elf.ELFDATA2LSB)
	i386  = arch.Lookup(elf.EM_386, elf.ELFCLASS32, elf.ELFDATA2LSB)
	arm64 = arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	arm   = arch.Lookup(elf.EM_ARM, elf.ELFCLASS32, elf.ELFDATA2LSB)
	riscv = arch.Lookup(elf.EM_RISCV, elf.ELFCLASS64, elf.ELFDATA2LSB)
	s390  = arch.Lookup(elf.EM_S390, elf.ELFCLASS32, elf.ELFDATA2MSB)
	s390x = arch.Lookup(elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB)
	ppc64 = arch.Lookup(elf.EM_PPC64, elf.ELFCLASS64, elf.ELFDATA2MSB)
	mips  = arch.Lookup(elf.EM_MIPS, elf.ELFCLASS32, elf.ELFDATA2MSB)
	n32   = arch.LookupFlags(elf.EM_MIPS, elf.ELFCLASS32, elf.ELFDATA2MSB, 0x20)
	hppa  = arch.Lookup(elf.EM_PARISC, elf.ELFCLASS32, elf.ELFDATA2MSB)
	loong = arch.Lookup(elf.EM_LOONGARCH, elf.ELFCLASS64, elf.ELFDATA2LSB)
	m68k  = arch.Lookup(elf.EM_68K, elf.ELFCLASS32, elf.ELFDATA2MSB)
	sparc = arch.Lookup(elf.EM_SPARCV9, elf.ELFCLASS64, elf.ELFDATA2MSB)
)

func unhex(tb testing.TB, digits string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// number is an unsigned number of 4 or 8 bytes in a machine's byte order.
func number(m *arch.Machine, size int, v uint64) []byte {
	b := make([]byte, size)
	if size == 4 {
		m.Order.PutUint32(b, uint32(v))
	} else {
		m.Order.PutUint64(b, v)
	}
	return b
}

func entry(m *arch.Machine, body ...[]byte) []byte {
	b := slices.Concat(body...)
	return append(number(m, 4, uint64(len(b))), b...)
}

// function is a function of a test: its range and its CFI instructions.
type function struct {
	start, end uint64
	program    string // hexadecimal
}

// build makes an .eh_frame. The CIE has the letters and instructions given, the
// code factor 1, the data factor -4 or -8 by the width of a register, and the
// machine's return address.
func build(tb testing.TB, m *arch.Machine, letters, cie string, functions ...function) *cfi.Section {
	tb.Helper()
	factor := byte(0x78)
	if m.RegisterSize == 4 {
		factor = 0x7c
	}
	// Version 3, as the column can be above 127; "z" with no data of any letter.
	data := entry(m, unhex(tb, "00000000 03 7a"), []byte(letters), []byte{0, 1, factor, byte(m.ReturnAddress), 0}, unhex(tb, cie))
	for _, f := range functions {
		data = append(data, entry(m, number(m, 4, uint64(len(data)+4)), number(m, m.AddressSize, f.start),
			number(m, m.AddressSize, f.end-f.start), []byte{0}, unhex(tb, f.program))...)
	}
	return &cfi.Section{Name: ".eh_frame", Data: data, Machine: m}
}

// memory holds a test's stack and code, by address.
type memory map[uint64][]byte

func (m memory) ReadMemory(p []byte, addr uint64) error {
	for at, b := range m {
		if addr >= at && addr-at <= uint64(len(b)) && uint64(len(p)) <= uint64(len(b))-(addr-at) {
			copy(p, b[addr-at:])
			return nil
		}
	}
	return fmt.Errorf("nothing at %#x", addr)
}

// words lays out numbers of a register's size.
func words(m *arch.Machine, values ...uint64) []byte {
	var b []byte
	for _, v := range values {
		b = append(b, number(m, m.RegisterSize, v)...)
	}
	return b
}

// registers returns Registers with a PC and columns.
func registers(pc uint64, columns map[uint64]uint64) *unwind.Registers {
	r := &unwind.Registers{PC: pc}
	for c, v := range columns {
		r.Set(c, v)
	}
	return r
}

// walk returns the frames as text, "1005 registers" or "2010 CFI trampoline", and the reason.
func walk(w *unwind.Walker, r *unwind.Registers) ([]string, unwind.Reason) {
	var out []string
	for f := range w.Walk(r) {
		line := fmt.Sprintf("%x %v", f.PC, f.Method)
		if f.Gap {
			line += ", gap"
		}
		if f.Trampoline {
			line += ", trampoline"
		}
		if f.Interrupted && len(out) > 0 {
			line += ", interrupted"
		}
		out = append(out, line)
	}
	return out, w.Reason()
}
