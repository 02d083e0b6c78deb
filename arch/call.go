// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
)

// Call is a call instruction.
type Call struct {
	Target uint64 // address of the function that it calls, 0 where it is not Direct
	Direct bool   // the instruction itself names its target
}

// MaxCallSize is how many bytes before a return address CallBefore can need: a
// call and, where it has one, the instruction before it or the delay slot.
const MaxCallSize = 8

// KnowsCalls reports whether CallBefore knows the machine's call instructions.
func (m *Machine) KnowsCalls() bool { return m.callBefore() != nil }

// CallBefore returns the call instruction that a return address follows, and
// whether there is one. code are the bytes before the return address, at most
// MaxCallSize, which may be less where nothing lies before. On arm an odd address
// is one of Thumb code. It allocates nothing.
//
// Where instructions have several lengths (x86, riscv, s390, Thumb) the end of another
// instruction can look like a call: half a percent of them do. Elsewhere none does.
func (m *Machine) CallBefore(code []byte, returns uint64) (c Call, ok bool) {
	before := m.callBefore()
	if before == nil {
		return Call{}, false
	}
	if c, ok = before(m, code, returns); ok && m.AddressSize == 4 {
		c.Target &= 0xffffffff
	}
	return c, ok
}

func (m *Machine) callBefore() func(m *Machine, code []byte, returns uint64) (Call, bool) {
	switch m.ELF {
	case elf.EM_X86_64, elf.EM_386:
		return x86Call
	case elf.EM_AARCH64:
		return arm64Call
	case elf.EM_ARM:
		return armCall
	case elf.EM_RISCV:
		return riscvCall
	case elf.EM_PPC, elf.EM_PPC64:
		return powerCall
	case elf.EM_S390:
		return s390Call
	case elf.EM_LOONGARCH:
		return loongCall
	case elf.EM_MIPS:
		return mipsCall
	}
	return nil
}

// tail returns the last n bytes of code, nil where there are fewer.
func tail(code []byte, n int) []byte {
	if len(code) < n {
		return nil
	}
	return code[len(code)-n:]
}

// word returns the instruction of four bytes that starts n bytes before the end
// of code, 0 where it is not all there: on none of the machines that is a call.
func word(order binary.ByteOrder, code []byte, n int) uint32 {
	if b := tail(code, n); len(b) >= 4 {
		return order.Uint32(b)
	}
	return 0
}

// extend returns the signed number in the bits of a word from low on.
func extend(op uint32, low, bits int) uint64 {
	return uint64(int64(op) << (64 - low - bits) >> (64 - bits))
}

// x86Call: Intel SDM volume 2, CALL: E8 with four bytes of distance, FF /2 with
// any form of operand. Prefixes come before what is looked at.
func x86Call(_ *Machine, code []byte, returns uint64) (Call, bool) {
	if b := tail(code, 5); b != nil && b[0] == 0xe8 {
		return Call{returns + uint64(int64(int32(binary.LittleEndian.Uint32(b[1:])))), true}, true
	}
	for size := 2; size <= 7; size++ {
		if b := tail(code, size); b != nil && b[0] == 0xff && b[1]>>3&7 == 2 && x86OperandSize(b[1:]) == size-1 {
			return Call{}, true
		}
	}
	return Call{}, false
}

// x86OperandSize returns how many bytes a ModRM byte and what follows it take
// (Intel SDM volume 2, §2.1.3), 0 where the SIB byte that tells it is missing.
func x86OperandSize(b []byte) int {
	mode, rm := b[0]>>6, b[0]&7
	size := 1
	if mode != 3 && rm == 4 {
		if len(b) < 2 {
			return 0
		}
		size, rm = 2, b[1]&7
	}
	switch {
	case mode == 1:
		return size + 1
	case mode == 2, mode == 0 && rm == 5:
		return size + 4
	}
	return size
}

// arm64Call: Arm ARM C4.1.66: bl, blr and the latter's authenticated forms.
func arm64Call(_ *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(binary.LittleEndian, code, 4)
	switch {
	case op&0xfc000000 == 0x94000000:
		return Call{returns - 4 + extend(op, 0, 26)<<2, true}, true
	case op&0xfffffc1f == 0xd63f0000, op&0xfefff800 == 0xd63f0800:
		return Call{}, true
	}
	return Call{}, false
}

// armCall: Arm ARM F5.1 and F6.1: bl, blx, and the pair that came before blx
// (mov lr, pc and a load or move to pc).
func armCall(m *Machine, code []byte, returns uint64) (Call, bool) {
	if returns&1 == 0 {
		op := word(m.Order, code, 4)
		pc := returns - 4 + 8 // what an instruction reads as its own address
		switch {
		case op>>28 == 0xf && op&0xfe000000 == 0xfa000000: // blx label, to Thumb
			return Call{pc + extend(op, 0, 24)<<2 + uint64(op>>24&1)<<1, true}, true
		case op>>28 != 0xf && op&0x0f000000 == 0x0b000000: // bl
			return Call{pc + extend(op, 0, 24)<<2, true}, true
		case op>>28 != 0xf && op&0x0ffffff0 == 0x012fff30: // blx register
			return Call{}, true
		case word(m.Order, code, 8)&0x0fffffff == 0x01a0e00f && op&0x0c00f000 == 0x0400f000,
			word(m.Order, code, 8)&0x0fffffff == 0x01a0e00f && op&0x0ffffff0 == 0x01a0f000,
			word(m.Order, code, 8)&0x0fffffff == 0x01a0e00f && op&0x0ffffff0 == 0x012fff10:
			return Call{}, true
		}
		return Call{}, false
	}
	returns &^= 1
	if b := tail(code, 4); b != nil {
		high, low := uint32(m.Order.Uint16(b)), uint32(m.Order.Uint16(b[2:]))
		if high&0xf800 == 0xf000 && low&0xc000 == 0xc000 {
			s := high >> 10 & 1
			i1, i2 := 1&^(low>>13&1^s), 1&^(low>>11&1^s)
			distance := extend(s<<24|i1<<23|i2<<22|high&0x3ff<<12|low&0x7ff<<1, 0, 25)
			if low&0x1000 != 0 { // bl
				return Call{returns + distance, true}, true
			}
			return Call{returns&^3 + distance&^3, true}, true // blx, to ARM code
		}
	}
	if b := tail(code, 2); b != nil && m.Order.Uint16(b)&0xff87 == 0x4780 { // blx register
		return Call{}, true
	}
	return Call{}, false
}

