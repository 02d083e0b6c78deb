// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"strconv"

	"github.com/clewdev/clew/cfi"
)

// instructions prints the instructions of an entry. location is where the
// function starts; 0 for a CIE.
func (p *printer) instructions(cie *cfi.CIE, d cfi.Decoder, location uint64) error {
	var ins cfi.Instruction
	for d.Next(&ins) {
		p.reserve()
		p.buf = append(p.instruction(p.buf, cie, &ins, &location), '\n')
	}
	return d.Err()
}

// instruction appends one instruction and moves the location.
func (p *printer) instruction(dst []byte, cie *cfi.CIE, ins *cfi.Instruction, location *uint64) []byte {
	dst = append(append(dst, "  "...), ins.Op.Name(p.section.Machine)...)
	factored := ins.Operand * cie.DataAlign
	switch ins.Op {
	case cfi.CFAAdvanceLoc, cfi.CFAAdvanceLoc1, cfi.CFAAdvanceLoc2, cfi.CFAAdvanceLoc4, cfi.CFAMIPSAdvanceLoc8:
		delta := uint64(ins.Operand) * cie.CodeAlign
		*location += delta
		dst = strconv.AppendInt(append(dst, ": "...), int64(delta), 10)
		dst = appendHex(append(dst, " to "...), *location, int(cie.AddressSize))
	case cfi.CFASetLoc:
		*location = uint64(ins.Operand)
		dst = appendHex(append(dst, ": "...), *location, int(cie.AddressSize))
	case cfi.CFAOffset, cfi.CFAOffsetExtended, cfi.CFAOffsetExtendedSF:
		dst = appendSigned(append(p.register(dst, ins.Register), " at cfa"...), factored)
	case cfi.CFAGNUNegativeOffsetExtended:
		dst = appendSigned(append(p.register(dst, ins.Register), " at cfa"...), -factored)
	case cfi.CFAValOffset, cfi.CFAValOffsetSF:
		dst = appendSigned(append(p.register(dst, ins.Register), " is cfa"...), factored)
	case cfi.CFARestore, cfi.CFARestoreExtended, cfi.CFAUndefined, cfi.CFASameValue, cfi.CFADefCFARegister:
		dst = p.register(dst, ins.Register)
	case cfi.CFARegister:
		dst = append(p.register(dst, ins.Register), " in "...)
		dst = p.names.appendLong(dst, ins.Register2)
	case cfi.CFADefCFA:
		dst = append(p.register(dst, ins.Register), " ofs "...)
		dst = strconv.AppendInt(dst, int64(int32(ins.Operand)), 10)
	case cfi.CFADefCFASF:
		dst = append(p.register(dst, ins.Register), " ofs "...)
		dst = strconv.AppendInt(dst, int64(int32(factored)), 10)
	case cfi.CFADefCFAOffset:
		dst = strconv.AppendInt(append(dst, ": "...), int64(int32(ins.Operand)), 10)
	case cfi.CFADefCFAOffsetSF:
		dst = strconv.AppendInt(append(dst, ": "...), int64(int32(factored)), 10)
	case cfi.CFAGNUArgsSize:
		dst = strconv.AppendInt(append(dst, ": "...), ins.Operand, 10)
	case cfi.CFADefCFAExpression:
		dst = p.expression(append(dst, ' '), ins)
	case cfi.CFAExpression, cfi.CFAValExpression:
		dst = p.expression(append(p.register(dst, ins.Register), ' '), ins)
	case cfi.CFALLVMDefAspaceCFA, cfi.CFALLVMDefAspaceCFASF:
		// readelf 2.40 does not know these: the form is llvm-dwarfdump's.
		offset := ins.Operand
		if ins.Op == cfi.CFALLVMDefAspaceCFASF {
			offset = factored
		}
		dst = append(p.register(dst, ins.Register), " ofs "...)
		dst = strconv.AppendInt(dst, int64(int32(offset)), 10)
		dst = strconv.AppendUint(append(dst, " in addrspace"...), ins.Register2, 10)
	}
	return dst
}

func (p *printer) register(dst []byte, column uint64) []byte {
	return p.names.appendLong(append(dst, ": "...), column)
}
