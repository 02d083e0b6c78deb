// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package lift

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

var amd64ABI = ABI{
	Registers: 17, SP: amd64RSP, FP: amd64RBP, ReturnAddress: amd64RA, Link: NoRegister,
	Preserved: []uint8{amd64RBX, amd64RBP, 12, 13, 14, 15}, PreservedSet: 1<<amd64RBX | 1<<amd64RBP | 0xf<<12,
	Clobbered: 1<<amd64RAX | 1<<amd64RDX | 1<<amd64RCX | 1<<amd64RSI | 1<<amd64RDI | 0xf<<8,
	CFAOffset: 8, RedZone: 128, MinSize: 1, MaxSize: x86.MaxSize,
	Names: []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "return address"},
}

type amd64 struct{}

func (amd64) ABI() *ABI { return &amd64ABI }

func (amd64) Decode(code []byte, pc uint64, out *Instruction, ops []Operation) ([]Operation, bool) {
	var d amd64Decoder
	if d.Instruction.Decode(code) != nil {
		return ops, false
	}
	if d.Relative > 0 && d.Operand16 {
		return ops, false // processors disagree on its size
	}
	d.out, d.ops, d.pc = out, ops, pc
	out.Size = uint8(len(d.Code))
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

func (amd64) Memory(code []byte, pc uint64) Memory {
	d := amd64Decoder{pc: pc}
	m := Memory{Access: AccessOther}
	if d.Instruction.Decode(code) != nil {
		return m
	}
	lea := d.Map == x86.MapOneByte && d.Opcode == 0x8d
	if d.ModRM == 0 || d.registerOperand() {
		m.Access = AccessNone
		return m
	}
	o := d.memory()
	if lea {
		m.Access = AccessNone
		if d.Wide && o.known && o.base == NoRegister && o.index != NoRegister && o.offset == 0 {
			m.Access, m.Index, m.Scale, m.Register = AccessScale, o.index, o.scale, d.reg()
		}
		return m
	}
	if !o.known || d.Vector {
		return m
	}
	m.Base, m.Index, m.Scale, m.Offset, m.Register = o.base, o.index, o.scale, o.offset, d.reg()
	m.Size = 4
	switch {
	case d.Wide:
		m.Size = 8
	case d.Operand16:
		m.Size = 2
	}
	switch op := d.Opcode; d.Map {
	case x86.MapOneByte:
		switch {
		case op == 0x8b && !d.Operand16:
			m.Access = AccessLoad
		case op == 0x63:
			m.Access, m.Size, m.Signed = AccessLoad, 4, true
		case op == 0x80 && d.extension() == 7:
			m.Access, m.Size, m.Limit = AccessCompare, 1, uint64(d.immediate())&0xff
		case (op == 0x81 || op == 0x83) && d.extension() == 7 && d.immediate() >= 0:
			m.Access, m.Limit = AccessCompare, uint64(d.immediate())
		}
	case x86.Map0F:
		switch op {
		case 0xb6, 0xbe:
			m.Access, m.Size, m.Signed = AccessLoad, 1, op == 0xbe
		case 0xb7, 0xbf:
			m.Access, m.Size, m.Signed = AccessLoad, 2, op == 0xbf
		case 0x1f:
			m.Access = AccessNone
		}
	}
	return m
}

func (amd64) Calls(code []byte, pc uint64, fn func(pc, target uint64)) {
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
	out *Instruction
	ops []Operation
	pc  uint64
}

// operand is a memory operand.
type operand struct {
	base, index uint8 // columns or NoRegister
	scale       uint8
	offset      int64
	absolute    bool // the address is offset
	known       bool // the registers and the offset are all there is to it
}

func (d *amd64Decoder) emit(o Operation) { d.ops = append(d.ops, o); d.out.Count++ }

func (d *amd64Decoder) clobber(column uint8) { d.out.Clobbered |= 1 << column }

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
	o := operand{base: NoRegister, index: NoRegister, scale: 1, known: d.Segment == 0 && !d.Address32}
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
			o.absolute = o.index == NoRegister
		} else {
			o.base = d.numbered(sib & 7)
		}
	default:
		o.base = d.numbered(m & 7)
	}
	return o
}

// store emits a store to ModRM's memory operand; from is NoRegister for a number.
func (d *amd64Decoder) store(from uint8, size int) {
	o := d.memory()
	switch {
	case o.known && o.index == NoRegister && o.base != NoRegister:
		d.emit(Operation{Op: OpStore, To: o.base, From: from, Offset: o.offset, Size: uint8(min(size, 255))})
	case o.base == NoRegister && size == 8:
		d.spill(from)
	}
}

