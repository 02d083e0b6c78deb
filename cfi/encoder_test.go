// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/corpus"
	"github.com/clewdev/clew/object"
)

// meanings decodes the entries of a section in order, without the CIEs of FDEs and
// without padding at the end of programs.
func meanings(s *cfi.Section) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var cie *cfi.CIE
		var common string
		for e, err := range s.Entries() {
			text := ""
			if f := e.FDE; f != nil {
				if c := f.CIE; c != cie {
					cie = c
					common = fmt.Sprint(" CIE ", c.DWARF64, c.Version, c.Augmentation, c.AddressSize, c.SegmentSize, c.CodeAlign,
						c.DataAlign, c.ReturnAddress, c.EHData, c.PointerEncoding, c.LSDAEncoding, c.Personality,
						c.PersonalityEnc, c.SignalFrame, c.BKey, c.MTETagged, instructions(c.Decode()))
				}
				text = fmt.Sprint("FDE ", f.DWARF64, f.Start, f.End, f.Segment, f.LSDA, instructions(f.Decode()), common)
			}
			if (text != "" || err != nil) && !yield(text, err) {
				return
			}
		}
	}
}

func instructions(d cfi.Decoder) string {
	var text []byte
	var ins cfi.Instruction
	used := 0
	for d.Next(&ins) {
		text = fmt.Appendf(text, " %d %d %d %d %x", ins.Op, ins.Register, ins.Register2, ins.Operand, ins.Expression)
		if ins.Op != cfi.CFANop {
			used = len(text)
		}
	}
	return fmt.Sprint(string(text[:used]), d.Err())
}

// encodeAgain writes a section's entries again.
func encodeAgain(s *cfi.Section) (*cfi.Section, error) {
	e := cfi.Encoder{Kind: s.Kind, Machine: s.Machine, Address: s.Address, TextBase: s.TextBase, DataBase: s.DataBase}
	for entry, err := range s.Entries() {
		if err != nil {
			return nil, err
		}
		switch {
		case entry.FDE != nil:
			err = e.FDE(entry.FDE)
		case entry.CIE != nil:
			_, err = e.CIE(entry.CIE)
		case entry.Terminator():
			e.Terminator()
		}
		if err != nil {
			return nil, err
		}
	}
	return &cfi.Section{Name: s.Name, Kind: s.Kind, Data: e.Data, Address: s.Address, Machine: s.Machine,
		TextBase: s.TextBase, DataBase: s.DataBase, Memory: s.Memory}, nil
}

// encodesAgain checks that a section without errors is unchanged after encoding.
func encodesAgain(t *testing.T, s *cfi.Section) {
	t.Helper()
	again, err := encodeAgain(s)
	if err != nil {
		t.Errorf("encoding: %v", err)
	} else if !bytes.Equal(again.Data, s.Data) {
		t.Errorf("encoding it again\n got %x\nwant %x", again.Data, s.Data)
	}
}

// TestEncodeInstalled decodes, encodes and decodes the call frame information of the
// machine's ELF files. The bytes stay the same: padding is kept, pointers have the
// encodings of their CIEs, and assemblers encode numbers in the shortest form. Only a
// program that contains DW_CFA_set_loc is encoded again; a number in a longer form
// would be shortened there.
func TestEncodeInstalled(t *testing.T) {
	var mu sync.Mutex
	var fdes, headers int
	corpus.Each(t, corpus.Files(t), func(path string) error {
		f, err := object.Open(path)
		if err != nil {
			return nil // other tests report it
		}
		defer f.Close()
		sections, _ := f.CFISections()
		var failures []error
		for _, s := range sections {
			again, err := encodeAgain(s)
			if err != nil {
				failures = append(failures, fmt.Errorf("%s: %w", s.Name, err))
				continue
			}
			n := 0
			for range s.FDEs() {
				n++
			}
			if !bytes.Equal(s.Data, again.Data) {
				failures = append(failures, fmt.Errorf("%s is not equal byte for byte; does it mean the same? %v", s.Name, sameMeaning(again, s)))
			}
			mu.Lock()
			fdes += n
			mu.Unlock()
		}
		if data, address, ok := f.EHFrameHdr(); ok && len(sections) > 0 {
			failures = append(failures, encodeHeaderAgain(data, address, sections[0]))
			mu.Lock()
			headers++
			mu.Unlock()
		}
		return errors.Join(failures...)
	})
	if fdes == 0 || headers == 0 {
		t.Error("nothing was encoded")
	}
	t.Logf("%d FDEs, %d headers", fdes, headers)
}

