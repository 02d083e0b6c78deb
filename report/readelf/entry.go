// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"fmt"
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
)

// entry prints one entry of the section.
func (p *printer) entry(e cfi.Entry) error {
	p.reserve()
	switch {
	case e.CIE != nil && p.mode == Raw:
		cie := e.CIE
		p.cieFields(cie)
		return p.instructions(cie, cie.Decode(), 0)
	case e.CIE != nil:
		p.cieLine(e.CIE)
		return p.cieRows(e.CIE)
	case e.FDE != nil && p.mode == Raw:
		f := e.FDE
		p.fdeLine(f)
		if len(f.AugmentationData) > 0 {
			p.augmentationData(f.AugmentationData)
		}
		return p.instructions(f.CIE, f.Decode(), f.Start)
	case e.FDE != nil:
		p.fdeLine(e.FDE)
		return p.fdeRows(e.FDE)
	}
	return nil
}

// head appends the common start of the first lines of CIEs and FDEs. id is the stored CIE id
// or CIE pointer.
func (p *printer) head(dst []byte, offset, size uint64, dwarf64 bool, id uint64, addressSize uint8) []byte {
	dst = appendOffset(append(dst, '\n'), offset)
	idSize := 4
	size -= 4
	if dwarf64 {
		size -= 8
		if p.section.Kind == cfi.DebugFrame {
			idSize = 8
		}
	}
	dst = appendHex(append(dst, ' '), size, int(addressSize))
	return append(appendHex(append(dst, ' '), id, idSize), ' ')
}

// appendOffset appends an offset in the section, with at least eight digits.
func appendOffset(dst []byte, offset uint64) []byte {
	if offset>>32 != 0 {
		return strconv.AppendUint(dst, offset, 16)
	}
	return appendHex(dst, offset, 4)
}

func (p *printer) cieHead(cie *cfi.CIE) []byte {
	var id uint64
	if p.section.Kind == cfi.DebugFrame {
		id = 1<<64 - 1
	}
	return append(p.head(p.buf, cie.Offset, cie.Size, cie.DWARF64, id, cie.AddressSize), "CIE"...)
}

// cieLine prints the line of a CIE above its row.
func (p *printer) cieLine(cie *cfi.CIE) {
	dst := append(p.cieHead(cie), ` "`...)
	dst = append(append(dst, printable.Text(cie.Augmentation)...), `" cf=`...)
	dst = strconv.AppendInt(dst, int64(int32(cie.CodeAlign)), 10)
	dst = strconv.AppendInt(append(dst, " df="...), int64(int32(cie.DataAlign)), 10)
	dst = strconv.AppendInt(append(dst, " ra="...), int64(int32(cie.ReturnAddress)), 10)
	p.buf = append(dst, '\n')
}

// cieFields prints the lines of a CIE above its instructions.
func (p *printer) cieFields(cie *cfi.CIE) {
	dst := append(p.cieHead(cie), "\n  Version:               "...)
	dst = strconv.AppendUint(dst, uint64(cie.Version), 10)
	dst = append(dst, "\n  Augmentation:          \""...)
	dst = append(append(dst, printable.Text(cie.Augmentation)...), '"')
	if cie.Version >= 4 {
		dst = strconv.AppendUint(append(dst, "\n  Pointer Size:          "...), uint64(cie.AddressSize), 10)
		dst = strconv.AppendUint(append(dst, "\n  Segment Size:          "...), uint64(cie.SegmentSize), 10)
	}
	dst = strconv.AppendUint(append(dst, "\n  Code alignment factor: "...), uint64(uint32(cie.CodeAlign)), 10)
	dst = strconv.AppendInt(append(dst, "\n  Data alignment factor: "...), int64(int32(cie.DataAlign)), 10)
	dst = strconv.AppendInt(append(dst, "\n  Return address column: "...), int64(int32(cie.ReturnAddress)), 10)
	p.buf = append(dst, '\n')
	if len(cie.AugmentationData) > 0 {
		p.augmentationData(cie.AugmentationData)
	} else {
		p.buf = append(p.buf, '\n')
	}
}

func (p *printer) augmentationData(data []byte) {
	p.buf = append(p.buf, "  Augmentation data:    "...)
	for _, b := range data {
		p.reserve()
		p.buf = appendHex(append(p.buf, ' '), uint64(b), 1)
	}
	p.buf = append(p.buf, '\n')
}

// fdeLine prints the first line of an FDE.
func (p *printer) fdeLine(f *cfi.FDE) {
	id := f.CIE.Offset
	if p.section.Kind == cfi.EHFrame {
		pointer := f.Offset + 4 // the CIE pointer follows the length
		if f.DWARF64 {
			pointer += 8
		}
		id = pointer - id
	}
	size := int(f.CIE.AddressSize)
	dst := p.head(p.buf, f.Offset, f.Size, f.DWARF64, id, f.CIE.AddressSize)
	dst = appendOffset(append(dst, "FDE cie="...), f.CIE.Offset)
	dst = append(dst, " pc="...)
	if f.CIE.SegmentSize > 0 {
		dst = fmt.Appendf(dst, "%04x:", f.Segment)
	}
	dst = appendHex(dst, f.Start, size)
	dst = appendHex(append(dst, ".."...), f.End, size)
	p.buf = append(dst, '\n')
}

// instructions prints the instructions of an entry. location is the start of the function, or
// 0 for a CIE.
func (p *printer) instructions(cie *cfi.CIE, d cfi.Decoder, location uint64) error {
	var ins cfi.Instruction
	for d.Next(&ins) {
		p.reserve()
		p.buf = append(p.instruction(p.buf, cie, &ins, &location), '\n')
	}
	return d.Err()
}

// instruction appends one instruction and updates the location.
func (p *printer) instruction(dst []byte, cie *cfi.CIE, ins *cfi.Instruction, location *uint64) []byte {
	dst = append(append(dst, "  "...), ins.Op.Name(p.section.Machine)...)
	operands, value := ins.Op.Operands(), ins.Value(cie)
	if ins.Op.Effect() == cfi.EffectLocation {
		if operands&cfi.OperandAddress != 0 {
			*location = uint64(value)
			return appendHex(append(dst, ": "...), *location, int(cie.AddressSize))
		}
		*location += uint64(value)
		dst = strconv.AppendInt(append(dst, ": "...), value, 10)
		return appendHex(append(dst, " to "...), *location, int(cie.AddressSize))
	}
	colon := ": "
	if operands&cfi.OperandRegister != 0 {
		dst = p.names.appendLong(append(dst, colon...), ins.Register)
		colon = " ofs "
	}
	if operands&(cfi.OperandUnsigned|cfi.OperandSigned) != 0 {
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
	case operands&cfi.OperandRegister2 != 0:
		dst = p.names.appendLong(append(dst, " in "...), ins.Register2)
	case operands&cfi.OperandSpace != 0:
		// readelf 2.40 does not know address spaces. This is the form of llvm-dwarfdump.
		dst = strconv.AppendUint(append(dst, " in addrspace"...), ins.Register2, 10)
	case operands&cfi.OperandExpression != 0:
		dst = p.expression(append(dst, ' '), ins)
	}
	return dst
}
