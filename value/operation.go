// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"cmp"
	"math"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/number"
)

// execute applies an operation that does not jump. following are the operations after it.
func (e *evaluator) execute(o *operation, following []operation) error {
	op, n := o.Op, o.Operands[0]
	if e.placed && op != cfi.OpPiece && op != cfi.OpBitPiece && op != cfi.OpGNUUninit && op != cfi.OpNop {
		return refuse("%v after a location", op)
	}
	switch {
	case op >= cfi.OpLit0 && op < cfi.OpReg0:
		return e.push(element{lo: uint64(op - cfi.OpLit0)})
	case op >= cfi.OpReg0 && op < cfi.OpBreg0:
		return e.putRegister(uint64(op - cfi.OpReg0))
	case op >= cfi.OpBreg0 && op < cfi.OpRegx:
		return e.based(uint64(op-cfi.OpBreg0), n)
	}
	switch op {
	case cfi.OpAddr:
		// The operand for a thread-local variable is an offset, to which no bias is added.
		if len(following) > 0 && (following[0].Op == cfi.OpFormTLSAddress || following[0].Op == cfi.OpGNUPushTLSAddress) {
			return e.push(element{lo: uint64(n)})
		}
		return e.pushAddress(uint64(n) + e.frame.Bias())
	case cfi.OpAddrx, cfi.OpGNUAddrIndex, cfi.OpConstx, cfi.OpGNUConstIndex:
		return e.indexed(op, uint64(n))
	case cfi.OpConst1u, cfi.OpConst1s, cfi.OpConst2u, cfi.OpConst2s, cfi.OpConst4u, cfi.OpConst4s,
		cfi.OpConst8u, cfi.OpConst8s, cfi.OpConstu, cfi.OpConsts:
		return e.push(element{lo: uint64(n)})
	case cfi.OpRegx:
		return e.putRegister(uint64(n))
	case cfi.OpBregx:
		return e.based(uint64(n), o.Operands[1])
	case cfi.OpFbreg:
		base, err := e.frameBase()
		if err != nil {
			return err
		}
		return e.pushAddress(base + uint64(n))
	case cfi.OpCallFrameCFA:
		cfa, ok := e.frame.CFA()
		if !ok {
			return errUnknownInFrame
		}
		return e.pushAddress(cfa)
	case cfi.OpPushObject:
		if !e.hasObject {
			return refuse("%v without an object", op)
		}
		return e.pushAddress(e.object)
	case cfi.OpFormTLSAddress, cfi.OpGNUPushTLSAddress:
		return e.threadAddress()
	case cfi.OpPiece:
		return e.piece(bitsOf(uint64(n)), 0)
	case cfi.OpBitPiece:
		return e.piece(uint64(n), uint64(o.Operands[1]))
	case cfi.OpImplicitValue:
		return e.put(Piece{Kind: InBytes, Bytes: o.Block})
	case cfi.OpStackValue:
		return e.put(Piece{Kind: InBytes, Bytes: e.toBytes(e.pop()), number: true})
	case cfi.OpImplicitPointer, cfi.OpGNUImplicitPointer:
		return e.put(Piece{Kind: ImplicitPointer, entry: e.reference(n), offset: o.Operands[1], info: e.info, body: e.body})
	case cfi.OpEntryValue, cfi.OpGNUEntryValue:
		return e.entryValue(o)
	case cfi.OpGNUParameterRef:
		return e.parameterRef(e.unit.Start + object.DebugOffset(n))
	case cfi.OpCall2, cfi.OpCall4:
		return e.call(e.unit.Start + object.DebugOffset(n))
	case cfi.OpCallRef:
		return e.call(e.reference(n))
	case cfi.OpGNUVariableValue:
		v, err := e.variableNumber(e.reference(n), e.body)
		if err != nil {
			return err
		}
		return e.push(element{lo: v})
	case cfi.OpConstType, cfi.OpGNUConstType, cfi.OpRegvalType, cfi.OpGNURegvalType, cfi.OpDerefType, cfi.OpGNUDerefType,
		cfi.OpConvert, cfi.OpGNUConvert, cfi.OpReinterpret, cfi.OpGNUReinterpret:
		return e.typed(o)
	case cfi.OpNop, cfi.OpGNUUninit:
		return nil
	}
	return e.arithmetic(op, n)
}

// reference returns the entry at an offset of the section that contains the expression's unit.
func (e *evaluator) reference(n int64) object.DebugOffset {
	return e.info.entries.Reference(e.unit, uint64(n))
}

// put sets the location to a place that is not an address.
func (e *evaluator) put(p Piece) error {
	e.place, e.placed = p, true
	return e.err
}

