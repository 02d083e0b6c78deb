// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"fmt"
	"iter"
	"strconv"
)

// Op is an operation of a DWARF expression, DW_OP_* (DWARF 5 §2.5.1, §7.7.1).
type Op uint8

// The operations that the evaluator executes. OpLit0, OpReg0 and OpBreg0 are the first of a
// group.
const (
	OpAddr        Op = 0x03
	OpDeref       Op = 0x06
	OpConst1u     Op = 0x08
	OpConst1s     Op = 0x09
	OpConst2u     Op = 0x0a
	OpConst2s     Op = 0x0b
	OpConst4u     Op = 0x0c
	OpConst4s     Op = 0x0d
	OpConst8u     Op = 0x0e
	OpConst8s     Op = 0x0f
	OpConstu      Op = 0x10
	OpConsts      Op = 0x11
	OpDup         Op = 0x12
	OpDrop        Op = 0x13
	OpOver        Op = 0x14
	OpPick        Op = 0x15
	OpSwap        Op = 0x16
	OpRot         Op = 0x17
	OpXderef      Op = 0x18
	OpAbs         Op = 0x19
	OpAnd         Op = 0x1a
	OpDiv         Op = 0x1b
	OpMinus       Op = 0x1c
	OpMod         Op = 0x1d
	OpMul         Op = 0x1e
	OpNeg         Op = 0x1f
	OpNot         Op = 0x20
	OpOr          Op = 0x21
	OpPlus        Op = 0x22
	OpPlusUconst  Op = 0x23
	OpShl         Op = 0x24
	OpShr         Op = 0x25
	OpShra        Op = 0x26
	OpXor         Op = 0x27
	OpBra         Op = 0x28
	OpEq          Op = 0x29
	OpGe          Op = 0x2a
	OpGt          Op = 0x2b
	OpLe          Op = 0x2c
	OpLt          Op = 0x2d
	OpNe          Op = 0x2e
	OpSkip        Op = 0x2f
	OpLit0        Op = 0x30 // to 0x4f
	OpReg0        Op = 0x50 // to 0x6f
	OpBreg0       Op = 0x70 // to 0x8f
	OpRegx        Op = 0x90
	OpBregx       Op = 0x92
	OpDerefSize   Op = 0x94
	OpXderefSize  Op = 0x95
	OpNop         Op = 0x96
	OpEncodedAddr Op = 0xf1 // DW_OP_GNU_encoded_addr
)

// The operations for locations of variables and for typed values, and GNU's. Rules of a frame
// cannot use them, because they need a compile unit, a location, or another frame (DWARF 5
// §6.4.2).
const (
	OpFbreg              Op = 0x91
	OpPiece              Op = 0x93
	OpPushObject         Op = 0x97
	OpCall2              Op = 0x98
	OpCall4              Op = 0x99
	OpCallRef            Op = 0x9a
	OpFormTLSAddress     Op = 0x9b
	OpCallFrameCFA       Op = 0x9c
	OpBitPiece           Op = 0x9d
	OpImplicitValue      Op = 0x9e
	OpStackValue         Op = 0x9f
	OpImplicitPointer    Op = 0xa0
	OpAddrx              Op = 0xa1
	OpConstx             Op = 0xa2
	OpEntryValue         Op = 0xa3
	OpConstType          Op = 0xa4
	OpRegvalType         Op = 0xa5
	OpDerefType          Op = 0xa6
	OpXderefType         Op = 0xa7
	OpConvert            Op = 0xa8
	OpReinterpret        Op = 0xa9
	OpGNUPushTLSAddress  Op = 0xe0
	OpGNUUninit          Op = 0xf0
	OpGNUImplicitPointer Op = 0xf2
	OpGNUEntryValue      Op = 0xf3
	OpGNUConstType       Op = 0xf4
	OpGNURegvalType      Op = 0xf5
	OpGNUDerefType       Op = 0xf6
	OpGNUConvert         Op = 0xf7
	OpGNUReinterpret     Op = 0xf9
	OpGNUParameterRef    Op = 0xfa
	OpGNUAddrIndex       Op = 0xfb
	OpGNUConstIndex      Op = 0xfc
	OpGNUVariableValue   Op = 0xfd
)

