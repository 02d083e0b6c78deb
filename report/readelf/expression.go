// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"errors"
	"strconv"

	"github.com/clewdev/clew/cfi"
)

// maxNesting limits the nesting of expressions (DW_OP_entry_value).
const maxNesting = 8

// expression appends the operations of an instruction's expression, in parentheses.
func (p *printer) expression(dst []byte, ins *cfi.Instruction) []byte {
	size := uint64(len(ins.Expression))
	dst = append(dst, '(')
	dst = p.operations(dst, ins.Offset+ins.Size-size, size, 0)
	return append(dst, ')')
}

// operations appends the operations of the expression of size bytes at an offset of the
// section, up to the first one that readelf does not decode.
func (p *printer) operations(dst []byte, offset, size uint64, depth int) []byte {
	first := true
	for op, err := range p.section.Operations(offset, size) {
		if !first {
			dst = append(dst, "; "...)
		}
		first = false
		if len(dst) >= bufferSize {
			p.buf = dst
			p.flush()
			dst = p.buf
		}
		switch {
		case op.Op == cfi.OpConstx || op.Op == cfi.OpXderefType || errors.Is(err, cfi.ErrExpression): // readelf 2.40 does not know them
			return appendUnknown(dst, op.Op)
		case err != nil:
			p.fault(err)
			return append(dst, op.Op.String()...)
		case shapes[op.Op] == notInFrames:
			dst = append(append(dst, '('), op.Op.String()...)
			return append(dst, " in frame info)"...)
		}
		dst = p.operation(dst, &op, offset, depth)
	}
	return dst
}

// appendUnknown appends the text for an operation without a name. The operations of HP's
// compilers, which readelf names, are unknown here too.
func appendUnknown(dst []byte, op cfi.Op) []byte {
	if op >= opLoUser {
		dst = append(dst, "(User defined location op 0x"...)
	} else {
		dst = append(dst, "(Unknown location op 0x"...)
	}
	return append(strconv.AppendUint(dst, uint64(op), 16), ')')
}

// opLoUser is the first operation that vendors define.
const opLoUser cfi.Op = 0xe0

// shape is the form of the operands after the name of an operation.
type shape uint8

const (
	plain       shape = iota // ""
	unsigned                 // ": 5"
	signed                   // ": -5"
	hexNumber                // ": 5f"
	register                 // " (rsp)", the register in the operation
	base                     // " (rsp): 8", the register in the operation
	index                    // " <0x5f>"
	reference                // ": <0x5f>"
	notInFrames              // a reference to debugging information
	special                  // see specialOperation
)

var shapes = [256]shape{
	cfi.OpAddr: hexNumber, cfi.OpConst1u: unsigned, cfi.OpConst1s: signed, cfi.OpConst2u: unsigned, cfi.OpConst2s: signed,
	cfi.OpConst4u: unsigned, cfi.OpConst4s: signed, cfi.OpConst8u: unsigned, cfi.OpConst8s: signed,
	cfi.OpConstu: unsigned, cfi.OpConsts: signed, cfi.OpPick: unsigned, cfi.OpPlusUconst: unsigned,
	cfi.OpBra: signed, cfi.OpSkip: signed, cfi.OpRegx: special, cfi.OpBregx: special, cfi.OpDerefSize: unsigned,
	cfi.OpXderefSize: unsigned, cfi.OpEncodedAddr: special,
	cfi.OpFbreg: signed, cfi.OpPiece: unsigned, cfi.OpCall2: special, cfi.OpCall4: special, cfi.OpCallRef: notInFrames, cfi.OpBitPiece: special,
	cfi.OpImplicitValue: special, cfi.OpImplicitPointer: notInFrames, cfi.OpAddrx: index, cfi.OpEntryValue: special, cfi.OpConstType: special, cfi.OpRegvalType: special,
	cfi.OpDerefType: special, cfi.OpConvert: index, cfi.OpReinterpret: index, cfi.OpGNUPushTLSAddress: special,
	cfi.OpGNUImplicitPointer: notInFrames, cfi.OpGNUEntryValue: special, cfi.OpGNUConstType: special, cfi.OpGNURegvalType: special, cfi.OpGNUDerefType: special, cfi.OpGNUConvert: index, cfi.OpGNUReinterpret: index,
	cfi.OpGNUParameterRef: reference, cfi.OpGNUAddrIndex: index, cfi.OpGNUConstIndex: index, cfi.OpGNUVariableValue: notInFrames,
}

