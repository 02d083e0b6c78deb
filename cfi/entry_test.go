// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// entries returns the entries of a section as text, one a line.
func entries(s *cfi.Section) []string {
	var out []string
	for e, err := range s.Entries() {
		line := fmt.Sprintf("%#x+%#x ", e.Offset, e.Size)
		switch {
		case err != nil:
			line += "error: " + err.Error()
		case e.Terminator():
			line += "terminator"
		case e.CIE != nil:
			c := e.CIE
			line += fmt.Sprintf("CIE v%d %q code %d data %d ra %d", c.Version, c.Augmentation, c.CodeAlign, c.DataAlign, c.ReturnAddress)
		case e.FDE != nil:
			f := e.FDE
			line += fmt.Sprintf("FDE of %#x [%#x,%#x)", f.CIE.Offset, f.Start, f.End)
			if f.LSDA != (cfi.Pointer{}) {
				line += fmt.Sprintf(" lsda %#x %v", f.LSDA.Address, f.LSDA.Indirect)
			}
			if f.Segment != 0 {
				line += fmt.Sprintf(" segment %#x", f.Segment)
			}
			line += fmt.Sprintf(" % x", f.Instructions)
		default:
			line += "nothing"
		}
		out = append(out, line)
	}
	return out
}

var sparc32 = arch.Lookup(elf.EM_SPARC, elf.ELFCLASS32, elf.ELFDATA2MSB)

