// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package lift

import (
	"encoding/binary"
	"math/bits"
)

// Numbers of registers. x0 to x30 and sp have the numbers of their columns, d8 to d15 follow.
// The other vector registers are not followed: no call preserves them.
const (
	arm64X16 = 16
	arm64X17 = 17
	arm64FP  = 29
	arm64LR  = 30
	arm64SP  = 31
	arm64D8  = 32

	arm64SavedVectors = 0xff << arm64D8
)

// arm64ABI is that of AAPCS64 §6.1 and AADWARF64 §4.1.
var arm64ABI = ABI{
	Registers: 40, SP: arm64SP, FP: arm64FP, ReturnAddress: arm64LR, Link: arm64LR,
	Preserved: []uint8{19, 20, 21, 22, 23, 24, 25, 26, 27, 28, arm64FP, 32, 33, 34, 35, 36, 37, 38, 39}, PreservedSet: 0x7ff<<19 | arm64SavedVectors,
	Clobbered: 1<<19 - 1 | 1<<arm64LR,
	MinSize:   4, MaxSize: 4,
	Names: []string{
		"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
		"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",
		"d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15",
	},
	Vectors: 72, FirstVector: arm64D8, SignState: 34,
}

type arm64 struct{}

func (arm64) ABI() *ABI { return &arm64ABI }

// Decode decodes an instruction by its group (Arm ARM C4.1).
func (arm64) Decode(code []byte, pc uint64, out *Instruction, ops []Operation) ([]Operation, bool) {
	if len(code) < 4 || pc&3 != 0 {
		return ops, false
	}
	d := arm64Decoder{word: binary.LittleEndian.Uint32(code), pc: pc, out: out, ops: ops}
	out.Size, out.KeepsFlags = 4, true
	ok := true
	switch d.field(25, 4) {
	case 0b0000:
		ok = d.reserved()
	case 0b0010:
		d.scalable()
	case 0b1000, 0b1001:
		d.immediates()
	case 0b1010, 0b1011:
		ok = d.control()
	case 0b0100, 0b0110, 0b1100, 0b1110:
		ok = d.memory()
	case 0b0101, 0b1101:
		ok = d.registers()
	case 0b0111, 0b1111:
		d.vectors()
	default:
		ok = false
	}
	return d.ops, ok
}

// Memory knows no operand: no instruction compares memory.
func (arm64) Memory([]byte, uint64) Memory { return Memory{Access: AccessOther} }

func (arm64) Calls(code []byte, pc uint64, fn func(pc, target uint64)) {
	for at := 0; at+4 <= len(code); at += 4 {
		if word := binary.LittleEndian.Uint32(code[at:]); word>>26 == 0b100101 {
			d := arm64Decoder{word: word, pc: pc + uint64(at)}
			fn(d.pc, d.label(0, 26))
		}
	}
}

// arm64Decoder decodes one instruction.
type arm64Decoder struct {
	word uint32
	pc   uint64
	out  *Instruction
	ops  []Operation
}

// field returns bits of the instruction from low on.
func (d *arm64Decoder) field(low, size int) uint32 { return d.word >> low & (1<<size - 1) }

// signedField returns bits from low on, extended by their sign.
func (d *arm64Decoder) signedField(low, size int) int64 {
	return int64(d.word) << (64 - low - size) >> (64 - size)
}

// has reports whether the bits of a mask have a value.
func (d *arm64Decoder) has(mask, value uint32) bool { return d.word&mask == value }

// wide reports whether the operands are of 64 bits, by the field sf.
func (d *arm64Decoder) wide() bool { return d.word>>31 == 1 }

// label returns the target of a branch with an offset of size bits from low on.
func (d *arm64Decoder) label(low, size int) uint64 { return d.pc + uint64(d.signedField(low, size)<<2) }