// riscvCall: RISC-V unprivileged ISA, RV32I and the C extension, with ra as the
// register of the link.
func riscvCall(m *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(binary.LittleEndian, code, 4)
	switch {
	case op&0xfff == 0x0ef: // jal ra
		distance := op>>31<<20 | op>>12&0xff<<12 | op>>20&1<<11 | op>>21&0x3ff<<1
		return Call{returns - 4 + extend(distance, 0, 21), true}, true
	case op&0x7fff == 0x00e7: // jalr ra
		base := op >> 15 & 31
		if high := word(binary.LittleEndian, code, 8); high&0x7f == 0x17 && high>>7&31 == base && base != 0 { // auipc
			return Call{returns - 8 + extend(high&^0xfff, 0, 32) + extend(op, 20, 12), true}, true
		}
		return Call{}, true
	}
	if b := tail(code, 2); b != nil {
		op := uint32(binary.LittleEndian.Uint16(b))
		switch {
		case op&0xf07f == 0x9002 && op>>7&31 != 0: // c.jalr
			return Call{}, true
		case op&0xe003 == 0x2001 && m.AddressSize == 4: // c.jal, of 32 bits only
			distance := op>>12&1<<11 | op>>11&1<<4 | op>>9&3<<8 | op>>8&1<<10 | op>>7&1<<6 | op>>6&1<<7 | op>>3&7<<1 | op>>2&1<<5
			return Call{returns - 2 + extend(distance, 0, 12), true}, true
		}
	}
	return Call{}, false
}

// powerCall: Power ISA Book I §2.4: branches that set the link register.
func powerCall(m *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(m.Order, code, 4)
	switch {
	case op&0xfc000003 == 0x48000001: // bl
		return Call{returns - 4 + extend(op&0x3fffffc, 0, 26), true}, true
	case op&0xfc0007ff == 0x4c000421, op&0xfc0007ff == 0x4c000021: // bctrl, blrl
		return Call{}, true
	}
	return Call{}, false
}

// s390Call: z/Architecture Principles of Operation, "General Instructions": bras,
// brasl, basr and bas with r14 as the register of the link.
func s390Call(_ *Machine, code []byte, returns uint64) (Call, bool) {
	if b := tail(code, 6); b != nil && b[0] == 0xc0 && b[1] == 0xe5 {
		return Call{returns - 6 + extend(binary.BigEndian.Uint32(b[2:]), 0, 32)<<1, true}, true
	}
	if b := tail(code, 4); b != nil && b[0] == 0xa7 && b[1] == 0xe5 {
		return Call{returns - 4 + extend(uint32(binary.BigEndian.Uint16(b[2:])), 0, 16)<<1, true}, true
	}
	if b := tail(code, 4); b != nil && b[0] == 0x4d && b[1]>>4 == 14 {
		return Call{}, true
	}
	b := tail(code, 2)
	return Call{}, b != nil && b[0] == 0x0d && b[1]>>4 == 14 && b[1]&15 != 0
}

// loongCall: LoongArch Reference Manual volume 1 §2.2.5: bl, and jirl with ra as
// the register of the link, after pcaddu18i where the target is far.
func loongCall(_ *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(binary.LittleEndian, code, 4)
	switch {
	case op>>26 == 0x15: // bl
		return Call{returns - 4 + extend(op&0x3ff<<16|op>>10&0xffff, 0, 26)<<2, true}, true
	case op>>26 == 0x13 && op&31 == 1: // jirl ra
		if high := word(binary.LittleEndian, code, 8); high>>25 == 0x0f && high&31 == op>>5&31 { // pcaddu18i
			return Call{returns - 8 + extend(high, 5, 20)<<18 + extend(op, 10, 16)<<2, true}, true
		}
		return Call{}, true
	}
	return Call{}, false
}

// mipsCall: MIPS32 and MIPS64 instruction sets: jal, bal, jalr with ra as the
// register of the link. A delay slot lies between the call and the return address.
func mipsCall(m *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(m.Order, code, 8)
	switch {
	case op>>26 == 3: // jal: within 256 MiB of the delay slot
		return Call{(returns-4)&^0xfffffff | uint64(op&0x3ffffff)<<2, true}, true
	case op&0xffff0000 == 0x04110000: // bal
		return Call{returns - 4 + extend(op, 0, 16)<<2, true}, true
	case op&0xfc1ff83f == 0x0000f809: // jalr
		return Call{}, true
	}
	return Call{}, false
}