// spill emits a copy of a preserved register to a place outside of the frame. Code rarely saves a
// register there, and other registers need not be saved.
func (d *amd64Decoder) spill(from uint8) {
	if from != NoRegister && amd64ABI.Preserves(int(from)) {
		d.emit(Operation{Op: OpSpill, To: Scratch, From: from})
	}
}

// reload emits a copy of 8 bytes from a place outside of the frame.
func (d *amd64Decoder) reload(to uint8) {
	if amd64ABI.Preserves(int(to)) {
		d.emit(Operation{Op: OpReload, To: to, From: NoRegister})
		return
	}
	d.clobber(to)
}

// load emits a load of 8 bytes from ModRM's memory operand.
func (d *amd64Decoder) load(to uint8) {
	o := d.memory()
	switch {
	case o.base == NoRegister && o.index == NoRegister && to != Scratch:
		d.reload(to)
	case !o.known:
		d.clobber(to)
	case o.index == NoRegister && o.base != NoRegister:
		d.emit(Operation{Op: OpLoad, To: to, From: o.base, Offset: o.offset})
	case o.index != NoRegister && (o.scale == 8 || o.scale == 1):
		d.emit(Operation{Op: OpTable, To: to, From: o.base, Index: o.index, Size: 8, Offset: o.offset})
	case to == Scratch: // jmp *address(%rip), push address(%rip)
		d.emit(Operation{Op: OpLoad, To: Scratch, From: NoRegister})
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
	d.store(NoRegister, size)
}

func (d *amd64Decoder) writtenByte() {
	if d.registerOperand() {
		d.clobber(d.byteRM())
		return
	}
	d.store(NoRegister, 1)
}

func (d *amd64Decoder) push(from uint8) {
	size := int64(8)
	if d.Operand16 {
		size, from = 2, NoRegister
	}
	d.emit(Operation{Op: OpStore, To: amd64RSP, From: from, Offset: -size, Size: uint8(size)})
	d.emit(Operation{Op: OpCopy, To: amd64RSP, From: amd64RSP, Offset: -size})
}

func (d *amd64Decoder) pop(to uint8) {
	if d.Operand16 {
		d.emit(Operation{Op: OpCopy, To: amd64RSP, From: amd64RSP, Offset: 2})
		d.clobber(to)
		return
	}
	d.emit(Operation{Op: OpLoad, To: to, From: amd64RSP})
	if to != amd64RSP {
		d.emit(Operation{Op: OpCopy, To: amd64RSP, From: amd64RSP, Offset: 8})
	}
}

// control decodes the instructions that go elsewhere.
func (d *amd64Decoder) control() {
	switch op := d.Opcode; op {
	case 0xe8:
		d.out.Target = d.Target(d.pc)
		if d.out.Target == d.pc+uint64(len(d.Code)) { // pushes its address
			d.push(NoRegister)
			return
		}
		d.out.Flow = FlowCall
	case 0xe9, 0xeb:
		d.out.Flow, d.out.Target = FlowJump, d.Target(d.pc)
	case 0xe0, 0xe1, 0xe2, 0xe3:
		d.branch(NoRegister)
		d.clobber(amd64RCX)
	case 0xc2, 0xc3:
		d.out.Flow = FlowReturn
	case 0xcd:
		d.clobber(amd64RAX)
		if d.Code[d.Immediate] != 0x80 {
			d.out.Flow = FlowStop
		}
	case 0xcc:
		d.out.Flow, d.out.Padding = FlowStop, true
	case 0xf1, 0xf4:
		d.out.Flow = FlowStop
	case 0xca, 0xcb, 0xcf:
		d.out.Flow = FlowElsewhere
	case 0xff:
		switch d.extension() {
		case 2:
			d.out.Flow = FlowCallIndirect
		case 4:
			d.out.Flow, d.out.Register = FlowJumpIndirect, Scratch
			if d.registerOperand() {
				d.out.Register = d.rm()
			} else {
				d.load(Scratch)
			}
		case 6:
			if d.registerOperand() {
				d.push(d.rm())
				return
			}
			d.load(Scratch)
			d.push(Scratch)
		case 3, 5:
			d.out.Flow = FlowElsewhere
		}
	}
}

func (d *amd64Decoder) branch(code byte) {
	d.out.Flow, d.out.Target = FlowBranch, d.Target(d.pc)
	switch code {
	case 2:
		d.out.Condition = ConditionBelow
	case 3:
		d.out.Condition = ConditionAboveOrEqual
	case 4:
		d.out.Condition = ConditionEqual
	case 5:
		d.out.Condition = ConditionNotEqual
	case 6:
		d.out.Condition = ConditionBelowOrEqual
	case 7:
		d.out.Condition = ConditionAbove
	}
	d.out.KeepsFlags = true
}
