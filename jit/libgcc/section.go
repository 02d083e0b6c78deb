// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

const word = unsafe.Sizeof(uintptr(0))

// fde is an FDE in the memory of a section, in this package's encoding: length and CIE
// pointer of four bytes each, then start and size of the function, a word each
// (LSB Core, ".eh_frame"; DW_EH_PE_absptr).
type fde struct{ entry unsafe.Pointer }

func fdeAt(section []byte, offset uint32) fde { return fde{unsafe.Pointer(&section[offset])} }

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

func (f fde) address() uintptr { return uintptr(f.entry) }
func (f fde) start() uintptr   { return *(*uintptr)(unsafe.Add(f.entry, 8)) }
func (f fde) size() uintptr    { return *(*uintptr)(unsafe.Add(f.entry, 8+word)) }
func (f fde) end() uintptr     { return f.start() + f.size() }

// hide sets the size to 0, so that libgcc no longer finds the function: a lookup
// compares the size last, and reads it each time. Other functions are still found. The
// start stays, because the FDEs were sorted by it.
func (f fde) hide() { atomic.StoreUintptr((*uintptr)(unsafe.Add(f.entry, 8+word)), 0) }

// bytes returns the FDE, and cie its CIE.
func (f fde) bytes() []byte { return entryBytes(f.entry) }
func (f fde) cie() []byte {
	back := *(*int32)(unsafe.Add(f.entry, 4)) // relative to the field itself
	return entryBytes(unsafe.Add(f.entry, 4-int(back)))
}

func entryBytes(entry unsafe.Pointer) []byte {
	return unsafe.Slice((*byte)(entry), 4+*(*uint32)(entry))
}

// encoder encodes tables as this package registers them. Pointers are absolute: C
// memory and generated code can be more than 2 GiB apart, and an absolute entry can be
// copied elsewhere.
type encoder struct {
	cfi.Encoder
	absolute map[*cfi.CIE]*cfi.CIE
	from, to *cfi.CIE // of the last FDE
	program  cfi.Program
	distinct int // CIEs in the section
}

func (e *encoder) reset() {
	if e.absolute == nil {
		e.absolute = make(map[*cfi.CIE]*cfi.CIE)
	}
	clear(e.absolute)
	e.from, e.to, e.distinct, e.Machine = nil, nil, 0, jit.Host()
	e.Reset()
}

// append appends an FDE and returns its offset.
func (e *encoder) append(p *cfi.Program, start, size uint64) (uint32, error) {
	if err := e.toAbsolute(p.CIE); err != nil {
		return 0, err
	}
	e.program = *p
	e.program.CIE = e.to
	offset := len(e.Data)
	if err := e.Program(&e.program, start, size); err != nil {
		return 0, err
	}
	if at := unsafe.Pointer(&e.Data[offset]); *(*uint32)(unsafe.Add(at, 4)) == 0 {
		offset += len(entryBytes(at)) // skip the CIE, which is new in the section
		e.distinct++
	}
	if len(e.Data) > math.MaxInt32 {
		return 0, fmt.Errorf("%w: the tables of a batch take more than 2 GiB", cfi.ErrRange)
	}
	return uint32(offset), nil
}

// toAbsolute sets e.to to a CIE like c with absolute pointers, in a form that every
// unwinder reads.
func (e *encoder) toAbsolute(c *cfi.CIE) error {
	if e.from == c {
		return nil
	}
	to := e.absolute[c]
	if to == nil {
		if err := validateCIE(c); err != nil {
			return err
		}
		absolute := *c
		to = &absolute
		to.PointerEncoding = cfi.EncAbsptr
		to.LSDAEncoding = wholePointer(c.LSDAEncoding)
		to.PersonalityEnc = wholePointer(c.PersonalityEnc)
		to.DWARF64 = false // libgcc does not read it
		to.Augmentation = letters(c)
		if to.Version == 4 {
			to.Version = 3 // LLVM reads 1 and 3; 4 adds nothing here
		}
		e.absolute[c] = to
	}
	e.from, e.to = c, to
	return nil
}

// letters returns the augmentation string for a CIE's fields. Like compilers and CPython
// it states the pointer encoding even if that is the default.
func letters(c *cfi.CIE) string {
	s := "z"
	if c.PersonalityEnc != cfi.EncOmit {
		s += "P"
	}
	if c.LSDAEncoding != cfi.EncOmit {
		s += "L"
	}
	s += "R"
	if c.SignalFrame {
		s += "S"
	}
	if c.BKey {
		s += "B"
	}
	return s
}

func wholePointer(e cfi.Encoding) cfi.Encoding {
	if e == cfi.EncOmit {
		return e
	}
	return e & cfi.EncIndirect
}

// terminate ends the section, and pads it so that another can follow it.
func (e *encoder) terminate() { e.Data = terminate(e.Data) }

// block puts an entry after the terminator that ends the section for LLVM 14. LLVM 14
// ignores the terminator and reads on: the entry is neither a CIE nor an FDE of the CIE.
func (e *encoder) block() {
	cie := len(entryBytes(unsafe.Pointer(&e.Data[0])))
	end := len(e.Data)
	for len(e.Data) < end+cie {
		e.terminate()
	}
	e.Data = append(e.Data[:end+cie], 8, 0, 0, 0, 0xff, 0xff, 0xff, 0xff)
	e.Data = terminate(e.Data)
}

func terminate(data []byte) []byte {
	data = append(data, 0, 0, 0, 0)
	for len(data)%8 != 0 {
		data = append(data, 0)
	}
	return data
}

// gatherer copies FDEs of several sections to a new one.
type gatherer struct {
	data    []byte
	offsets []uint32
	cies    []gatheredCIE
}

type gatheredCIE struct {
	bytes  []byte // the original
	offset int    // in data
}

// gather makes a section of functions, and points functions to their copies in it.
func (r *registry) gather(functions []fde) []byte {
	g := &r.gatherer
	g.data, g.offsets = g.data[:0], g.offsets[:0]
	clear(g.cies)
	g.cies = g.cies[:0]
	for _, f := range functions {
		cie := g.cie(f.cie())
		offset := len(g.data)
		g.offsets = append(g.offsets, uint32(offset))
		g.data = append(g.data, f.bytes()...)
		*(*int32)(unsafe.Pointer(&g.data[offset+4])) = int32(offset + 4 - cie)
	}
	g.data = terminate(g.data)
	section := r.memory.allocate(len(g.data))
	copy(section, g.data)
	for i, offset := range g.offsets {
		functions[i] = fdeAt(section, offset)
	}
	return section
}

// cie returns the offset of a CIE in the new section. Most functions share one; of
// many, only the most recent ones are compared.
func (g *gatherer) cie(b []byte) int {
	for i := len(g.cies) - 1; i >= max(0, len(g.cies)-8); i-- {
		if known := &g.cies[i]; &known.bytes[0] == &b[0] || string(known.bytes) == string(b) {
			return known.offset
		}
	}
	offset := len(g.data)
	g.data = append(g.data, b...)
	g.cies = append(g.cies, gatheredCIE{b, offset})
	return offset
}