// The fields for registers. Number 31 is the stack pointer in the forms that end in SP, and
// NoRegister, which reads as a number, in the others.
func (d *arm64Decoder) rd() uint8   { return d.register(0) }
func (d *arm64Decoder) rn() uint8   { return d.register(5) }
func (d *arm64Decoder) rm() uint8   { return d.register(16) }
func (d *arm64Decoder) rdSP() uint8 { return uint8(d.field(0, 5)) }
func (d *arm64Decoder) rnSP() uint8 { return uint8(d.field(5, 5)) }

func (d *arm64Decoder) register(low int) uint8 {
	if r := d.field(low, 5); r != 31 {
		return uint8(r)
	}
	return NoRegister
}

// vector returns the number of a vector register, NoRegister if it is not followed.
func vector(n uint32) uint8 {
	if n >= 8 && n < 16 {
		return uint8(n) - 8 + arm64D8
	}
	return NoRegister
}

func (d *arm64Decoder) emit(o Operation) {
	if to, ok := o.Writes(); ok && to == NoRegister {
		return // the zero register
	}
	d.ops = append(d.ops, o)
	d.out.Count++
}

// clobber says that a register gets an unknown number.
func (d *arm64Decoder) clobber(number uint8) {
	if number != NoRegister {
		d.out.Clobbered |= 1 << number
	}
}

// forget says that a register gets anything.
func (d *arm64Decoder) forget(number uint8) {
	d.emit(Operation{Op: OpForget, To: number, From: NoRegister})
}

// copy copies a register, cut to 32 bits if the operands are not wide.
func (d *arm64Decoder) copy(to, from uint8, offset int64) {
	switch {
	case from == NoRegister:
		d.constant(to, offset)
	case d.wide():
		d.emit(Operation{Op: OpCopy, To: to, From: from, Offset: offset})
	case offset == 0:
		d.emit(Operation{Op: OpExtend, To: to, From: from, Size: 4})
	default:
		d.clobber(to)
	}
}

func (d *arm64Decoder) constant(to uint8, v int64) {
	if !d.wide() {
		v = int64(uint32(v))
	}
	if v != v<<14>>14 {
		d.clobber(to)
		return
	}
	d.emit(Operation{Op: OpConstant, To: to, Offset: v})
}

// compare says that the instruction compares a register with another one, or with limit.
func (d *arm64Decoder) compare(left, right uint8, limit uint64) {
	if left != NoRegister && right != left {
		d.out.Compare, d.out.Left, d.out.Right, d.out.Limit = true, left, right, limit
	}
}

// immediates decodes data processing with immediates.
func (d *arm64Decoder) immediates() {
	switch d.field(23, 3) {
	case 0b000, 0b001:
		d.address()
	case 0b010:
		d.addImmediate()
	case 0b011:
		switch {
		case d.field(22, 1) == 1 || d.field(29, 1) == 1: // smax, umin and so on
			d.clobber(d.rd())
		default: // addg, subg change the tag of an address
			d.emit(Operation{Op: OpIndexed, To: d.rdSP(), From: d.rnSP(), Index: NoRegister})
		}
	case 0b100:
		d.logicalImmediate()
	case 0b101:
		d.moveWide()
	case 0b110:
		d.bitfield()
	case 0b111:
		if d.has(0xffc0001f, 0xf380001f) { // autiasppc, autibsppc
			d.forget(arm64LR)
			return
		}
		d.clobber(d.rd()) // extr
	}
}

// address decodes adr and adrp.
func (d *arm64Decoder) address() {
	offset := d.signedField(5, 19)<<2 | int64(d.field(29, 2))
	at := int64(d.pc) + offset
	if d.wide() {
		at = int64(d.pc&^0xfff) + offset<<12
	}
	d.emit(Operation{Op: OpConstant, To: d.rd(), Offset: at << 14 >> 14})
}