func init() {
	for i := range cfi.Op(32) {
		shapes[cfi.OpReg0+i], shapes[cfi.OpBreg0+i] = register, base
	}
}

// operation appends one operation of the expression that starts at an offset
// of the section.
func (p *printer) operation(dst []byte, op *cfi.Operation, offset uint64, depth int) []byte {
	dst = append(dst, op.Op.String()...)
	v := op.Operands[0]
	switch shapes[op.Op] {
	case unsigned:
		dst = strconv.AppendUint(append(dst, ": "...), uint64(v), 10)
	case signed:
		dst = strconv.AppendInt(append(dst, ": "...), v, 10)
	case hexNumber:
		dst = strconv.AppendUint(append(dst, ": "...), uint64(v), 16)
	case register:
		dst = p.parenthesised(dst, uint64(op.Op-cfi.OpReg0))
	case base:
		dst = p.parenthesised(dst, uint64(op.Op-cfi.OpBreg0))
		dst = strconv.AppendInt(append(dst, ": "...), v, 10)
	case index:
		dst = appendAngled(append(dst, ' '), uint64(v))
	case reference:
		dst = appendAngled(append(dst, ": "...), uint64(v))
	case special:
		dst = p.specialOperation(dst, op, offset, depth)
	}
	return dst
}

func (p *printer) specialOperation(dst []byte, op *cfi.Operation, offset uint64, depth int) []byte {
	a, b := op.Operands[0], op.Operands[1]
	switch op.Op {
	case cfi.OpRegx:
		dst = strconv.AppendUint(append(dst, ": "...), uint64(a), 10)
		dst = p.parenthesised(dst, uint64(a))
	case cfi.OpBregx:
		dst = strconv.AppendUint(append(dst, ": "...), uint64(a), 10)
		dst = strconv.AppendInt(append(p.parenthesised(dst, uint64(a)), ' '), b, 10)
	case cfi.OpCall2: // readelf treats the offset as signed
		dst = appendAngled(append(dst, ": "...), uint64(int16(a)))
	case cfi.OpCall4:
		dst = appendAngled(append(dst, ": "...), uint64(int32(a)))
	case cfi.OpGNUPushTLSAddress:
		dst = append(dst, " or DW_OP_HP_unknown"...)
	case cfi.OpImplicitValue:
		dst = appendBlock(append(dst, ' '), op.Block)
	case cfi.OpBitPiece:
		dst = strconv.AppendUint(append(dst, ": size: "...), uint64(a), 10)
		dst = append(strconv.AppendUint(append(dst, " offset: "...), uint64(b), 10), ' ')
	case cfi.OpEntryValue, cfi.OpGNUEntryValue:
		dst = append(dst, ": ("...)
		if depth < maxNesting {
			start := offset + op.Offset + op.Size - uint64(len(op.Block))
			dst = p.operations(dst, start, uint64(len(op.Block)), depth+1)
		}
		dst = append(dst, ')')
	case cfi.OpConstType, cfi.OpGNUConstType:
		dst = appendAngled(append(dst, ": "...), uint64(a))
		dst = appendBlock(append(dst, "  "...), op.Block)
	case cfi.OpRegvalType, cfi.OpGNURegvalType:
		dst = strconv.AppendUint(append(dst, ": "...), uint64(a), 10)
		dst = appendAngled(append(p.parenthesised(dst, uint64(a)), ' '), uint64(b))
	case cfi.OpDerefType, cfi.OpGNUDerefType:
		dst = strconv.AppendUint(append(dst, ": "...), uint64(a), 10)
		dst = appendAngled(append(dst, ' '), uint64(b))
	case cfi.OpEncodedAddr:
		dst = appendHex(append(dst, ": fmt:"...), uint64(b), 1)
		dst = appendHex(append(dst, " addr:"...), uint64(a), p.section.Machine.AddressSize)
	}
	return dst
}

// parenthesised appends the name of a column in parentheses.
func (p *printer) parenthesised(dst []byte, column uint64) []byte {
	return append(p.names.appendShort(append(dst, " ("...), column), ')')
}

func appendAngled(dst []byte, v uint64) []byte {
	return append(strconv.AppendUint(append(dst, "<0x"...), v, 16), '>')
}

func appendBlock(dst, block []byte) []byte {
	dst = append(strconv.AppendInt(dst, int64(len(block)), 10), " byte block: "...)
	for _, b := range block {
		dst = append(strconv.AppendUint(dst, uint64(b), 16), ' ')
	}
	return dst
}
