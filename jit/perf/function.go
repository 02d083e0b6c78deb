// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

var errMachine = errors.New("the machine of this program is unknown")

// SpaceAfter returns the number of bytes that must stay free after a function so that perf
// can unwind through it. This is the padding to a multiple of 8 bytes plus the size of the
// function's unwind table, which is 80 bytes for most functions. size is the size of the
// function in bytes. A function without an unwind table needs 0.
func SpaceAfter(p *cfi.Program, size uint64) (uint64, error) {
	if p == nil {
		return 0, nil
	}
	var e tableEncoder
	u, err := e.encode(p, size)
	if err != nil {
		return 0, fmt.Errorf("jitdump: %w", err)
	}
	return spaceAfter(&u, size), nil
}

func spaceAfter(u *UnwindingInfo, size uint64) uint64 {
	return align8(size) - size + align8(uint64(len(u.EHFrame)+len(u.Header)))
}

// functionEncoder appends the records of the program's functions.
type functionEncoder struct {
	Encoder
	pid     uint32
	tables  tableEncoder
	entries []DebugEntry
}

// init sets up an encoder for this process. Its machine is m.
func (e *functionEncoder) init(m *arch.Machine) {
	e.pid = uint32(os.Getpid())
	// Both byte orders of encoding/binary append too.
	e.Order = m.Order.(binary.AppendByteOrder)
}

// function appends the records of a function. free is the number of unused bytes after it.
func (e *functionEncoder) function(c *jit.Code, f *jit.Function, time, index, free uint64) error {
	// perf holds the size in an int.
	if f.Size > math.MaxInt32 {
		return fmt.Errorf("%w: %#x bytes, expected at most %#x", jit.ErrCode, f.Size, math.MaxInt32)
	}
	start := c.Start(f)
	if err := e.lines(f, start, time); err != nil {
		return err
	}
	if f.Unwind != nil {
		u, err := e.tables.encode(f.Unwind, f.Size)
		if err != nil {
			return err
		}
		if spaceAfter(&u, f.Size) <= free {
			u.MappedSize = align8(uint64(len(u.EHFrame) + len(u.Header)))
		}
		if err := e.UnwindingInfo(time, &u); err != nil {
			return err
		}
	}
	// A goroutine is not bound to a thread; perf only needs a thread of the process.
	l := Load{PID: e.pid, TID: e.pid, VMA: start, Address: start, Index: index, Name: f.Name, Code: c.Bytes(f)}
	return e.Load(time, &l)
}

// lines appends the record of a function's source lines, if it has any.
func (e *functionEncoder) lines(f *jit.Function, start, time uint64) error {
	e.entries = e.entries[:0]
	file, source := "", false
	for i := range f.Lines {
		l := &f.Lines[i]
		if l.File != "" {
			file = l.File
		}
		source = source || l.Line > 0
		e.entries = append(e.entries, DebugEntry{
			// Code without a source ends the previous line: DWARF's line 0.
			Address: start + l.Offset, Line: int32(min(l.Line, math.MaxInt32)),
			Discriminator: int32(min(l.Column, math.MaxInt32)), File: file,
		})
	}
	if !source {
		return nil
	}
	return e.DebugInfo(time, start, e.entries)
}

// tableEncoder encodes the unwind tables of functions for the place that perf inject
// gives them: in a file for each function, at the next multiple of 8 bytes after the
// code, .eh_frame before .eh_frame_hdr.
type tableEncoder struct {
	last  *tables
	byCIE map[*cfi.CIE]*tables
}

// tables contains tables of functions that share a CIE. The CIE stays; each function's
// FDE replaces the previous one.
type tables struct {
	of      *cfi.CIE
	program cfi.Program // of the current function
	encoder cfi.Encoder
	cie     int // bytes in encoder.Data
	count   int // functions since the encoder was empty
	header  []byte
}

const (
	// tableAddress is the assumed address of the tables: only distances matter.
	tableAddress = 1 << 31

	maxCIEs = 64   // kept CIEs
	maxFDEs = 4096 // FDEs after which an encoder is reset, because it counts them
)

// encode returns the tables of a function; they are valid until the next call.
func (e *tableEncoder) encode(p *cfi.Program, size uint64) (UnwindingInfo, error) {
	t := e.last
	if t == nil || t.of != p.CIE {
		if t = e.byCIE[p.CIE]; t == nil {
			t = newTables(p.CIE)
			if e.byCIE == nil || len(e.byCIE) >= maxCIEs {
				e.byCIE = make(map[*cfi.CIE]*tables)
			}
			e.byCIE[p.CIE] = t
		}
		e.last = t
	}
	return t.encode(p, size)
}

func newTables(of *cfi.CIE) *tables {
	// The function has another address in perf's file, so the tables must not contain
	// absolute addresses. perf does not run personalities.
	cie := *of
	cie.DWARF64, cie.Version, cie.AddressSize, cie.SegmentSize = false, 0, 0, 0
	cie.Augmentation, cie.AugmentationData, cie.EHData = "", nil, 0
	cie.PointerEncoding = cfi.EncPCRel | cfi.EncSdata4
	cie.LSDAEncoding, cie.PersonalityEnc, cie.Personality = cfi.EncOmit, cfi.EncOmit, cfi.Pointer{}
	return &tables{of: of, program: cfi.Program{CIE: &cie},
		encoder: cfi.Encoder{Machine: of.Section.Machine, Address: tableAddress}}
}

func (t *tables) encode(p *cfi.Program, size uint64) (UnwindingInfo, error) {
	if t.cie == 0 || t.count >= maxFDEs {
		t.encoder.Reset()
		t.cie, t.count = 0, 0
		if _, err := t.encoder.CIE(t.program.CIE); err != nil {
			return UnwindingInfo{}, err
		}
		t.cie = len(t.encoder.Data)
	}
	t.count++
	t.encoder.Data = t.encoder.Data[:t.cie]
	t.program.Instructions, t.program.End = p.Instructions, p.End
	start := tableAddress - align8(size)
	if err := t.encoder.Program(&t.program, start, size); err != nil {
		return UnwindingInfo{}, err
	}
	address := tableAddress + uint64(len(t.encoder.Data))
	header := cfi.Header{Address: address, EHFrame: cfi.Pointer{Address: tableAddress},
		EHFrameEncoding: cfi.EncPCRel | cfi.EncSdata4, CountEncoding: cfi.EncUdata4, TableEncoding: cfi.EncDataRel | cfi.EncSdata4}
	var err error
	t.header, err = header.Append(t.header[:0], t.encoder.Machine, []cfi.HeaderEntry{{Start: start, FDE: tableAddress + uint64(t.cie)}})
	return UnwindingInfo{EHFrame: t.encoder.Data, Header: t.header}, err
}