func (d *arm64Decoder) addImmediate() {
	immediate := int64(d.field(10, 12))
	if d.field(22, 1) == 1 {
		immediate <<= 12
	}
	subtracts, setsFlags := d.field(30, 1) == 1, d.field(29, 1) == 1
	to := d.rdSP()
	if setsFlags {
		d.out.KeepsFlags = false
		if to = d.rd(); subtracts && to != d.rnSP() {
			d.compare(d.rnSP(), NoRegister, uint64(immediate))
		}
	}
	if subtracts {
		immediate = -immediate
	}
	if to != NoRegister {
		d.copy(to, d.rnSP(), immediate)
	}
}

// bitmask returns the immediate of a logical instruction (Arm ARM, DecodeBitMasks).
func (d *arm64Decoder) bitmask() uint64 {
	n, immr, imms := d.field(22, 1), int(d.field(16, 6)), d.field(10, 6)
	length := bits.Len32(n<<6|^imms&0x3f) - 1
	if length < 1 {
		return 0
	}
	size := 1 << length
	ones := int(imms)&(size-1) + 1
	element := uint64(1)<<ones - 1
	if ones == 64 {
		element = ^uint64(0)
	}
	immr &= size - 1
	element = element>>immr | element<<(size-immr)
	if size < 64 {
		element &= 1<<size - 1
	}
	for ; size < 64; size *= 2 {
		element |= element << size
	}
	if !d.wide() {
		element = uint64(uint32(element))
	}
	return element
}

func (d *arm64Decoder) logicalImmediate() {
	const and, orr, ands = 0, 1, 3
	mask, kind, to := d.bitmask(), d.field(29, 2), d.rdSP()
	if kind == ands {
		d.out.KeepsFlags = false
		to = d.rd()
	}
	switch {
	case to == NoRegister:
	case (kind == and || kind == ands) && int64(mask) >= 0:
		d.emit(Operation{Op: OpBound, To: to, From: d.rn(), Offset: min(int64(mask), 1<<48)})
	case kind == and && d.wide() && bits.OnesCount64(-mask) == 1:
		d.emit(Operation{Op: OpAlign, To: to, From: d.rn(), Offset: int64(mask)})
	case kind == orr && d.rn() == NoRegister:
		d.constant(to, int64(mask))
	default:
		d.clobber(to)
	}
}

func (d *arm64Decoder) moveWide() {
	const movn, movz, movk = 0, 2, 3
	shift := d.field(21, 2) * 16
	immediate := int64(d.field(5, 16))
	switch d.field(29, 2) {
	case movn:
		d.constant(d.rd(), ^(immediate << shift))
	case movz:
		d.constant(d.rd(), immediate<<shift)
	case movk:
		d.emit(Operation{Op: OpInsert, To: d.rd(), From: d.rd(), Size: uint8(shift), Offset: immediate})
	}
}

// bitfield decodes sbfm, bfm and ubfm, and so sxtw, uxtb, lsl and lsr.
func (d *arm64Decoder) bitfield() {
	const sbfm, ubfm = 0, 2
	kind, immr, imms := d.field(29, 2), int(d.field(16, 6)), int(d.field(10, 6))
	size := uint8((imms + 1) / 8)
	switch {
	case immr == 0 && (imms == 7 || imms == 15 || imms == 31) && (kind == sbfm || kind == ubfm):
		d.emit(Operation{Op: OpExtend, To: d.rd(), From: d.rn(), Size: size, Signed: kind == sbfm})
	case kind == ubfm && imms >= immr && imms-immr < 40: // ubfx
		d.emit(Operation{Op: OpBound, To: d.rd(), From: NoRegister, Offset: 1<<(imms-immr+1) - 1})
	default:
		d.clobber(d.rd())
	}
}

