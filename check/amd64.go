// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"bytes"
	"encoding/binary"

	"github.com/clewdev/clew/internal/x86"
)

// DWARF columns (psABI amd64, Figure 3.36).
const (
	amd64RAX = 0
	amd64RDX = 1
	amd64RCX = 2
	amd64RBX = 3
	amd64RSI = 4
	amd64RDI = 5
	amd64RBP = 6
	amd64RSP = 7
	amd64R11 = 11
	amd64RA  = 16
)

// amd64Columns are the columns of the registers by their number in instructions.
var amd64Columns = [16]uint8{amd64RAX, amd64RCX, amd64RDX, amd64RBX, amd64RSP, amd64RBP, amd64RSI, amd64RDI, 8, 9, 10, 11, 12, 13, 14, 15}

var amd64ABI = abi{
	registers: 17, sp: amd64RSP, fp: amd64RBP, returnAddress: amd64RA, link: noRegister,
	preserved: []uint8{amd64RBX, amd64RBP, 12, 13, 14, 15}, preservedSet: 1<<amd64RBX | 1<<amd64RBP | 0xf<<12,
	clobbered: 1<<amd64RAX | 1<<amd64RDX | 1<<amd64RCX | 1<<amd64RSI | 1<<amd64RDI | 0xf<<8,
	cfaOffset: 8, redZone: 128, maxSize: x86.MaxSize,
	columns: []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "return address"},
}

type amd64 struct{}

func (amd64) abi() *abi { return &amd64ABI }

func (amd64) decode(code []byte, pc uint64, out *instruction, ops []operation) ([]operation, bool) {
	var d amd64Decoder
	if d.Instruction.Decode(code) != nil {
		return ops, false
	}
	if d.Relative > 0 && d.Operand16 {
		return ops, false // processors disagree on its size
	}
	d.out, d.ops, d.pc = out, ops, pc
	out.size = uint8(len(d.Code))
	switch {
	case d.Vector:
		return d.ops, d.vector()
	case d.Map == x86.MapOneByte:
		d.oneByte()
	case d.Map == x86.Map0F:
		d.twoByte()
	default:
		d.threeByte()
	}
	return d.ops, true
}

func (amd64) calls(code []byte, pc uint64, fn func(pc, target uint64)) {
	for at := 0; ; at++ {
		n := bytes.IndexByte(code[at:], 0xe8)
		if n < 0 || at+n+5 > len(code) {
			return
		}
		at += n
		fn(pc+uint64(at), pc+uint64(at)+5+uint64(int64(int32(binary.LittleEndian.Uint32(code[at+1:])))))
	}
}

// amd64Decoder decodes one instruction.
type amd64Decoder struct {
	x86.Instruction
	out *instruction
	ops []operation
	pc  uint64
}

// operand is a memory operand.
type operand struct {
	base, index uint8 // columns or noRegister
	scale       uint8
	offset      int64
	absolute    bool // the address is offset
	known       bool // the registers and the offset are all there is to it
}

func (d *amd64Decoder) emit(o operation) { d.ops = append(d.ops, o); d.out.count++ }

func (d *amd64Decoder) clobber(column uint8) { d.out.clobbered |= 1 << column }

// registerOperand reports whether ModRM.rm is a register.
func (d *amd64Decoder) registerOperand() bool { return d.Code[d.ModRM] >= 0xc0 }

// extension returns ModRM.reg as part of the opcode.
func (d *amd64Decoder) extension() byte { return d.Code[d.ModRM] >> 3 & 7 }

// reg returns the column of ModRM.reg.
func (d *amd64Decoder) reg() uint8 {
	n := d.Code[d.ModRM] >> 3 & 7
	if d.RexR {
		n |= 8
	}
	return amd64Columns[n]
}

// rm returns the column of ModRM.rm if that is a register.
func (d *amd64Decoder) rm() uint8 { return d.numbered(d.Code[d.ModRM] & 7) }

// numbered returns the column of a register in the opcode or in ModRM.rm.
func (d *amd64Decoder) numbered(n byte) uint8 {
	if d.RexB {
		n |= 8
	}
	return amd64Columns[n]
}

// byteColumn is that of a byte register: without a REX prefix 4 to 7 are ah to bh.
func (d *amd64Decoder) byteColumn(column uint8, n byte) uint8 {
	if !d.Rex && n >= 4 {
		return amd64Columns[n-4]
	}
	return column
}

func (d *amd64Decoder) byteReg() uint8 { return d.byteColumn(d.reg(), d.Code[d.ModRM]>>3&7) }
func (d *amd64Decoder) byteRM() uint8  { return d.byteColumn(d.rm(), d.Code[d.ModRM]&7) }