// putRegister sets the location to a register, or to the value that it had at a tail call.
func (e *evaluator) putRegister(column uint64) error {
	_, known := e.frame.Register(column)
	if !known {
		_, known = e.frame.RegisterBytes(column)
	}
	if !known {
		if v, ok := e.atJump(column); ok {
			return e.put(Piece{Kind: InBytes, Bytes: e.number8(v), number: true})
		}
	}
	return e.put(Piece{Kind: InRegister, Column: column})
}

func (e *evaluator) based(column uint64, offset int64) error {
	v, err := e.register(column)
	if err != nil {
		return err
	}
	return e.pushAddress(v + uint64(offset))
}

// piece ends the description of a part of the value (DWARF 5 §2.6.1.2). size and offset are in
// bits.
func (e *evaluator) piece(size, offset uint64) error {
	if len(e.pieces) == maxPieces || size > 1<<40 || offset > 1<<40 {
		return refuse("piece %d of %d bits at bit %d", len(e.pieces), size, offset)
	}
	p := e.simple()
	p.BitSize, p.BitOffset = size, offset
	e.pieces = append(e.pieces, p)
	return nil
}

func (e *evaluator) indexed(op cfi.Op, n uint64) error {
	var a uint64
	err := e.info.locked(func() (err error) {
		a, err = e.info.entries.IndexedAddress(e.unit, n)
		return err
	})
	if op == cfi.OpAddrx || op == cfi.OpGNUAddrIndex {
		a += e.frame.Bias()
		e.isAddress = true
	}
	if err != nil {
		return err
	}
	return e.push(element{lo: a})
}

func (e *evaluator) threadAddress() error {
	v := e.pop()
	storage, ok := e.frame.(ThreadStorage)
	if e.err != nil || !ok {
		return cmp.Or(e.err, errNoThreadStorage)
	}
	a, err := storage.ThreadAddress(v.lo)
	if err != nil {
		return err
	}
	return e.pushAddress(a)
}

// frameBase evaluates DW_AT_frame_base of the function (DWARF 5 §3.3.5).
func (e *evaluator) frameBase() (uint64, error) {
	if e.body == nil {
		return 0, refuse("DW_OP_fbreg outside of a function")
	}
	if base, ok := e.body.simpleBase(e.frame); ok {
		return base, nil
	}
	inner := e.within(e.info, e.body.unit, e.body, e.frame)
	defer inner.release()
	p, err := inner.expression(&e.body.frameBase)
	switch {
	case err != nil:
		return 0, err
	case p == nil:
		return 0, refuse("DW_OP_fbreg without a frame base")
	}
	v, err := inner.number(p)
	return v.lo, err
}

// typed applies an operation on typed values (DWARF 5 §2.5.1).
func (e *evaluator) typed(o *operation) error {
	operand := o.Operands[0]
	switch o.Op {
	case cfi.OpRegvalType, cfi.OpGNURegvalType, cfi.OpDerefType, cfi.OpGNUDerefType:
		operand = o.Operands[1]
	}
	t, err := e.baseType(uint64(operand))
	if err != nil {
		return err
	}
	size := uint64(e.info.machine.AddressSize)
	if t != nil {
		size = t.size
	}
	switch o.Op {
	case cfi.OpConstType, cfi.OpGNUConstType:
		if uint64(len(o.Block)) != size {
			return refuse("%v: %d bytes for a type of %d", o.Op, len(o.Block), size)
		}
		return e.push(e.fromBytes(o.Block, t))
	case cfi.OpRegvalType, cfi.OpGNURegvalType:
		column := uint64(o.Operands[0])
		if b, ok := e.frame.RegisterBytes(column); ok && uint64(len(b)) >= size {
			return e.push(e.fromBytes(number.Low(e.info.machine, b, int(size)), t))
		} else if ok && len(b) == 10 && size == 16 && t.kind == Float {
			return e.push(e.fromBytes(append(slices.Clone(b), make([]byte, 6)...), t)) // long double has padding
		}
		v, err := e.register(column)
		if err != nil {
			return err
		}
		if size > 8 {
			return refuse("%v: %d bytes of a register", o.Op, size)
		}
		v = registerValue(e.info.machine, column, v, 8*size, t != nil && t.kind == Float)
		return e.push(element{lo: v & (^uint64(0) >> (64 - 8*size)), typ: t})
	case cfi.OpDerefType, cfi.OpGNUDerefType:
		v := e.pop()
		if e.err != nil {
			return e.err
		}
		b, err := e.memory(v.lo, uint64(o.Operands[0]))
		if err != nil {
			return err
		}
		return e.push(e.fromBytes(b, t))
	}
	v := e.pop()
	if o.Op == cfi.OpConvert || o.Op == cfi.OpGNUConvert {
		for _, t := range []*Type{v.typ, t} {
			if t != nil && t.kind == Float && t.size != 4 && t.size != 8 {
				return refuse("%v of a floating-point number of %d bytes", o.Op, t.size)
			}
		}
		return e.push(e.convert(v, t))
	}
	v.typ = t
	return e.push(v)
}