// control decodes branches, exceptions and system instructions.
func (d *arm64Decoder) control() bool {
	switch d.word >> 24 {
	case 0x54: // b.cond, bc.cond
		conditions := [16]Condition{0: ConditionEqual, 1: ConditionNotEqual, 2: ConditionAboveOrEqual, 3: ConditionBelow, 8: ConditionAbove, 9: ConditionBelowOrEqual}
		d.out.Flow, d.out.Target, d.out.Condition = FlowBranch, d.label(5, 19), conditions[d.field(0, 4)]
		if d.field(0, 4) >= 14 { // always
			d.out.Flow = FlowJump
		}
	case 0x34, 0x35, 0xb4, 0xb5: // cbz, cbnz
		d.out.Flow, d.out.Target = FlowBranch, d.label(5, 19)
	case 0x36, 0x37, 0xb6, 0xb7: // tbz, tbnz
		d.out.Flow, d.out.Target = FlowBranch, d.label(5, 14)
	case 0x14, 0x15, 0x16, 0x17:
		d.out.Flow, d.out.Target = FlowJump, d.label(0, 26)
	case 0x94, 0x95, 0x96, 0x97:
		if d.out.Target = d.label(0, 26); d.out.Target == d.pc+4 { // reads its address
			d.clobber(arm64LR)
			return true
		}
		d.out.Flow, d.out.KeepsFlags = FlowCall, false
	case 0xd4:
		d.exception()
	case 0xd5:
		d.system()
	case 0xd6, 0xd7:
		return d.branchRegister()
	default:
		return false
	}
	return true
}

func (d *arm64Decoder) exception() {
	switch {
	case d.has(0xffe0001f, 0xd4000001): // svc: Linux preserves all other registers
		d.clobber(0)
	case d.has(0xffe0001f, 0xd4000002), d.has(0xffe0001f, 0xd4000003): // hvc, smc
		d.out.Clobbered |= 1<<18 - 1
	default:
		d.out.Flow, d.out.Padding = FlowStop, d.has(0xffe0001f, 0xd4200000) // brk
	}
}

// branchRegister decodes br, blr, ret and their authenticated forms.
func (d *arm64Decoder) branchRegister() bool {
	authenticates := d.field(11, 1) == 1
	switch d.field(21, 4) &^ 8 {
	case 0:
		d.out.Flow, d.out.Register = FlowJumpIndirect, d.rnSP()
	case 1:
		d.out.Flow, d.out.KeepsFlags = FlowCallIndirect, false
	case 2:
		d.out.Flow, d.out.Register = FlowReturn, d.rnSP()
		switch {
		case !authenticates:
		case d.field(0, 5) == 31: // retaa, retab
			d.out.Register = arm64LR
			d.emit(Operation{Op: OpAuthenticate, To: arm64LR, From: arm64LR, Offset: int64(d.field(10, 1))})
		default: // retaasppcr, retabsppcr
			d.out.Flow, d.out.Register = FlowElsewhere, 0
		}
	default: // eret, drps
		d.out.Flow = FlowElsewhere
	}
	return d.out.Register != arm64SP
}

// arm64Hints are the hints that change registers (Arm ARM C4.1.96, "Hints").
var arm64Hints = map[uint32]Operation{
	7:  {Op: OpStrip, To: arm64LR, From: arm64LR},                        // xpaclri
	25: {Op: OpSign, To: arm64LR, From: arm64LR, Offset: KeyA},           // paciasp
	27: {Op: OpSign, To: arm64LR, From: arm64LR, Offset: KeyB},           // pacibsp
	29: {Op: OpAuthenticate, To: arm64LR, From: arm64LR, Offset: KeyA},   // autiasp
	31: {Op: OpAuthenticate, To: arm64LR, From: arm64LR, Offset: KeyB},   // autibsp
	24: {Op: OpForget, To: arm64LR, From: NoRegister},                    // paciaz
	26: {Op: OpForget, To: arm64LR, From: NoRegister},                    // pacibz
	28: {Op: OpForget, To: arm64LR, From: NoRegister},                    // autiaz
	30: {Op: OpForget, To: arm64LR, From: NoRegister},                    // autibz
	8:  {Op: OpForget, To: arm64X17, From: NoRegister},                   // pacia1716
	10: {Op: OpForget, To: arm64X17, From: NoRegister},                   // pacib1716
	12: {Op: OpForget, To: arm64X17, From: NoRegister},                   // autia1716
	14: {Op: OpForget, To: arm64X17, From: NoRegister},                   // autib1716
	39: {Op: OpForget, To: arm64LR, From: NoRegister},                    // pacm: the next instruction signs the pc
	40: {Op: OpBound, To: arm64X16, From: NoRegister, Offset: 1<<32 - 1}, // chkfeat
}

