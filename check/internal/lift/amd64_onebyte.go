// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package lift

import (
	"encoding/binary"
	"math/bits"
)

// oneByte decodes the opcodes of the first map (Intel SDM volume 2, table A-2).
func (d *amd64Decoder) oneByte() {
	switch op := d.Opcode; {
	case op < 0x40:
		d.arithmetic(op>>3, op&7)
	case op >= 0x50 && op <= 0x57:
		d.out.KeepsFlags = true
		d.push(d.numbered(op & 7))
	case op >= 0x58 && op <= 0x5f:
		d.out.KeepsFlags = true
		d.pop(d.numbered(op & 7))
	case op == 0x63: // movslq
		d.out.KeepsFlags = true
		d.extend(4)
	case op == 0x68, op == 0x6a:
		d.push(NoRegister)
	case op == 0x69, op == 0x6b:
		d.clobber(d.reg())
	case op >= 0x6c && op <= 0x6f, op >= 0xa4 && op <= 0xa7, op >= 0xaa && op <= 0xaf:
		d.clobber(amd64RSI)
		d.clobber(amd64RDI)
		d.clobber(amd64RCX)
		if op == 0xac || op == 0xad {
			d.clobber(amd64RAX)
		}
	case op >= 0x70 && op <= 0x7f:
		d.branch(op & 15)
	case op >= 0x80 && op <= 0x83:
		d.groupOne()
	case op == 0x84, op == 0x85, op == 0xa8, op == 0xa9:
	case op == 0x86:
		d.clobber(d.byteReg())
		d.writtenByte()
	case op == 0x87:
		d.exchange()
	case op >= 0x88 && op <= 0x8d, op >= 0xa0 && op <= 0xa3, op >= 0xb0 && op <= 0xbf, op == 0xc6, op == 0xc7:
		d.out.KeepsFlags = true
		d.move()
	default:
		d.upperHalf()
	}
}

// upperHalf decodes the opcodes from 8f on.
func (d *amd64Decoder) upperHalf() {
	switch op := d.Opcode; {
	case op == 0x8f:
		d.emit(Operation{Op: OpLoad, To: Scratch, From: amd64RSP})
		d.emit(Operation{Op: OpCopy, To: amd64RSP, From: amd64RSP, Offset: 8})
		if d.registerOperand() {
			d.emit(Operation{Op: OpCopy, To: d.rm(), From: Scratch})
		} else {
			d.store(Scratch, 8)
		}
	case op >= 0x90 && op <= 0x97:
		if r := d.numbered(op & 7); r != amd64RAX && d.Wide {
			d.swap(amd64RAX, r)
		} else if r != amd64RAX {
			d.clobber(amd64RAX)
			d.clobber(r)
		} else {
			d.out.Padding, d.out.KeepsFlags = true, true
		}
	case op == 0x98:
		d.out.KeepsFlags = true
		d.emit(Operation{Op: OpExtend, To: amd64RAX, From: amd64RAX, Size: 4, Signed: true})
	case op == 0x99:
		d.out.KeepsFlags = true
		d.clobber(amd64RDX)
	case op == 0x9c:
		d.push(NoRegister)
	case op == 0x9d:
		d.emit(Operation{Op: OpCopy, To: amd64RSP, From: amd64RSP, Offset: d.stackUnit()})
	case op == 0x9f, op == 0xd7, op == 0xe4, op == 0xe5, op == 0xec, op == 0xed:
		d.clobber(amd64RAX)
	case op == 0xc0, op == 0xd0, op == 0xd2:
		d.writtenByte()
	case op == 0xc1, op == 0xd1, op == 0xd3:
		d.written()
	case op == 0xc8:
		d.enter()
	case op == 0xc9:
		d.emit(Operation{Op: OpCopy, To: amd64RSP, From: amd64RBP})
		d.emit(Operation{Op: OpLoad, To: amd64RBP, From: amd64RSP})
		d.emit(Operation{Op: OpCopy, To: amd64RSP, From: amd64RSP, Offset: 8})
	case op == 0xf6, op == 0xf7:
		d.groupThree()
	case op == 0xfe, op == 0xff && d.extension() < 2:
		d.increment()
	case op >= 0xd8 && op <= 0xdf:
		d.x87()
	default:
		d.control()
	}
}

func (d *amd64Decoder) stackUnit() int64 {
	if d.Operand16 {
		return 2
	}
	return 8
}

func (d *amd64Decoder) enter() {
	size := int64(binary.LittleEndian.Uint16(d.Code[d.Immediate:]))
	d.push(amd64RBP)
	if d.Code[d.Immediate+2]&31 != 0 {
		d.clobber(amd64RSP)
		d.clobber(amd64RBP)
		return
	}
	d.emit(Operation{Op: OpCopy, To: amd64RBP, From: amd64RSP})
	d.emit(Operation{Op: OpCopy, To: amd64RSP, From: amd64RSP, Offset: -size})
}

