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
	has, value := ins.Op.Operands(), ins.Value(cie)
	if ins.Op.Effect() == cfi.EffectLocation {
		if has&cfi.OperandAddress != 0 {
			*location = uint64(value)
			return appendHex(append(dst, ": "...), *location, int(cie.AddressSize))
		}
		*location += uint64(value)
		dst = strconv.AppendInt(append(dst, ": "...), value, 10)
		return appendHex(append(dst, " to "...), *location, int(cie.AddressSize))
	}
	colon := ": "
	if has&cfi.OperandRegister != 0 {
		dst = p.names.appendLong(append(dst, colon...), ins.Register)
		colon = " ofs "
	}
	if has&(cfi.OperandUnsigned|cfi.OperandSigned) != 0 {
		switch {
		case ins.Op.Effect() == cfi.EffectCFA:
			dst = strconv.AppendInt(append(dst, colon...), int64(int32(value)), 10)
		case ins.Op.Base() == cfi.CFAValOffset:
			dst = appendSigned(append(dst, " is cfa"...), value)
		case ins.Op.Effect() == cfi.EffectRegister:
			dst = appendSigned(append(dst, " at cfa"...), value)
		default:
			dst = strconv.AppendInt(append(dst, colon...), value, 10)
		}
	}
	switch {
	case has&cfi.OperandRegister2 != 0:
		dst = p.names.appendLong(append(dst, " in "...), ins.Register2)
	case has&cfi.OperandSpace != 0:
		// readelf 2.40 does not know these: the form is llvm-dwarfdump's.
		dst = strconv.AppendUint(append(dst, " in addrspace"...), ins.Register2, 10)
	case has&cfi.OperandExpression != 0:
		dst = p.expression(append(dst, ' '), ins)
	}
	return dst
}
