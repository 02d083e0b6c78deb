// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import "fmt"

// Program is the unwind table of a function apart from where the function lies:
// what an FDE is made of. Several functions may share one, and several programs
// a CIE. A Builder makes it, or FDE.Program of what a compiler wrote. It is not
// changed after it was made and may be shared between goroutines.
type Program struct {
	CIE *CIE

	// Instructions follow the CIE's, encoded for its machine and factors. An
	// Encoder copies them without a look, and package jit believes End: they hold no DW_CFA_set_loc and no
	// other address that depends on where the function lies.
	Instructions []byte

	// End is the offset from the function's start, in bytes of code, at which
	// the last row starts: no function that it is for is shorter. Compilers put
	// a row at a function's very end, where nothing looks it up.
	End uint64

	// LSDA is the language-specific data area, where the CIE says how it is stored.
	LSDA Pointer
}

// Program returns the table of a decoded FDE, for a function that lies elsewhere:
// a DW_CFA_set_loc is an advance in it, and End is where its last row starts.
// The CIE is the FDE's, and the expressions are as they are. The error is that of
// decoding, or wraps ErrRange where an address lies before the function or an
// instruction makes no sense.
func (f *FDE) Program() (*Program, error) {
	b := NewBuilder(f.CIE)
	d := f.Decode()
	var ins Instruction
	for d.Next(&ins) {
		switch {
		case ins.Op != CFASetLoc:
			b.Instruction(ins)
		case uint64(ins.Operand) < f.Start:
			b.fail("DW_CFA_set_loc to %#x, before the function's start at %#x", uint64(ins.Operand), f.Start)
		default:
			b.At(uint64(ins.Operand) - f.Start)
		}
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	p, err := b.Program()
	if err != nil {
		return nil, fmt.Errorf("FDE at %#x: %w", f.Offset, err)
	}
	p.LSDA = f.LSDA
	return p, nil
}