// arithmetic decodes add, or, adc, sbb, and, sub, xor and cmp with two operands, and with
// eax and an immediate.
func (d *amd64Decoder) arithmetic(kind, form byte) {
	const add, and, sub, cmp = 0, 4, 5, 7
	if form >= 4 {
		if kind == cmp {
			d.compareImmediate(amd64RAX, form == 4)
			return
		}
		d.clobber(amd64RAX)
		return
	}
	memory := !d.registerOperand()
	if kind == cmp {
		if form&1 == 1 && d.Wide && !memory {
			d.out.Compare, d.out.Left, d.out.Right = true, d.rm(), d.reg()
		}
		return
	}
	if form&1 == 0 {
		if form == 2 {
			d.clobber(d.byteReg())
		} else {
			d.writtenByte()
		}
		return
	}
	to, from := d.rm(), d.reg()
	if form == 3 {
		to, from = from, to
		if memory {
			d.clobber(to)
			return
		}
	}
	switch {
	case memory:
		d.written()
	case kind == add && d.Wide:
		d.emit(Operation{Op: OpSum, To: to, From: to, Index: from})
	case kind == sub && d.Wide:
		d.emit(Operation{Op: OpDifference, To: to, From: to, Index: from})
	case kind == and && d.Wide:
		d.emit(Operation{Op: OpIndexed, To: to, From: to, Index: from})
	case kind == 6 && to == from: // xor
		d.emit(Operation{Op: OpConstant, To: to})
	default:
		d.clobber(to)
	}
}

// compareImmediate is a cmp of a register and an immediate.
func (d *amd64Decoder) compareImmediate(column uint8, isByte bool) {
	if limit := d.immediate(); limit >= 0 || isByte {
		if isByte {
			limit &= 0xff
		}
		d.out.Compare, d.out.Left, d.out.Right, d.out.Limit = true, column, NoRegister, uint64(limit)
	}
}

// groupOne decodes arithmetic with an immediate.
func (d *amd64Decoder) groupOne() {
	kind := d.extension()
	isByte := d.Opcode == 0x80 || d.Opcode == 0x82
	if kind == 7 {
		if d.registerOperand() && isByte {
			d.compareImmediate(d.byteRM(), true)
		} else if d.registerOperand() {
			d.compareImmediate(d.rm(), false)
		}
		return
	}
	immediate := d.immediate()
	if isByte {
		d.writtenByte()
		return
	}
	if !d.registerOperand() {
		switch {
		case immediate == 0 && (kind == 0 || kind == 1 || kind == 5 || kind == 6):
			// orq $0,(%rsp) probes the stack, and lock addl $0,(%rsp) is a fence: add, or, sub and
			// xor of 0 change nothing.
		default:
			d.written()
		}
		return
	}
	to := d.rm()
	switch {
	case kind == 0 && d.Wide:
		d.emit(Operation{Op: OpCopy, To: to, From: to, Offset: immediate})
	case kind == 5 && d.Wide:
		d.emit(Operation{Op: OpCopy, To: to, From: to, Offset: -immediate})
	case kind == 4 && immediate >= 0:
		d.emit(Operation{Op: OpBound, To: to, From: to, Offset: immediate})
	case kind == 4 && d.Wide && bits.OnesCount64(uint64(-immediate)) == 1:
		d.emit(Operation{Op: OpAlign, To: to, From: to, Offset: immediate})
	default:
		d.clobber(to)
	}
}

func (d *amd64Decoder) groupThree() {
	switch d.extension() {
	case 0, 1: // test
	case 2, 3: // not, neg
		if d.Opcode == 0xf6 {
			d.writtenByte()
		} else {
			d.written()
		}
		d.out.KeepsFlags = d.extension() == 2
	default: // mul, imul, div, idiv
		d.clobber(amd64RAX)
		d.clobber(amd64RDX)
	}
}

func (d *amd64Decoder) increment() {
	if d.Opcode == 0xfe {
		d.writtenByte()
		return
	}
	if !d.registerOperand() || !d.Wide {
		d.written()
		return
	}
	offset := int64(1)
	if d.extension() == 1 {
		offset = -1
	}
	d.emit(Operation{Op: OpCopy, To: d.rm(), From: d.rm(), Offset: offset})
}

func (d *amd64Decoder) exchange() {
	a, b := d.reg(), Scratch
	switch {
	case !d.Wide:
		d.clobber(d.reg())
		d.written()
	case d.registerOperand():
		d.swap(a, d.rm())
	default:
		d.load(uint8(b))
		d.store(a, 8)
		d.emit(Operation{Op: OpCopy, To: a, From: Scratch})
	}
}