// convert returns a value as a value of another base type.
func (e *evaluator) convert(v element, t *Type) element {
	toFloat, fromFloat := t != nil && t.kind == Float, v.typ != nil && v.typ.kind == Float
	switch {
	case fromFloat && toFloat:
		return fromFloat64(floatOf(v), t)
	case fromFloat:
		f := floatOf(v)
		if f < 0 {
			return element{lo: uint64(int64(f)), typ: t}
		}
		return element{lo: uint64(f), typ: t}
	case toFloat:
		n := e.extended(v)
		if v.typ != nil && v.typ.signed {
			return fromFloat64(float64(int64(n)), t)
		}
		return fromFloat64(float64(n), t)
	}
	n := e.extended(v)
	hi := uint64(0)
	if t != nil && t.size > 8 {
		if v.typ != nil && v.typ.size > 8 {
			hi = v.hi
		} else if v.typ != nil && v.typ.signed && int64(n) < 0 {
			hi = ^hi
		}
	}
	if t != nil && t.size < 8 {
		n &= 1<<(8*t.size) - 1
	}
	return element{lo: n, hi: hi, typ: t}
}

// extended returns the low 64 bits of an integer, sign-extended if its type is signed.
func (e *evaluator) extended(v element) uint64 {
	if v.typ == nil || v.typ.size >= 8 {
		return v.lo
	}
	if v.typ.signed {
		return number.SignExtend(v.lo, 8*v.typ.size)
	}
	return v.lo & (1<<(8*v.typ.size) - 1)
}

func floatOf(v element) float64 {
	if v.typ.size == 4 {
		return float64(math.Float32frombits(uint32(v.lo)))
	}
	return math.Float64frombits(v.lo)
}

func fromFloat64(f float64, t *Type) element {
	if t.size == 4 {
		return element{lo: uint64(math.Float32bits(float32(f))), typ: t}
	}
	return element{lo: math.Float64bits(f), typ: t}
}

func (e *evaluator) fromBytes(b []byte, t *Type) element {
	m := e.info.machine
	v := element{lo: number.Uint(m.Order, number.Low(m, b, 8)), typ: t}
	if len(b) > 8 {
		high := b[8:]
		if number.IsBigEndian(m) {
			high = b[:len(b)-8]
		}
		v.hi = number.Uint(m.Order, number.Low(m, high, 8))
	}
	return v
}

// toBytes returns 16 bytes of an element, sign-extended if its type is signed.
func (e *evaluator) toBytes(v element) []byte {
	m := e.info.machine
	if v.typ == nil {
		// As in gdb, the generic type is signed when it is widened.
		if v.lo = number.SignExtend(v.lo, 8*uint64(m.AddressSize)); int64(v.lo) < 0 {
			v.hi = ^uint64(0)
		}
	} else if size := v.typ.size; size <= 8 {
		v.hi = 0
		if size < 8 {
			v.lo &= 1<<(8*size) - 1
		}
		if v.typ.signed {
			if v.lo = number.SignExtend(v.lo, 8*size); int64(v.lo) < 0 {
				v.hi = ^uint64(0)
			}
		}
	} else if size < 16 {
		v.hi &= 1<<(8*(size-8)) - 1
		if v.typ.signed {
			v.hi = number.SignExtend(v.hi, 8*(size-8))
		}
	}
	b := e.wordBuffer()
	low, high := b[:8], b[8:]
	if number.IsBigEndian(m) {
		low, high = high, low
	}
	number.PutUint(m.Order, low, v.lo)
	number.PutUint(m.Order, high, v.hi)
	return b
}

// baseType returns the base type at an offset of the unit. Offset 0 is the generic type, for
// which it returns nil.
func (e *evaluator) baseType(offset uint64) (t *Type, err error) {
	if offset == 0 {
		return nil, nil
	}
	err = e.info.locked(func() error {
		t = e.info.typeAt(e.unit.Start + object.DebugOffset(offset))
		return nil
	})
	if err == nil && (t.kind != Int && t.kind != Char && t.kind != Bool && t.kind != Float || t.size == 0 || t.size > 16) {
		err = refuse("type at %#x is not a base type", offset)
	}
	return t, err
}