// opOperand is the form of one operand of an operation.
type opOperand uint8

const (
	noOperand opOperand = iota
	operandAddr
	operandU1
	operandS1
	operandU2
	operandS2
	operandU4
	operandS4
	operandU8
	operandS8
	operandULEB
	operandSLEB
	operandBlock   // a ULEB128 length and the bytes
	operandBlock1  // a one-byte length and the bytes
	operandOffset  // a reference into .debug_info, 4 or 8 bytes
	operandPointer // a DW_EH_PE byte and a pointer
)

type opShape struct {
	name     string
	operands [2]opOperand
}

// opShapes are the shapes of operations. Only the first operation of a group has one.
var opShapes = [256]opShape{
	// Without operands.
	OpDeref: {name: "DW_OP_deref"}, OpDup: {name: "DW_OP_dup"}, OpDrop: {name: "DW_OP_drop"},
	OpOver: {name: "DW_OP_over"}, OpSwap: {name: "DW_OP_swap"}, OpRot: {name: "DW_OP_rot"},
	OpXderef: {name: "DW_OP_xderef"}, OpAbs: {name: "DW_OP_abs"}, OpAnd: {name: "DW_OP_and"},
	OpDiv: {name: "DW_OP_div"}, OpMinus: {name: "DW_OP_minus"}, OpMod: {name: "DW_OP_mod"}, OpMul: {name: "DW_OP_mul"},
	OpNeg: {name: "DW_OP_neg"}, OpNot: {name: "DW_OP_not"}, OpOr: {name: "DW_OP_or"}, OpPlus: {name: "DW_OP_plus"},
	OpShl: {name: "DW_OP_shl"}, OpShr: {name: "DW_OP_shr"}, OpShra: {name: "DW_OP_shra"}, OpXor: {name: "DW_OP_xor"},
	OpEq: {name: "DW_OP_eq"}, OpGe: {name: "DW_OP_ge"}, OpGt: {name: "DW_OP_gt"}, OpLe: {name: "DW_OP_le"},
	OpLt: {name: "DW_OP_lt"}, OpNe: {name: "DW_OP_ne"}, OpNop: {name: "DW_OP_nop"}, OpLit0: {name: "DW_OP_lit"},
	OpReg0: {name: "DW_OP_reg"}, OpPushObject: {name: "DW_OP_push_object_address"},
	OpFormTLSAddress: {name: "DW_OP_form_tls_address"}, OpCallFrameCFA: {name: "DW_OP_call_frame_cfa"},
	OpStackValue: {name: "DW_OP_stack_value"}, OpGNUPushTLSAddress: {name: "DW_OP_GNU_push_tls_address"},
	OpGNUUninit: {name: "DW_OP_GNU_uninit"},

	OpAddr:               {"DW_OP_addr", [2]opOperand{operandAddr}},
	OpConst1u:            {"DW_OP_const1u", [2]opOperand{operandU1}},
	OpConst1s:            {"DW_OP_const1s", [2]opOperand{operandS1}},
	OpConst2u:            {"DW_OP_const2u", [2]opOperand{operandU2}},
	OpConst2s:            {"DW_OP_const2s", [2]opOperand{operandS2}},
	OpConst4u:            {"DW_OP_const4u", [2]opOperand{operandU4}},
	OpConst4s:            {"DW_OP_const4s", [2]opOperand{operandS4}},
	OpConst8u:            {"DW_OP_const8u", [2]opOperand{operandU8}},
	OpConst8s:            {"DW_OP_const8s", [2]opOperand{operandS8}},
	OpConstu:             {"DW_OP_constu", [2]opOperand{operandULEB}},
	OpConsts:             {"DW_OP_consts", [2]opOperand{operandSLEB}},
	OpPick:               {"DW_OP_pick", [2]opOperand{operandU1}},
	OpPlusUconst:         {"DW_OP_plus_uconst", [2]opOperand{operandULEB}},
	OpBra:                {"DW_OP_bra", [2]opOperand{operandS2}},
	OpSkip:               {"DW_OP_skip", [2]opOperand{operandS2}},
	OpRegx:               {"DW_OP_regx", [2]opOperand{operandULEB}},
	OpBregx:              {"DW_OP_bregx", [2]opOperand{operandULEB, operandSLEB}},
	OpDerefSize:          {"DW_OP_deref_size", [2]opOperand{operandU1}},
	OpXderefSize:         {"DW_OP_xderef_size", [2]opOperand{operandU1}},
	OpBreg0:              {"DW_OP_breg", [2]opOperand{operandSLEB}},
	OpFbreg:              {"DW_OP_fbreg", [2]opOperand{operandSLEB}},
	OpPiece:              {"DW_OP_piece", [2]opOperand{operandULEB}},
	OpCall2:              {"DW_OP_call2", [2]opOperand{operandU2}},
	OpCall4:              {"DW_OP_call4", [2]opOperand{operandU4}},
	OpCallRef:            {"DW_OP_call_ref", [2]opOperand{operandOffset}},
	OpBitPiece:           {"DW_OP_bit_piece", [2]opOperand{operandULEB, operandULEB}},
	OpImplicitValue:      {"DW_OP_implicit_value", [2]opOperand{operandBlock}},
	OpImplicitPointer:    {"DW_OP_implicit_pointer", [2]opOperand{operandOffset, operandSLEB}},
	OpAddrx:              {"DW_OP_addrx", [2]opOperand{operandULEB}},
	OpConstx:             {"DW_OP_constx", [2]opOperand{operandULEB}},
	OpEntryValue:         {"DW_OP_entry_value", [2]opOperand{operandBlock}},
	OpConstType:          {"DW_OP_const_type", [2]opOperand{operandULEB, operandBlock1}},
	OpRegvalType:         {"DW_OP_regval_type", [2]opOperand{operandULEB, operandULEB}},
	OpDerefType:          {"DW_OP_deref_type", [2]opOperand{operandU1, operandULEB}},
	OpXderefType:         {"DW_OP_xderef_type", [2]opOperand{operandU1, operandULEB}},
	OpConvert:            {"DW_OP_convert", [2]opOperand{operandULEB}},
	OpReinterpret:        {"DW_OP_reinterpret", [2]opOperand{operandULEB}},
	OpGNUImplicitPointer: {"DW_OP_GNU_implicit_pointer", [2]opOperand{operandOffset, operandSLEB}},
	OpGNUEntryValue:      {"DW_OP_GNU_entry_value", [2]opOperand{operandBlock}},
	OpGNUConstType:       {"DW_OP_GNU_const_type", [2]opOperand{operandULEB, operandBlock1}},
	OpGNURegvalType:      {"DW_OP_GNU_regval_type", [2]opOperand{operandULEB, operandULEB}},
	OpGNUDerefType:       {"DW_OP_GNU_deref_type", [2]opOperand{operandU1, operandULEB}},
	OpGNUConvert:         {"DW_OP_GNU_convert", [2]opOperand{operandULEB}},
	OpGNUReinterpret:     {"DW_OP_GNU_reinterpret", [2]opOperand{operandULEB}},
	OpGNUParameterRef:    {"DW_OP_GNU_parameter_ref", [2]opOperand{operandU4}},
	OpGNUAddrIndex:       {"DW_OP_GNU_addr_index", [2]opOperand{operandULEB}},
	OpGNUConstIndex:      {"DW_OP_GNU_const_index", [2]opOperand{operandULEB}},
	OpGNUVariableValue:   {"DW_OP_GNU_variable_value", [2]opOperand{operandOffset}},
	OpEncodedAddr:        {"DW_OP_GNU_encoded_addr", [2]opOperand{operandPointer}},
}

