// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile

import (
	"debug/elf"

	"github.com/clewdev/clew/cfi"
)

// reach is the largest distance of code and its unwind table for pointers of four bytes,
// minus some bytes for padding.
const reach = 1<<31 - 1<<16

// beginFrames starts .eh_frame, of at most size bytes.
//
// The section's address is near the code, so that a pointer takes four bytes. Without
// SHF_ALLOC it is not in debuggers' maps of addresses and cannot collide with other
// sections.
func (e *encoder) beginFrames(size uint64) {
	low, high := e.texts[0].start, e.texts[0].end
	for _, t := range e.texts[1:] {
		low, high = min(low, t.start), max(high, t.end)
	}
	// Compare sizes: the sum of both could overflow.
	e.absolute = size > reach || high-low > reach-size
	e.align()
	e.frames.Kind, e.frames.Machine = cfi.EHFrame, e.machine
	e.frames.Address = (high + 7) &^ 7
	e.frames.Data = e.dst[len(e.dst):]
}

// frame appends the FDE of a function.
func (e *encoder) frame(p *cfi.Program, start, size uint64) error {
	if c := p.CIE; e.absolute || c.PointerEncoding != cfi.EncPCRel|cfi.EncSdata4 ||
		c.LSDAEncoding != cfi.EncOmit || c.PersonalityEnc != cfi.EncOmit || c.DWARF64 {
		e.program = *p
		e.program.CIE, e.program.LSDA = e.plainCIE(c), cfi.Pointer{}
		e.program.Instructions = unpadded(c, p.Instructions)
		p = &e.program
	}
	return e.frames.Program(p, start, size)
}

// plainCIE returns a CIE with only the rules of c. A debugger does not need the
// personality, whose address may be out of reach.
func (e *encoder) plainCIE(c *cfi.CIE) *cfi.CIE {
	if plain, ok := e.cies[c]; ok {
		return plain
	}
	plain := cfi.NewCIE(e.machine)
	plain.CodeAlign, plain.DataAlign, plain.ReturnAddress = c.CodeAlign, c.DataAlign, c.ReturnAddress
	plain.SignalFrame, plain.BKey, plain.MTETagged = c.SignalFrame, c.BKey, c.MTETagged
	plain.Instructions = unpadded(c, c.Instructions)
	if c.ReturnAddress > 0xff {
		plain.Version = 3
	}
	if e.absolute {
		plain.PointerEncoding = cfi.EncAbsptr
	}
	if e.cies == nil {
		e.cies = make(map[*cfi.CIE]*cfi.CIE)
	}
	e.cies[c] = plain
	return plain
}

// unpadded returns instructions without the trailing DW_CFA_nop, the padding of another
// entry.
func unpadded(c *cfi.CIE, instructions []byte) []byte {
	f := cfi.FDE{CIE: c, Instructions: instructions}
	d := f.Decode()
	var ins cfi.Instruction
	end := uint64(0)
	for d.Next(&ins) {
		if ins.Op != cfi.CFANop {
			end = ins.Offset + ins.Size
		}
	}
	if d.Err() != nil {
		return instructions
	}
	return instructions[:end]
}

// endFrames ends .eh_frame and appends its header, unless there is no FDE.
func (e *encoder) endFrames() error {
	data := e.frames.Data
	if len(data) == 0 {
		return nil
	}
	start := e.here()
	// Usually data is in its place already, in the spare capacity of dst.
	e.dst = append(e.dst, data...)
	e.add(section{name: nameEHFrame, typ: elf.SHT_PROGBITS, address: e.frames.Address, align: 8}, start)
	if e.absolute {
		return nil // the header's table has pointers of four bytes
	}
	e.align()
	start = e.here()
	address := e.frames.Address + uint64(len(data)+7)&^7
	var err error
	e.dst, err = e.frames.AppendHeader(e.dst, address)
	e.add(section{name: nameEHHeader, typ: elf.SHT_PROGBITS, address: address, align: 4}, start)
	return err
}