// entrySections are sections, and what entries prints for each.
var entrySections = []struct {
	name    string
	machine *arch.Machine
	kind    cfi.Kind
	data    string
	want    string
}{
	{"zR, the usual", x86, cfi.EHFrame,
		`14000000 00000000 01 7a5200 01 78 10 01 1b 0c0708 9001 0000
		 14000000 1c000000 e0ffffff 08000000 00 440e10 00000000`,
		`0x0+0x18 CIE v1 "zR" code 1 data -8 ra 16
		 0x18+0x18 FDE of 0x0 [0x400000,0x400008) 44 0e 10 00 00 00 00`},
	{"the same, big-endian", s390x, cfi.EHFrame,
		`00000014 00000000 01 7a5200 01 78 0e 01 1b 0c0fa001 000000
		 00000014 0000001c ffffffe0 00000008 00 440e10 00000000`,
		`0x0+0x18 CIE v1 "zR" code 1 data -8 ra 14
		 0x18+0x18 FDE of 0x0 [0x400000,0x400008) 44 0e 10 00 00 00 00`},
	{"no augmentation", i386, cfi.EHFrame,
		`0c000000 00000000 01 00 01 7c 08 0c0404
		 0c000000 14000000 00100000 20000000`,
		`0x0+0x10 CIE v1 "" code 1 data -4 ra 8
		 0x10+0x10 FDE of 0x0 [0x1000,0x1020) `},
	{"debug_frame", x86, cfi.DebugFrame,
		`0c000000 ffffffff 01 00 01 78 10 0c0708
		 14000000 00000000 0010000000000000 2000000000000000`,
		`0x0+0x10 CIE v1 "" code 1 data -8 ra 16
		 0x10+0x18 FDE of 0x0 [0x1000,0x1020) `},
	{"debug_frame, big-endian, 32 bits", mips, cfi.DebugFrame,
		`0000000c ffffffff 01 00 01 7c 1f 0c1d00
		 0000000c 00000000 00001000 00000020`,
		`0x0+0x10 CIE v1 "" code 1 data -4 ra 31
		 0x10+0x10 FDE of 0x0 [0x1000,0x1020) `},
	{"version 3: the return address column is a ULEB128", x86, cfi.DebugFrame,
		`0c000000 ffffffff 03 00 01 78 9001 0000
		 14000000 00000000 0010000000000000 2000000000000000`,
		`0x0+0x10 CIE v3 "" code 1 data -8 ra 144
		 0x10+0x18 FDE of 0x0 [0x1000,0x1020) `},
	{"version 1: it is a byte", x86, cfi.DebugFrame, `0c000000 ffffffff 01 00 01 78 90 000000`,
		`0x0+0x10 CIE v1 "" code 1 data -8 ra 144`},
	{"version 4: address and segment sizes", x86, cfi.DebugFrame,
		`0e000000 ffffffff 04 00 08 00 01 78 10 0c0708
		 14000000 00000000 0010000000000000 2000000000000000`,
		`0x0+0x12 CIE v4 "" code 1 data -8 ra 16
		 0x12+0x18 FDE of 0x0 [0x1000,0x1020) `},
	{"version 4: a segment selector, and addresses of four bytes on a 64-bit machine", x86, cfi.DebugFrame,
		`0e000000 ffffffff 04 00 04 02 01 78 10 0c0708
		 0e000000 00000000 3412 00100000 20000000`,
		`0x0+0x12 CIE v4 "" code 1 data -8 ra 16
		 0x12+0x12 FDE of 0x0 [0x1000,0x1020) segment 0x1234 `},
	{"version 5", x86, cfi.DebugFrame, `0b000000 ffffffff 05 00 08 00 01 78 10`,
		`0x0+0xf CIE v5 "" code 1 data -8 ra 16`},
	{"DWARF64 debug_frame", x86, cfi.DebugFrame,
		`ffffffff 1000000000000000 ffffffffffffffff 03 00 01 78 10 0c0708
		 ffffffff 1800000000000000 0000000000000000 0010000000000000 2000000000000000`,
		`0x0+0x1c CIE v3 "" code 1 data -8 ra 16
		 0x1c+0x24 FDE of 0x0 [0x1000,0x1020) `},
	{"DWARF64 eh_frame: ids of four bytes", x86, cfi.EHFrame,
		`ffffffff 0c00000000000000 00000000 01 00 01 78 10 0c0708
		 ffffffff 1400000000000000 24000000 0010000000000000 2000000000000000`,
		`0x0+0x18 CIE v1 "" code 1 data -8 ra 16
		 0x18+0x20 FDE of 0x0 [0x1000,0x1020) `},
	{"a terminator in the middle", i386, cfi.EHFrame,
		`0c000000 00000000 01 00 01 7c 08 0c0404
		 00000000
		 0c000000 18000000 00100000 20000000
		 00000000`,
		`0x0+0x10 CIE v1 "" code 1 data -4 ra 8
		 0x10+0x4 terminator
		 0x14+0x10 FDE of 0x0 [0x1000,0x1020) 
		 0x24+0x4 terminator`},
	{"a CIE after its FDE", i386, cfi.EHFrame,
		`0c000000 f4ffffff 00100000 20000000
		 0c000000 00000000 01 00 01 7c 08 0c0404`,
		`0x0+0x10 FDE of 0x10 [0x1000,0x1020) 
		 0x10+0x10 CIE v1 "" code 1 data -4 ra 8`},
	{"a CIE after its FDE in debug_frame", mips, cfi.DebugFrame,
		`0000000c 00000010 00001000 00000020
		 0000000c ffffffff 01 00 01 7c 1f 0c1d00`,
		`0x0+0x10 FDE of 0x10 [0x1000,0x1020) 
		 0x10+0x10 CIE v1 "" code 1 data -4 ra 31`},
	{"eh", i386, cfi.EHFrame,
		`12000000 00000000 01 656800 78563412 01 7c 08 0c0404
		 0c000000 1a000000 00100000 20000000`,
		`0x0+0x16 CIE v1 "eh" code 1 data -4 ra 8
		 0x16+0x10 FDE of 0x0 [0x1000,0x1020) `},
	{"unknown letters after z", i386, cfi.EHFrame,
		`13000000 00000000 01 7a525100 01 7c 08 03 03 aabb 0c0404
		 0f000000 1b000000 00100000 20000000 02 ccdd`,
		`0x0+0x17 CIE v1 "zRQ" code 1 data -4 ra 8
		 0x17+0x13 FDE of 0x0 [0x1000,0x1020) `},
	{"unknown letters without z cost the entries that need them", i386, cfi.EHFrame,
		`0d000000 00000000 01 5100 01 7c 08 0c0404
		 0c000000 15000000 00100000 20000000
		 0c000000 00000000 01 00 01 7c 08 0c0404`,
		`0x0+0x11 error: .eh_frame+0xe: unknown augmentation: "Q", without a 'z' for its size
		 0x11+0x10 error: FDE at 0x11: .eh_frame+0xe: unknown augmentation: "Q", without a 'z' for its size
		 0x21+0x10 CIE v1 "" code 1 data -4 ra 8`},
	{"S without z", i386, cfi.EHFrame, `0d000000 00000000 01 5300 01 7c 08 0c0404`,
		`0x0+0x11 CIE v1 "S" code 1 data -4 ra 8`},
	{"SPARC, 32 bits", sparc32, cfi.EHFrame, `0000000c 00000000 01 00 04 7c 0f 0c0e00`,
		`0x0+0x10 CIE v1 "" code 4 data -4 ra 15`},

	{"nothing", x86, cfi.EHFrame, ``, ``},
	{"truncated length", x86, cfi.EHFrame, `0c0000`,
		`0x0+0x3 error: .eh_frame+0x0: truncated: 3 bytes are left, expected 4`},
	{"truncated DWARF64 length", x86, cfi.EHFrame, `ffffffff 0c00`,
		`0x0+0x6 error: .eh_frame+0x4: truncated: 2 bytes are left, expected 8`},
	{"a length of four bytes that is not a terminator", x86, cfi.EHFrame, `ffffffff`,
		`0x0+0x4 error: .eh_frame+0x4: truncated: 0 bytes are left, expected 8`},
	{"truncated entry", x86, cfi.EHFrame, `0c000000 00000000 01`,
		`0x0+0x9 error: .eh_frame+0x0: truncated: an entry of 0xc bytes, but 0x5 are left`},
	{"a huge DWARF64 length", x86, cfi.EHFrame, `ffffffff ffffffffffffffff 00000000 01`,
		`0x0+0x11 error: .eh_frame+0x0: truncated: an entry of 0xffffffffffffffff bytes, but 0x5 are left`},
	{"an entry too short for an id", x86, cfi.EHFrame, `02000000 0000 04000000 10000000`,
		`0x0+0x6 error: .eh_frame+0x4: truncated: 2 bytes are left, expected 4
		 0x6+0x8 error: .eh_frame+0xa: invalid FDE: CIE pointer leads to 0xfffffffffffffffa, expected a CIE in the section's 0xe bytes`},
	{"a CIE pointer to itself", i386, cfi.EHFrame,
		`0c000000 04000000 00100000 20000000
		 0c000000 00000000 01 00 01 7c 08 0c0404`,
		`0x0+0x10 error: .eh_frame+0x4: invalid FDE: CIE pointer leads to 0x0, expected a CIE in the section's 0x20 bytes
		 0x10+0x10 CIE v1 "" code 1 data -4 ra 8`},
	{"FDEs that point to each other", i386, cfi.EHFrame,
		`0c000000 f4ffffff 00100000 20000000
		 0c000000 14000000 00100000 20000000`,
		`0x0+0x10 error: FDE at 0x0: .eh_frame+0x18: invalid CIE: the entry at 0x10 is an FDE, expected a CIE
		 0x10+0x10 error: FDE at 0x10: .eh_frame+0x8: invalid CIE: the entry at 0x0 is an FDE, expected a CIE`},
	{"a CIE pointer to a terminator", i386, cfi.EHFrame,
		`00000000 0c000000 08000000 00100000 20000000`,
		`0x0+0x4 terminator
		 0x4+0x10 error: FDE at 0x4: .eh_frame+0x4: invalid CIE: a terminator, expected a CIE`},
	{"a CIE pointer past the end", i386, cfi.DebugFrame,
		`0c000000 00010000 00100000 20000000`,
		`0x0+0x10 error: .debug_frame+0x4: invalid FDE: CIE pointer leads to 0x100, expected a CIE in the section's 0x10 bytes`},
	{"an unknown version costs its FDEs", i386, cfi.EHFrame,
		`0c000000 00000000 02 00 01 7c 08 0c0404
		 0c000000 14000000 00100000 20000000
		 0c000000 00000000 01 00 01 7c 08 0c0404`,
		`0x0+0x10 error: .eh_frame+0x8: unknown CIE version: 2, expected 1, 3, 4 or 5
		 0x10+0x10 error: FDE at 0x10: .eh_frame+0x8: unknown CIE version: 2, expected 1, 3, 4 or 5
		 0x20+0x10 CIE v1 "" code 1 data -4 ra 8`},
	{"version 4 with an address size of 3", x86, cfi.DebugFrame, `0b000000 ffffffff 04 00 03 00 01 78 10`,
		`0x0+0xf error: .debug_frame+0xc: invalid CIE: an address size of 3 bytes, expected 2, 4 or 8`},
	{"version 4 with a segment of 3 bytes", x86, cfi.DebugFrame, `0b000000 ffffffff 04 00 08 03 01 78 10`,
		`0x0+0xf error: .debug_frame+0xc: invalid CIE: a segment selector of 3 bytes`},
	{"an augmentation without a NUL", x86, cfi.EHFrame, `08000000 00000000 01 7a5252`,
		`0x0+0xc error: .eh_frame+0x9: truncated: a string without a NUL in 3 bytes`},
	{"an augmentation of 256 letters", x86, cfi.EHFrame, `0a010000 00000000 01 7a` + strings.Repeat("53", 255) + `00 01 78 10 00`,
		`0x0+0x10e error: .eh_frame+0x9: truncated: a string without a NUL in 256 bytes`},
	{"augmentation data past the entry", x86, cfi.EHFrame, `0d000000 00000000 01 7a5200 01 78 10 7f 1b`,
		`0x0+0x11 error: .eh_frame+0x10: truncated: 1 bytes are left, expected 127`},
	{"letters past the augmentation data", x86, cfi.EHFrame, `0e000000 00000000 01 7a525300 01 78 10 00 00`,
		`0x0+0x12 error: .eh_frame+0x11: truncated: no byte is left, expected 1`},
	{"a code alignment factor without end", x86, cfi.EHFrame, `10000000 00000000 01 00 8080808080 8080808080`,
		`0x0+0x14 error: .eh_frame+0x14: truncated: no byte is left, expected 1`},
	{"an FDE past the end of the address space", x86, cfi.DebugFrame,
		`0c000000 ffffffff 01 00 01 78 10 0c0708
		 14000000 00000000 00f0ffffffffffff 0020000000000000`,
		`0x0+0x10 CIE v1 "" code 1 data -8 ra 16
		 0x10+0x18 error: .debug_frame+0x28: invalid FDE: 0x2000 bytes of code from 0xfffffffffffff000 exceed the address space`},
	{"a truncated FDE", i386, cfi.EHFrame,
		`0c000000 00000000 01 00 01 7c 08 0c0404
		 08000000 14000000 00100000
		 0c000000 20000000 00100000 20000000`,
		`0x0+0x10 CIE v1 "" code 1 data -4 ra 8
		 0x10+0xc error: .eh_frame+0x1c: truncated: 0 bytes are left, expected 4
		 0x1c+0x10 FDE of 0x0 [0x1000,0x1020) `},
}

