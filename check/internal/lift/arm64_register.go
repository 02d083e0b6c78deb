// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package lift

// registers decodes data processing with registers (Arm ARM C4.1, "Data Processing --
// Register").
func (d *arm64Decoder) registers() bool {
	if d.field(28, 1) == 0 {
		switch {
		case d.field(24, 1) == 0:
			d.logical()
		case d.field(21, 1) == 0:
			d.addShifted()
		default:
			d.addExtended()
		}
		return true
	}
	switch d.field(21, 4) {
	case 0b0000: // adc, sbc and operations on flags
		d.out.KeepsFlags = d.field(29, 1) == 0
		switch {
		case d.field(13, 3) == 0b001: // addpt, subpt
			d.emit(Operation{Op: OpIndexed, To: d.rdSP(), From: d.rnSP(), Index: d.rm()})
		case d.field(10, 4) == 0:
			d.clobber(d.rd())
		}
	case 0b0010: // ccmp, ccmn
		d.out.KeepsFlags = false
	case 0b0100:
		d.conditional()
	case 0b0110:
		if d.field(30, 1) == 1 {
			d.oneSource()
			return true
		}
		if d.field(29, 1) == 1 { // subps
			d.out.KeepsFlags = false
		}
		if d.field(10, 6) == 0b000100 { // irg
			d.emit(Operation{Op: OpIndexed, To: d.rdSP(), From: d.rnSP(), Index: NoRegister})
			return true
		}
		d.clobber(d.rd())
	default:
		if d.field(24, 1) == 0 {
			return false
		}
		d.clobber(d.rd()) // madd and so on
	}
	return true
}

// logical decodes and, orr, eor, and their inverted forms.
func (d *arm64Decoder) logical() {
	const and, orr, eor, ands = 0, 1, 2, 3
	kind, inverts, shifts := d.field(29, 2), d.field(21, 1) == 1, d.field(10, 6) != 0 || d.field(22, 2) != 0
	if kind == ands {
		d.out.KeepsFlags = false
	}
	to, from, index := d.rd(), d.rn(), d.rm()
	switch {
	case kind == orr && !inverts && !shifts && (from == NoRegister || from == index): // mov
		d.copy(to, index, 0)
	case kind == orr && !inverts && index == NoRegister:
		d.copy(to, from, 0)
	case kind == eor && !inverts && !shifts && from == index:
		d.constant(to, 0)
	case kind == and && d.wide() && from != NoRegister && index != NoRegister:
		d.emit(Operation{Op: OpIndexed, To: to, From: from, Index: index})
	default:
		d.clobber(to)
	}
}

func (d *arm64Decoder) addShifted() {
	subtracts, shifts := d.field(30, 1) == 1, d.field(10, 6) != 0
	if d.field(29, 1) == 1 {
		d.out.KeepsFlags = false
		if subtracts && !shifts && d.rd() == NoRegister && d.rm() != NoRegister {
			d.compare(d.rn(), d.rm(), 0)
		}
	}
	if shifts && (subtracts || d.field(22, 2) != 0) { // not lsl
		d.emitIndexed(d.rd(), d.rn(), d.rm())
		return
	}
	d.add(d.rd(), d.rn(), d.rm(), uint8(d.field(10, 6)))
}

// add adds or subtracts registers, of which the second is shifted left.
func (d *arm64Decoder) add(to, from, index, shift uint8) {
	subtracts := d.field(30, 1) == 1
	switch {
	case to == NoRegister:
	case index == NoRegister:
		d.copy(to, from, 0)
	case !d.wide() || from == NoRegister:
		d.clobber(to)
	case subtracts && shift > 0:
		d.emitIndexed(to, from, index)
	case subtracts:
		d.emit(Operation{Op: OpDifference, To: to, From: from, Index: index})
	default:
		d.emit(Operation{Op: OpSum, To: to, From: from, Index: index, Size: shift})
	}
}

// emitIndexed makes an address with an index.
func (d *arm64Decoder) emitIndexed(to, from, index uint8) {
	if !d.wide() || from == NoRegister {
		d.clobber(to)
		return
	}
	d.emit(Operation{Op: OpIndexed, To: to, From: from, Index: index})
}

