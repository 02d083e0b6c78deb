// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"bytes"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/corpus"
	"github.com/clewdev/clew/object"
)

// meanings decodes a section into what its entries mean, in order, CIEs apart
// from the FDEs that point to them. Padding at the end of programs is left out.
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

// TestEncodeInstalled decodes, encodes and decodes the call frame information
// of every ELF file of the machine.
func TestEncodeInstalled(t *testing.T) {
	var mu sync.Mutex
	var all, same, fdes int
	corpus.Each(corpus.Files(t), func(path string) {
		f, err := object.Open(path)
		if err != nil {
			return // other tests say why
		}
		defer f.Close()
		sections, _ := f.CFISections()
		for _, s := range sections {
			again, err := encodeAgain(s)
			if err != nil {
				t.Errorf("%s: %s: %v", path, s.Name, err)
				continue
			}
			next, stop := iter.Pull2(meanings(again))
			n := 0
			for want, err := range meanings(s) {
				got, gotErr, ok := next()
				if n++; !ok || got != want || (err == nil) != (gotErr == nil) {
					t.Errorf("%s: %s: entry %d is\n%s %v, was\n%s %v", path, s.Name, n, got, gotErr, want, err)
					break
				}
			}
			if got, _, ok := next(); ok && !t.Failed() {
				t.Errorf("%s: %s: one too many: %s", path, s.Name, got)
			}
			stop()
			mu.Lock()
			fdes += n
			if all++; bytes.Equal(s.Data, again.Data) {
				same++
			}
			mu.Unlock()
		}
	})
	if fdes == 0 {
		t.Error("no FDE was encoded")
	}
	t.Logf("%d FDEs; %d of %d sections are equal byte for byte", fdes, same, all)
}

func BenchmarkEncodeFDEs(b *testing.B) {
	s := ehFrame(b, llvm)
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