func TestEntries(t *testing.T) {
	for _, test := range entrySections {
		t.Run(test.name, func(t *testing.T) {
			name := ".eh_frame"
			if test.kind == cfi.DebugFrame {
				name = ".debug_frame"
			}
			s := &cfi.Section{Name: name, Kind: test.kind, Data: unhex(t, test.data), Address: 0x400000, Machine: test.machine}
			var want []string
			for line := range strings.Lines(test.want) {
				want = append(want, strings.TrimLeft(strings.TrimSuffix(line, "\n"), "\t "))
			}
			got := entries(s)
			if !slices.Equal(got, want) {
				t.Errorf("entries\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			checkEntriesAt(t, s)
			// A CIE is written before the FDEs that point to it.
			if !strings.Contains(test.want, "error: ") && !strings.Contains(test.name, "a CIE after its FDE") {
				encodesAgain(t, s)
			}
		})
	}
}

// checkEntriesAt decodes each entry by its offset; the result must be the same.
func checkEntriesAt(t *testing.T, s *cfi.Section) {
	t.Helper()
	fresh := &cfi.Section{Name: s.Name, Kind: s.Kind, Data: s.Data, Address: s.Address, Machine: s.Machine, Memory: s.Memory,
		TextBase: s.TextBase, DataBase: s.DataBase}
	for e, err := range s.Entries() {
		var f cfi.FDE
		_, cieErr := fresh.CIEAt(e.Offset)
		fdeErr := fresh.FDEAt(e.Offset, &f)
		switch {
		case e.CIE != nil && (cieErr != nil || !errors.Is(fdeErr, cfi.ErrFDE)):
			t.Errorf("CIE at %#x: CIEAt %v, FDEAt %v", e.Offset, cieErr, fdeErr)
		case e.FDE != nil && (fdeErr != nil || !errors.Is(cieErr, cfi.ErrCIE)):
			t.Errorf("FDE at %#x: CIEAt %v, FDEAt %v", e.Offset, cieErr, fdeErr)
		case e.FDE != nil && (f.Start != e.FDE.Start || f.End != e.FDE.End || f.LSDA != e.FDE.LSDA || f.Size != e.FDE.Size ||
			f.InstructionsOffset != e.FDE.InstructionsOffset || string(f.Instructions) != string(e.FDE.Instructions)):
			t.Errorf("FDEAt(%#x) is %+v, the entry is %+v", e.Offset, f, *e.FDE)
		case (err != nil || e.Terminator()) && (cieErr == nil || fdeErr == nil):
			t.Errorf("entry at %#x is malformed or none, CIEAt %v, FDEAt %v", e.Offset, cieErr, fdeErr)
		}
	}
	if _, err := fresh.CIEAt(uint64(len(s.Data)) + 1); !errors.Is(err, cfi.ErrTruncated) {
		t.Errorf("CIEAt after the section: %v", err)
	}
	if err := fresh.FDEAt(1<<63, new(cfi.FDE)); !errors.Is(err, cfi.ErrTruncated) {
		t.Errorf("FDEAt far after the section: %v", err)
	}
}

func TestCIEFields(t *testing.T) {
	for _, test := range []struct {
		name    string
		machine *arch.Machine
		data    string
		want    cfi.CIE
	}{
		{"zPLR", x86, `20000000 00000000 01 7a504c5200 01 78 10 07 9b 00010000 1b 1b 0c0708 9001 000000000000 00`,
			cfi.CIE{PointerEncoding: 0x1b, LSDAEncoding: 0x1b, PersonalityEnc: 0x9b, Personality: cfi.Pointer{Address: 0x400113, Indirect: true}}},
		{"zRS", x86, `10000000 00000000 01 7a525300 01 78 10 01 1b 00`,
			cfi.CIE{PointerEncoding: 0x1b, LSDAEncoding: cfi.EncOmit, PersonalityEnc: cfi.EncOmit, SignalFrame: true}},
		{"zRBG", arm64, `10000000 00000000 01 7a52424700 04 78 1e 01 1b`,
			cfi.CIE{PointerEncoding: 0x1b, LSDAEncoding: cfi.EncOmit, PersonalityEnc: cfi.EncOmit, BKey: true, MTETagged: true}},
		{"z alone", x86, `0c000000 00000000 01 7a00 01 78 10 00`,
			cfi.CIE{LSDAEncoding: cfi.EncOmit, PersonalityEnc: cfi.EncOmit}},
		{"a personality that is omitted", x86, `0f000000 00000000 01 7a505200 01 78 10 02 ff 1b`,
			cfi.CIE{PointerEncoding: 0x1b, LSDAEncoding: cfi.EncOmit, PersonalityEnc: cfi.EncOmit}},
		{"a personality of zero is null in every encoding", x86, `15000000 00000000 01 7a505200 01 78 10 06 1b 00000000 1b 0000`,
			cfi.CIE{PointerEncoding: 0x1b, LSDAEncoding: cfi.EncOmit, PersonalityEnc: 0x1b}},
		{"eh", x86, `14000000 00000000 01 656800 8877665544332211 01 78 10`,
			cfi.CIE{LSDAEncoding: cfi.EncOmit, PersonalityEnc: cfi.EncOmit, EHData: 0x1122334455667788}},
		{"eh and letters", x86, `17000000 00000000 01 65687a5200 8877665544332211 01 78 10 01 1b`,
			cfi.CIE{PointerEncoding: 0x1b, LSDAEncoding: cfi.EncOmit, PersonalityEnc: cfi.EncOmit, EHData: 0x1122334455667788}},
		{"letters after an unknown one are lost", x86, `10000000 00000000 01 7a515200 01 78 10 01 1b 00`,
			cfi.CIE{LSDAEncoding: cfi.EncOmit, PersonalityEnc: cfi.EncOmit}},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := unhex(t, test.data)
			test.machine.Order.PutUint32(data, uint32(len(data)-4))
			s := &cfi.Section{Name: ".eh_frame", Data: data, Address: 0x400000, Machine: test.machine}
			got, err := s.CIEAt(0)
			if err != nil {
				t.Fatal(err)
			}
			if w := test.want; got.PointerEncoding != w.PointerEncoding || got.LSDAEncoding != w.LSDAEncoding ||
				got.PersonalityEnc != w.PersonalityEnc || got.Personality != w.Personality || got.SignalFrame != w.SignalFrame ||
				got.BKey != w.BKey || got.MTETagged != w.MTETagged || got.EHData != w.EHData {
				t.Errorf("%+v, want %+v", got, w)
			}
			if again, _ := s.CIEAt(0); again != got {
				t.Error("decoded twice")
			}
			encodesAgain(t, s)
		})
	}
}

// A malformed CIE is decoded once, however many FDEs point to it.
func TestMalformedCIEIsRemembered(t *testing.T) {
	s := &cfi.Section{Name: ".eh_frame", Data: unhex(t, "0c000000 00000000 02 00 01 7c 08 0c0404"), Machine: i386}
	_, first := s.CIEAt(0)
	_, second := s.CIEAt(0)
	if !errors.Is(first, cfi.ErrVersion) || first != second {
		t.Errorf("%v, then %v", first, second)
	}
}