// addExtended decodes add and sub of a register that is extended.
func (d *arm64Decoder) addExtended() {
	option, subtracts := d.field(13, 3), d.field(30, 1) == 1
	to, index := d.rdSP(), d.rm()
	if d.field(29, 1) == 1 {
		d.out.KeepsFlags = false
		to = d.rd()
		if subtracts && to == NoRegister && index != NoRegister && option&3 == 3 && d.field(10, 3) == 0 {
			d.compare(d.rnSP(), index, 0)
		}
	}
	if size := uint8(1) << (option & 3); to != NoRegister && index != NoRegister && size < 8 {
		d.emit(Operation{Op: OpExtend, To: Scratch, From: index, Size: size, Signed: option >= 4})
		index = Scratch
	}
	d.add(to, d.rnSP(), index, uint8(d.field(10, 3)))
}

// conditional decodes csel, csinc, csinv and csneg.
func (d *arm64Decoder) conditional() {
	if d.field(30, 1) == 1 || d.field(10, 2) != 0 || !d.wide() { // not csel
		d.clobber(d.rd())
		return
	}
	from, index := d.rn(), d.rm()
	if from == NoRegister {
		from, index = index, from
	}
	if index == NoRegister { // csel of 0
		d.emit(Operation{Op: OpConstant, To: Scratch})
		index = Scratch
	}
	d.emit(Operation{Op: OpSelect, To: d.rd(), From: from, Index: index})
}

// oneSource decodes the instructions with one source, and those that sign pointers.
func (d *arm64Decoder) oneSource() {
	if d.field(16, 5) != 1 {
		d.clobber(d.rd())
		return
	}
	o := Operation{To: d.rd(), From: d.rd(), Offset: int64(d.field(10, 1))}
	switch opcode := d.field(10, 6); {
	case opcode == 0b010000: // xpaci
		o.Op = OpStrip
	case opcode <= 1 && d.rnSP() == arm64SP: // pacia x30, sp
		o.Op = OpSign
	case (opcode == 4 || opcode == 5) && d.rnSP() == arm64SP: // autia x30, sp
		o.Op = OpAuthenticate
	default: // with another modifier, or paciasppc and so on
		o.Op = OpForget
	}
	d.emit(o)
}

// vectors decodes floating point and vector instructions (Arm ARM C4.1, "Data Processing --
// Scalar Floating-Point and Advanced SIMD").
func (d *arm64Decoder) vectors() {
	switch {
	case d.has(0x7f20fc00, 0x1e200000): // conversions from and to integers
		d.conversion()
	case d.has(0x7f200000, 0x1e000000): // of fixed-point numbers
		if d.field(16, 3) < 2 {
			d.clobber(d.rd())
			return
		}
		d.clobber(vector(d.field(0, 5)))
	case d.has(0xff20fc07, 0x1e202000), d.has(0xff200c00, 0x1e200400): // fcmp, fccmp
		d.out.KeepsFlags = false
	case d.has(0xbfe0fc00, 0x0e002c00): // smov
		d.clobber(d.rd())
	case d.has(0xbfe0fc00, 0x0e003c00): // umov
		d.forget(d.rd())
	case d.has(0xbfe0fc00, 0x0ea01c00), d.has(0xfffffc00, 0x1e604000): // orr and so mov, fmov
		if from := vector(d.field(5, 5)); from != NoRegister && d.field(16, 5) == d.field(5, 5) {
			d.emit(Operation{Op: OpCopy, To: vector(d.field(0, 5)), From: from})
			return
		}
		d.forget(vector(d.field(0, 5)))
	case d.has(0xffe08400, 0x6e000400), d.has(0xffe0fc00, 0x4e001c00): // ins
		d.forget(vector(d.field(0, 5)))
	default:
		d.clobber(vector(d.field(0, 5)))
	}
}

// conversion decodes moves and conversions between a general register and a vector.
func (d *arm64Decoder) conversion() {
	opcode, mode := d.field(16, 3), d.field(19, 2)
	double := d.wide() && d.field(22, 2) == 1 && mode == 0
	switch {
	case opcode == 2, opcode == 3: // scvtf, ucvtf
		d.clobber(vector(d.field(0, 5)))
	case opcode == 7: // fmov to a vector
		to := vector(d.field(0, 5))
		if from := d.rn(); double && from != NoRegister {
			d.emit(Operation{Op: OpCopy, To: to, From: from})
			return
		}
		d.forget(to)
	case opcode == 6 && mode < 3: // fmov from a vector
		if from := vector(d.field(5, 5)); double && from != NoRegister {
			d.emit(Operation{Op: OpCopy, To: d.rd(), From: from})
		} else if d.wide() {
			d.forget(d.rd())
		} else {
			d.clobber(d.rd())
		}
	default: // fcvtzs and so on, fjcvtzs
		d.clobber(d.rd())
	}
}