// sameMeaning compares the entries of two sections.
func sameMeaning(got, want *cfi.Section) error {
	n := 0
	next, stop := iter.Pull2(meanings(got))
	defer stop()
	for want, err := range meanings(want) {
		got, gotErr, ok := next()
		if n++; !ok || got != want || (err == nil) != (gotErr == nil) {
			return fmt.Errorf("entry %d is\n%s %v, was\n%s %v", n, got, gotErr, want, err)
		}
	}
	if got, _, ok := next(); ok {
		return fmt.Errorf("one too many: %s", got)
	}
	return nil
}

// encodeHeaderAgain decodes an .eh_frame_hdr and encodes it, which must result in the
// same bytes. It also builds one from the section, which must agree with it.
func encodeHeaderAgain(data []byte, address uint64, s *cfi.Section) error {
	h, err := cfi.ParseHeader(data, address, s.Machine)
	if err != nil {
		return err
	}
	var entries []cfi.HeaderEntry
	for e, err := range h.Entries() {
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	again, err := h.Append(nil, s.Machine, entries)
	if err != nil || len(again) > len(data) || !bytes.Equal(again, data[:len(again)]) {
		return fmt.Errorf("its .eh_frame_hdr is %.64x, was %.64x: %v", again, data, err)
	}
	var e cfi.Encoder
	e.Machine, e.Address = s.Machine, s.Address
	for f := range s.FDEs() {
		if err := e.FDE(f); err != nil {
			return err
		}
	}
	own, err := e.AppendHeader(nil, address)
	if err != nil {
		return err
	}
	if h, err = cfi.ParseHeader(own, address, s.Machine); err != nil {
		return err
	}
	if h.Count < uint64(len(entries)) {
		return fmt.Errorf("an .eh_frame_hdr of %d entries, expected %d", h.Count, len(entries))
	}
	for err := range h.Check(&cfi.Section{Name: s.Name, Data: e.Data, Address: e.Address, Machine: s.Machine}) {
		return err
	}
	return nil
}

// TestEncodeConversions writes one section in other layouts.
func TestEncodeConversions(t *testing.T) {
	arm64be := arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2MSB)
	x32 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS32, elf.ELFDATA2LSB)
	for _, test := range []struct {
		name     string
		from, to *arch.Machine
		kind     cfi.Kind
		dwarf64  bool
		section  string // .eh_frame at 0x400000
		want     string // the error, or the bytes
	}{
		{"eh_frame to debug_frame: addresses as they are, letters without data", arm64, arm64, cfi.DebugFrame, false,
			`1c000000 00000000 01 7a504c525300 04 78 1e 07 1b 00010000 1b 1b 0c1f00 000000
			 18000000 24000000 dcffffff 20000000 04 00020000 41 0e10 9d02 9e01`,
			`14000000 ffffffff 01 5300 04 78 1e 0c1f00 000000 00000000
			 1c000000 00000000 0400400000000000 2000000000000000 41 0e10 9d02 9e01 00`},
		{"DWARF64", x86, x86, cfi.EHFrame, true,
			`14000000 00000000 01 7a5200 01 78 10 01 1b 0c0708 9001 0000
			 14000000 1c000000 e0ffffff 08000000 00 440e10 00000000`,
			`ffffffff 1400000000000000 00000000 01 7a5200 01 78 10 01 1b 0c0708 9001 0000
			 ffffffff 1400000000000000 2c000000 d0ffffff 08000000 00 440e10 00000000`},
		{"little-endian to big-endian, with an expression", arm64, arm64be, cfi.EHFrame, false,
			`14000000 00000000 01 7a5200 04 78 1e 01 1b 0c1f00 00000000
			 1c000000 1c000000 e0ffffff 00080000 00 030001 0f05 8f00 0a3412 00 00 00 00 00`,
			`00000014 00000000 01 7a5200 04 78 1e 01 1b 0c1f00 00000000
			 0000001c 0000001c ffffffe0 00000800 00 030100 0f05 8f00 0a1234 00 00 00 00 00`},
		{"8 bytes an address to 4", x86, x32, cfi.EHFrame, false,
			`14000000 00000000 01 7a5200 01 78 10 01 1b 0c0708 9001 0000
			 1c000000 1c000000 e0ffffff 08000000 00 44 0f09 030010400000000000 000000`,
			`14000000 00000000 01 7a5200 01 78 10 01 1b 0c0708 9001 0000
			 18000000 1c000000 e0ffffff 08000000 00 44 0f05 0300104000 000000`},
		{"an address that is too wide for 4 bytes", x86, x32, cfi.EHFrame, false,
			`14000000 00000000 01 7a5200 01 78 10 01 1b 0c0708 9001 0000
			 1c000000 1c000000 e0ffffff 08000000 00 44 0f09 030010400001000000 000000`,
			`DW_OP_addr: value out of range`},
		{"a branch over an address", x86, x32, cfi.EHFrame, false,
			`14000000 00000000 01 7a5200 01 78 10 01 1b 0c0708 9001 0000
			 1c000000 1c000000 e0ffffff 08000000 00 44 0f0c 2f0900 030010400000000000`,
			`branches over operands with another size`},
		{"bytes in another order", arm64, arm64be, cfi.EHFrame, false,
			`14000000 00000000 01 7a5200 04 78 1e 01 1b 0c1f00 00000000
			 18000000 1c000000 e0ffffff 00080000 00 41 0f05 9e03 010203 000000`,
			`bytes in the order of arm64`},
		{"an address in an expression, relative to itself", x86, x86, cfi.EHFrame, false,
			`14000000 00000000 01 7a5200 01 78 10 01 1b 0c0708 9001 0000
			 18000000 1c000000 e0ffffff 08000000 00 44 0f06 f11b 00010000 0000`,
			`which depends on its address`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &cfi.Section{Name: ".eh_frame", Data: unhex(t, test.section), Address: 0x400000, Machine: test.from}
			f := onlyFDE(t, s)
			if test.dwarf64 {
				cie := *f.CIE
				cie.DWARF64, f.CIE, f.DWARF64 = true, &cie, true
			}
			e := cfi.Encoder{Kind: test.kind, Machine: test.to, Address: s.Address}
			err := e.FDE(f)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) || len(e.Data) > 0 {
					t.Errorf("%v, want %s; %x", err, test.want, e.Data)
				}
				return
			}
			if want := unhex(t, test.want); !bytes.Equal(e.Data, want) {
				t.Errorf("\n got %x\nwant %x", e.Data, want)
			}
		})
	}
}