// group returns the first operation of the group with the same operands, and the number in
// the group: DW_OP_lit3 is number 3 of 32 from DW_OP_lit0 on.
func (o Op) group() (first Op, n int) {
	if o < OpLit0 || o >= OpBreg0+32 {
		return o, 0
	}
	n = int(o-OpLit0) % 32
	return o - Op(n), n
}

// String returns the operation's DW_OP_ name.
func (o Op) String() string {
	switch first, n := o.group(); {
	case opShapes[first].name == "":
		return fmt.Sprintf("DW_OP_%#02x", uint8(o))
	case first == OpLit0 || first == OpReg0 || first == OpBreg0:
		return opShapes[first].name + strconv.Itoa(n)
	default:
		return opShapes[first].name
	}
}

// Operands returns the number of Operation.Operands that the operation uses.
func (o Op) Operands() (n int) {
	first, _ := o.group()
	for _, form := range opShapes[first].operands {
		if form != noOperand && form != operandBlock && form != operandBlock1 {
			n++
		}
	}
	return n
}

// Operation is one operation of an expression.
type Operation struct {
	Op       Op
	Offset   uint64   // from the start of the expression, in bytes
	Size     uint64   // in bytes
	Operands [2]int64 // see Op.Operands; for DW_OP_GNU_encoded_addr: the address and its Encoding
	Block    []byte   // of operations with a block; aliases the section
}