// immediate returns the immediate of a group of instructions, extended as the processor
// extends it to 64 bits.
func (d *amd64Decoder) immediate() int64 {
	switch b := d.Code[d.Immediate:]; len(b) {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case 8:
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// memory returns the memory operand of ModRM.
func (d *amd64Decoder) memory() operand {
	o := operand{base: noRegister, index: noRegister, scale: 1, known: d.Segment == 0 && !d.Address32}
	m := d.Code[d.ModRM]
	if m >= 0xc0 { // no operand in memory: lea of a register is invalid
		o.known = false
		return o
	}
	if m>>6 == 1 && d.Vector && d.evex() {
		o.known = false // its displacement is multiplied
	}
	if d.Displacement > 0 {
		b := d.Code[d.Displacement:]
		if m>>6 == 1 {
			o.offset = int64(int8(b[0]))
		} else {
			o.offset = int64(int32(binary.LittleEndian.Uint32(b)))
		}
	}
	switch {
	case d.RIPRelative:
		o.absolute = true
		o.offset += int64(d.pc) + int64(len(d.Code))
	case m&7 == 4:
		sib := d.Code[d.ModRM+1]
		index := sib >> 3 & 7
		if d.RexX {
			index |= 8
		}
		if index != 4 {
			o.index, o.scale = amd64Columns[index], 1<<(sib>>6)
		}
		if m>>6 == 0 && sib&7 == 5 {
			o.absolute = o.index == noRegister
		} else {
			o.base = d.numbered(sib & 7)
		}
	default:
		o.base = d.numbered(m & 7)
	}
	return o
}

// store emits a store to ModRM's memory operand; from is noRegister for a number.
func (d *amd64Decoder) store(from uint8, size int) {
	if o := d.memory(); o.known && o.index == noRegister && o.base != noRegister {
		d.emit(operation{op: opStore, to: o.base, from: from, offset: o.offset, size: uint8(min(size, 255))})
	}
}

// load emits a load of 8 bytes from ModRM's memory operand.
func (d *amd64Decoder) load(to uint8) {
	o := d.memory()
	switch {
	case !o.known:
		d.clobber(to)
	case o.index == noRegister && o.base != noRegister:
		d.emit(operation{op: opLoad, to: to, from: o.base, offset: o.offset})
	case o.index != noRegister && (o.scale == 8 || o.scale == 1):
		d.emit(operation{op: opTable8, to: to, from: o.base, index: o.index, offset: o.offset})
	case to == scratch: // jmp *address(%rip), push address(%rip)
		d.emit(operation{op: opLoad, to: scratch, from: noRegister})
	default:
		d.clobber(to)
	}
}

// written is a write to ModRM.rm of a number, as read-modify-write instructions do.
func (d *amd64Decoder) written() {
	if d.registerOperand() {
		d.clobber(d.rm())
		return
	}
	size := 4
	switch {
	case d.Wide:
		size = 8
	case d.Operand16:
		size = 2
	}
	d.store(noRegister, size)
}

func (d *amd64Decoder) writtenByte() {
	if d.registerOperand() {
		d.clobber(d.byteRM())
		return
	}
	d.store(noRegister, 1)
}

func (d *amd64Decoder) push(from uint8) {
	size := int64(8)
	if d.Operand16 {
		size, from = 2, noRegister
	}
	d.emit(operation{op: opStore, to: amd64RSP, from: from, offset: -size, size: uint8(size)})
	d.emit(operation{op: opCopy, to: amd64RSP, from: amd64RSP, offset: -size})
}

func (d *amd64Decoder) pop(to uint8) {
	if d.Operand16 {
		d.emit(operation{op: opCopy, to: amd64RSP, from: amd64RSP, offset: 2})
		d.clobber(to)
		return
	}
	d.emit(operation{op: opLoad, to: to, from: amd64RSP})
	if to != amd64RSP {
		d.emit(operation{op: opCopy, to: amd64RSP, from: amd64RSP, offset: 8})
	}
}

// control decodes the instructions that go elsewhere.
func (d *amd64Decoder) control() {
	switch op := d.Opcode; op {
	case 0xe8:
		d.out.target = d.Target(d.pc)
		if d.out.target == d.pc+uint64(len(d.Code)) { // pushes its address
			d.push(noRegister)
			return
		}
		d.out.flow = flowCall
	case 0xe9, 0xeb:
		d.out.flow, d.out.target = flowJump, d.Target(d.pc)
	case 0xe0, 0xe1, 0xe2, 0xe3:
		d.branch(noRegister)
		d.clobber(amd64RCX)
	case 0xc2, 0xc3:
		d.out.flow = flowReturn
	case 0xcd:
		d.clobber(amd64RAX)
		if d.Code[d.Immediate] != 0x80 {
			d.out.flow = flowStop
		}
	case 0xcc:
		d.out.flow, d.out.padding = flowStop, true
	case 0xf1, 0xf4:
		d.out.flow = flowStop
	case 0xca, 0xcb, 0xcf:
		d.out.flow = flowElsewhere
	case 0xff:
		switch d.extension() {
		case 2:
			d.out.flow = flowCallIndirect
		case 4:
			d.out.flow, d.out.register = flowJumpIndirect, scratch
			if d.registerOperand() {
				d.out.register = d.rm()
			} else {
				d.load(scratch)
			}
		case 6:
			if d.registerOperand() {
				d.push(d.rm())
				return
			}
			d.load(scratch)
			d.push(scratch)
		case 3, 5:
			d.out.flow = flowElsewhere
		}
	}
}

func (d *amd64Decoder) branch(code byte) {
	d.out.flow, d.out.target = flowBranch, d.Target(d.pc)
	switch code {
	case 2:
		d.out.condition = conditionBelow
	case 3:
		d.out.condition = conditionAboveOrEqual
	case 4:
		d.out.condition = conditionEqual
	case 5:
		d.out.condition = conditionNotEqual
	case 6:
		d.out.condition = conditionBelowOrEqual
	case 7:
		d.out.condition = conditionAbove
	}
	d.out.keepsFlags = true
}