func (d *amd64Decoder) swap(a, b uint8) {
	d.emit(Operation{Op: OpCopy, To: Scratch, From: a})
	d.emit(Operation{Op: OpCopy, To: a, From: b})
	d.emit(Operation{Op: OpCopy, To: b, From: Scratch})
}

// move decodes mov and lea.
func (d *amd64Decoder) move() {
	switch op := d.Opcode; {
	case op == 0x88, op == 0xc6:
		d.writtenByte()
	case op == 0x89:
		d.moveTo()
	case op == 0x8a:
		d.clobber(d.byteReg())
	case op == 0x8b:
		d.moveFrom()
	case op == 0x8c:
		d.written()
	case op == 0x8d:
		d.lea()
	case op == 0xa0, op == 0xa1:
		d.clobber(amd64RAX)
	case op >= 0xb0 && op <= 0xb7:
		d.clobber(d.byteColumn(d.numbered(op&7), op&7))
	case op >= 0xb8 && op <= 0xbf:
		d.constant(d.numbered(op & 7))
	case op == 0xc7:
		if d.Relative > 0 { // xbegin: an abort goes to the target
			d.out.Flow, d.out.Target = FlowBranch, d.Target(d.pc)
			d.clobber(amd64RAX)
		} else if d.registerOperand() {
			d.constant(d.rm())
		} else {
			d.written()
		}
	}
}

func (d *amd64Decoder) constant(to uint8) {
	value := d.immediate()
	switch {
	case d.Operand16:
		d.clobber(to)
		return
	case !d.Wide:
		value = int64(uint32(value))
	}
	if value != value<<14>>14 {
		d.clobber(to)
		return
	}
	d.emit(Operation{Op: OpConstant, To: to, Offset: value})
}

// moveTo is mov to ModRM.rm.
func (d *amd64Decoder) moveTo() {
	switch {
	case d.registerOperand() && d.Wide:
		d.emit(Operation{Op: OpCopy, To: d.rm(), From: d.reg()})
	case d.registerOperand() && !d.Operand16:
		d.emit(Operation{Op: OpExtend, To: d.rm(), From: d.reg(), Size: 4, Signed: true})
	case d.registerOperand():
		d.clobber(d.rm())
	case d.Wide:
		d.store(d.reg(), 8)
	default:
		d.written()
	}
}

// moveFrom is mov from ModRM.rm.
func (d *amd64Decoder) moveFrom() {
	switch {
	case d.registerOperand() && d.Wide:
		d.emit(Operation{Op: OpCopy, To: d.reg(), From: d.rm()})
	case d.registerOperand() && !d.Operand16:
		d.emit(Operation{Op: OpExtend, To: d.reg(), From: d.rm(), Size: 4, Signed: true})
	case !d.registerOperand() && d.Wide:
		d.load(d.reg())
	case !d.registerOperand() && !d.Operand16:
		d.table()
	default:
		d.clobber(d.reg())
	}
}

// table is a load of 4 bytes, perhaps from a table.
func (d *amd64Decoder) table() {
	if o := d.memory(); o.known && o.index != NoRegister && (o.scale == 4 || o.scale == 1) {
		d.emit(Operation{Op: OpTable, To: d.reg(), From: o.base, Index: o.index, Size: 4, Signed: true, Offset: o.offset})
		return
	}
	d.clobber(d.reg())
}

// extend is movsxd.
func (d *amd64Decoder) extend(size int) {
	switch {
	case d.registerOperand():
		d.emit(Operation{Op: OpExtend, To: d.reg(), From: d.rm(), Size: 4, Signed: true})
	case size == 4:
		d.table()
	default:
		d.clobber(d.reg())
	}
}

func (d *amd64Decoder) lea() {
	o, to := d.memory(), d.reg()
	switch {
	case !d.Wide || !o.known && (d.Address32 || d.registerOperand()):
		d.clobber(to)
	case o.absolute:
		d.emit(Operation{Op: OpConstant, To: to, Offset: o.offset})
	case o.index == NoRegister && o.base != NoRegister:
		d.emit(Operation{Op: OpCopy, To: to, From: o.base, Offset: o.offset})
	case o.index != NoRegister && o.base != NoRegister && o.scale == 1 && o.offset == 0:
		d.emit(Operation{Op: OpSum, To: to, From: o.base, Index: o.index})
	case o.index != NoRegister && o.base != NoRegister:
		d.emit(Operation{Op: OpIndexed, To: to, From: o.base, Index: o.index})
	default:
		d.clobber(to)
	}
}