// Many functions of libstdc++ have an LSDA.
const libstdcxx = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"

// An Encoder with sufficient capacity allocates for CIEs alone.
func TestEncodeAllocatesNothing(t *testing.T) {
	s := ehFrame(t, libstdcxx)
	var fdes []cfi.FDE
	cies := make(map[*cfi.CIE]bool)
	lsdas := 0
	for f := range s.FDEs() {
		fdes, cies[f.CIE] = append(fdes, *f), true
		if f.LSDA.Address != 0 {
			lsdas++
		}
	}
	p := leaf(t, s.Machine)
	e := cfi.Encoder{Machine: s.Machine, Address: s.Address}
	header := make([]byte, 0, 12+8*(2*len(fdes)))
	write := func(fdes []cfi.FDE) float64 {
		return testing.AllocsPerRun(3, func() {
			e.Reset()
			for i := range fdes {
				if err := errors.Join(e.FDE(&fdes[i]), e.Program(p, s.Address+uint64(i), 16)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := e.AppendHeader(header, s.Address+uint64(len(e.Data))); err != nil {
				t.Fatal(err)
			}
		})
	}
	all := write(fdes)
	if half := write(fdes[:len(fdes)/2]); lsdas == 0 || all > float64(32*(len(cies)+1)) || half > all {
		t.Errorf("%d FDEs (%d with an LSDA) of %d CIEs cost %v allocations, half of them %v", len(fdes), lsdas, len(cies), all, half)
	}
}

func BenchmarkEncodeFDEs(b *testing.B) {
	for _, path := range []string{llvm, libstdcxx} {
		b.Run(filepath.Base(path), func(b *testing.B) {
			s := ehFrame(b, path)
			e := cfi.Encoder{Machine: s.Machine, Address: s.Address}
			b.ReportAllocs()
			for b.Loop() {
				e.Reset()
				for f := range s.FDEs() {
					if err := e.FDE(f); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.SetBytes(int64(len(e.Data)))
		})
	}
}

func BenchmarkEncodePrograms(b *testing.B) {
	s := ehFrame(b, llvm)
	cie := cfi.EntryCIE(s.Machine)
	var programs []*cfi.Program
	for f := range s.FDEs() {
		programs = append(programs, &cfi.Program{CIE: cie, Instructions: f.Instructions})
	}
	e := cfi.Encoder{Machine: s.Machine, Address: s.Address}
	b.ReportAllocs()
	for b.Loop() {
		e.Reset()
		for i, p := range programs {
			if err := e.Program(p, 0x1000+16*uint64(i), 16); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.SetBytes(int64(len(e.Data)))
}