// system decodes hints, barriers, and accesses of system registers.
func (d *arm64Decoder) system() {
	switch {
	case d.has(0xfffff01f, 0xd503201f):
		hint := d.field(5, 7)
		d.out.Padding = hint == 0
		if o, ok := arm64Hints[hint]; ok {
			d.emit(o)
		}
	case d.has(0xfffff0ff, 0xd503407f): // smstart, smstop
		for n := range uint8(8) {
			d.forget(arm64D8 + n)
		}
	case d.has(0xffc00000, 0xd5400000): // mrrs
		d.clobber(d.rd())
		d.clobber(d.next(d.rd()))
	case d.has(0xffe00000, 0xd5200000): // mrs, sysl
		d.clobber(d.rd())
	case d.has(0xfff00000, 0xd5000000): // msr, cfinv and so on can change the flags
		d.out.KeepsFlags = d.has(0xfffff000, 0xd5033000)
	default:
		d.out.KeepsFlags = false
	}
}

// next returns the second register of a pair of consecutive ones.
func (d *arm64Decoder) next(number uint8) uint8 {
	if number >= 30 {
		return NoRegister
	}
	return number + 1
}

// reserved decodes udf and SME.
func (d *arm64Decoder) reserved() bool {
	switch {
	case d.word>>16 == 0: // udf
		d.out.Flow, d.out.Padding = FlowStop, d.word == 0
		return true
	case d.word>>31 == 0:
		return false
	}
	d.out.KeepsFlags = false
	d.forgetVectors(4)
	if d.has(0xffff0000, 0xc04c0000) { // movt
		d.forget(d.rd())
	}
	return true
}

// forgetVectors forgets a number of vector registers from the field Rd on.
func (d *arm64Decoder) forgetVectors(n uint32) {
	for i := range n {
		d.forget(vector((d.field(0, 5) + i) & 31))
	}
}

// scalable decodes SVE. Its instructions are opaque unless they change general registers or
// store to memory.
func (d *arm64Decoder) scalable() {
	d.out.KeepsFlags = false
	switch {
	case d.has(0xffa0f000, 0x04205000): // addvl, addpl, addsvl, addspl
		d.emit(Operation{Op: OpIndexed, To: d.rdSP(), From: uint8(d.field(16, 5)), Index: NoRegister})
	case d.has(0xfffff000, 0x04bf5000): // rdvl, rdsvl
		d.clobber(d.rd())
	case d.has(0xff20e000, 0x0420e000): // cntb, incb, sqincb and so on
		d.emit(Operation{Op: OpIndexed, To: d.rd(), From: d.rd(), Index: NoRegister})
	case d.has(0xff30c000, 0x25208000): // cntp, incp, sqincp and so on
		d.forget(d.rd())
		d.forgetVectors(1)
	case d.has(0xff2ee000, 0x0520a000): // lasta, clasta to a general register
		d.clobber(d.rd())
	case d.word>>25 == 0b1110010: // stores
		switch d.field(13, 3) {
		case 0b000, 0b010, 0b011, 0b111: // not to the addresses in a vector
			d.emit(Operation{Op: OpStoreUnsized, To: d.rnSP(), From: NoRegister})
		}
	default:
		n := uint32(1)
		if d.word>>25 == 0b1010010 && d.field(14, 2) == 0b11 { // ld2, ld3, ld4
			n += d.field(21, 2)
		}
		d.forgetVectors(n)
	}
}
