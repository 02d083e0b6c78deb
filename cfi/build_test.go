// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

var (
	x86   = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	i386  = arch.Lookup(elf.EM_386, elf.ELFCLASS32, elf.ELFDATA2LSB)
	arm64 = arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	s390x = arch.Lookup(elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB)
	sparc = arch.Lookup(elf.EM_SPARCV9, elf.ELFCLASS64, elf.ELFDATA2MSB)
	mips  = arch.Lookup(elf.EM_MIPS, elf.ELFCLASS32, elf.ELFDATA2MSB)
)

// unhex decodes hexadecimal digits and ignores spaces and line ends.
func unhex(tb testing.TB, digits string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// number encodes an unsigned number of 2, 4 or 8 bytes in a machine's byte order.
func number(m *arch.Machine, size int, v uint64) []byte {
	b := make([]byte, size)
	switch size {
	case 2:
		m.Order.PutUint16(b, uint16(v))
	case 4:
		m.Order.PutUint32(b, uint32(v))
	case 8:
		m.Order.PutUint64(b, v)
	}
	return b
}

// word encodes a number in a machine's byte order and width.
func word(m *arch.Machine, v uint64) []byte { return number(m, m.AddressSize, v) }

// entry returns a body preceded by its length.
func entry(m *arch.Machine, body ...[]byte) []byte {
	b := slices.Concat(body...)
	return append(number(m, 4, uint64(len(b))), b...)
}

// function is the start address of an FDE in tests.
const function, functionEnd = 0x10000, 0x10100

// program returns an .eh_frame with one CIE and one FDE with absolute addresses and the
// given instructions. Its factors are 4 and -8, its return address column is 16.
func program(tb testing.TB, m *arch.Machine, cie, fde string) *cfi.Section {
	tb.Helper()
	first := entry(m, unhex(tb, "00000000 01 00 04 78 10"), unhex(tb, cie))
	second := entry(m, number(m, 4, uint64(len(first)+4)),
		word(m, function), word(m, functionEnd-function), unhex(tb, fde))
	return &cfi.Section{Name: ".eh_frame", Data: slices.Concat(first, second), Address: 0x400000, Machine: m}
}

// onlyFDE returns the only FDE of a section.
func onlyFDE(tb testing.TB, s *cfi.Section) *cfi.FDE {
	tb.Helper()
	var found *cfi.FDE
	for e, err := range s.Entries() {
		if err != nil {
			tb.Fatal(err)
		}
		if e.FDE != nil {
			f := *e.FDE
			found = &f
		}
	}
	if found == nil {
		tb.Fatal("no FDE")
	}
	return found
}

// rows returns the rows of an FDE as text, and the error that ended them early.
func rows(f *cfi.FDE) ([]string, error) {
	var x cfi.Interpreter
	var out []string
	for row := range x.Rows(f) {
		out = append(out, rowText(row))
	}
	return out, x.Err()
}

// rowText formats a row: "10000-10004 cfa=r7+8 r16=[cfa-8]".
func rowText(row *cfi.Row) string {
	b := fmt.Sprintf("%x-%x", row.Start, row.End)
	switch row.CFA.Kind {
	case cfi.Register:
		b += fmt.Sprintf(" cfa=r%d%+d", row.CFA.Register, row.CFA.Offset)
	case cfi.ValExpression:
		b += fmt.Sprintf(" cfa=(%x)", row.Expression(row.CFA))
	default:
		b += " cfa=" + row.CFA.Kind.String()
	}
	for _, r := range row.Registers {
		b += fmt.Sprintf(" r%d=", r.Column)
		switch r.Kind {
		case cfi.Offset:
			b += fmt.Sprintf("[cfa%+d]", r.Offset)
		case cfi.ValOffset:
			b += fmt.Sprintf("cfa%+d", r.Offset)
		case cfi.Register:
			b += fmt.Sprintf("r%d", r.Rule.Register)
		case cfi.Expression:
			b += fmt.Sprintf("[%x]", row.Expression(r.Rule))
		case cfi.ValExpression:
			b += fmt.Sprintf("(%x)", row.Expression(r.Rule))
		default:
			b += r.Kind.String()
		}
	}
	if row.ArgumentsSize != 0 {
		b += fmt.Sprintf(" args=%d", row.ArgumentsSize)
	}
	if row.Signed {
		b += " signed"
	}
	return b
}

// memory is a piece of memory at an address.
type memory struct {
	address uint64
	bytes   []byte
}

func (m memory) ReadMemory(p []byte, addr uint64) error {
	if off := addr - m.address; addr < m.address || off > uint64(len(m.bytes)) || uint64(len(p)) > uint64(len(m.bytes))-off {
		return fmt.Errorf("nothing at %#x", addr)
	}
	copy(p, m.bytes[addr-m.address:])
	return nil
}

func little(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