// Operations yields the operations of the expression of size bytes at an offset of the section.
// It ends with an error at an operation that cannot be decoded.
func (s *Section) Operations(offset, size uint64) iter.Seq2[Operation, error] {
	return func(yield func(Operation, error) bool) {
		c := s.expression(offset, size)
		for c.Off < c.End || c.Err != nil {
			var o Operation
			if c.operation(&o); c.Err != nil {
				yield(o, c.Err)
				return
			}
			o.Offset, o.Size = o.Offset-offset, c.Off-o.Offset
			if !yield(o, nil) {
				return
			}
		}
	}
}

// expression returns a cursor over an expression.
func (s *Section) expression(offset, size uint64) cursor {
	c := s.cursor(offset, uint64(len(s.Data)))
	if offset > c.End || size > c.End-offset {
		c.Off = min(offset, c.End)
		c.fail(ErrTruncated, "an expression of %#x bytes at %#x, but the section has %#x", size, offset, len(s.Data))
		return c
	}
	c.End = offset + size
	return c
}

// operation decodes the next operation.
func (c *cursor) operation(o *Operation) {
	if c.Err != nil {
		return
	}
	*o = Operation{Offset: c.Off}
	o.Op = Op(c.Uint8())
	first, _ := o.Op.group()
	shape := &opShapes[first]
	if shape.name == "" {
		c.Off = o.Offset
		c.fail(ErrExpression, "unknown operation %#02x", uint8(o.Op))
		return
	}
	for i, operand := range shape.operands {
		switch operand {
		case noOperand:
			return
		case operandAddr:
			o.Operands[i] = int64(c.Uint(c.width))
		case operandU1:
			o.Operands[i] = int64(c.Uint8())
		case operandS1:
			o.Operands[i] = int64(int8(c.Uint8()))
		case operandU2:
			o.Operands[i] = int64(c.Uint(2))
		case operandS2:
			o.Operands[i] = c.Int(2)
		case operandU4, operandOffset:
			o.Operands[i] = int64(c.Uint(4))
		case operandS4:
			o.Operands[i] = c.Int(4)
		case operandU8, operandS8:
			o.Operands[i] = c.Int(8)
		case operandULEB:
			o.Operands[i] = int64(c.ULEB128())
		case operandSLEB:
			o.Operands[i] = c.SLEB128()
		case operandBlock:
			o.Block = c.Bytes(c.ULEB128())
		case operandBlock1:
			o.Block = c.Bytes(uint64(c.Uint8()))
		case operandPointer:
			e := Encoding(c.Uint8())
			p := c.pointer(e, 0, false)
			o.Operands = [2]int64{int64(p.Address), int64(e)}
			if p.Indirect && c.Err == nil {
				o.Operands[i] = int64(c.s.follow(c, p.Address))
			}
		}
	}
}
