// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package lift

// memory decodes loads and stores (Arm ARM C4.1, "Loads and Stores").
func (d *arm64Decoder) memory() bool {
	isVector := d.field(26, 1) == 1
	switch d.field(28, 2) {
	case 0b00:
		if isVector {
			return d.structures()
		}
		return d.exclusive()
	case 0b01:
		if d.field(24, 1) == 0 {
			d.literal(isVector)
			return true
		}
		return d.ordered(isVector)
	case 0b10:
		return d.pair(isVector)
	}
	return d.single(isVector)
}

// access is a load or store of one register.
type access struct {
	register uint8 // NoRegister for the zero register and for vectors that are not followed
	size     int64 // bytes
	loads    bool
}

// at makes the operations of an access at an offset from the base.
func (d *arm64Decoder) at(a access, base uint8, offset int64) {
	switch {
	case a.loads && a.size >= 8: // of a vector the low half is followed
		d.emit(Operation{Op: OpLoad, To: a.register, From: base, Offset: offset})
	case a.loads:
		d.clobber(a.register)
	case a.size > 8:
		d.emit(Operation{Op: OpStore, To: base, From: a.register, Size: 8, Offset: offset})
		d.emit(Operation{Op: OpStore, To: base, From: NoRegister, Size: 8, Offset: offset + 8})
	case a.size == 8:
		d.emit(Operation{Op: OpStore, To: base, From: a.register, Size: 8, Offset: offset})
	default:
		d.emit(Operation{Op: OpStore, To: base, From: NoRegister, Size: uint8(a.size), Offset: offset})
	}
}

// transferred returns the register of a field Rt.
func (d *arm64Decoder) transferred(low int, isVector bool) uint8 {
	if isVector {
		return vector(d.field(low, 5))
	}
	return d.register(low)
}

// Forms of addresses: the base changes after or before the access, or not.
const (
	arm64Post   = 1
	arm64Offset = 2
	arm64Pre    = 3
)

// indexed makes the operations of one or two accesses, and of the change of the base.
func (d *arm64Decoder) indexed(form uint32, offset int64, first access, second ...access) {
	base, at := d.rnSP(), offset
	if form == arm64Post {
		at = 0
	}
	replaced := first.loads && first.register == base // before the second one uses it
	if !replaced {
		d.at(first, base, at)
	}
	for _, a := range second {
		d.at(a, base, at+a.size)
	}
	if replaced {
		d.at(first, base, at)
	}
	if form != arm64Offset {
		d.emit(Operation{Op: OpCopy, To: base, From: base, Offset: offset})
	}
}

// pair decodes ldp, stp and their forms.
func (d *arm64Decoder) pair(isVector bool) bool {
	kind, loads, form := d.field(30, 2), d.field(22, 1) == 1, d.field(23, 2)
	if form == 0 { // stnp, ldnp
		form = arm64Offset
	}
	var size, scale int64
	switch {
	case kind == 3:
		return false // FEAT_LSUI
	case isVector:
		size, scale = 4<<kind, 4<<kind
	case kind == 1 && loads: // ldpsw
		size, scale = 4, 4
	case kind == 1: // stgp
		size, scale = 8, 16
	default:
		size, scale = 4<<(kind/2), 4<<(kind/2)
	}
	d.indexed(form, d.signedField(15, 7)*scale,
		access{d.transferred(0, isVector), size, loads}, access{d.transferred(10, isVector), size, loads})
	return true
}

// single decodes loads and stores of one register.
func (d *arm64Decoder) single(isVector bool) bool {
	size, opc := int64(1)<<d.field(30, 2), d.field(22, 2)
	other := d.field(24, 1) == 0 && d.field(21, 1) == 1
	a := access{d.transferred(0, isVector), size, opc != 0}
	switch {
	case other && d.field(10, 2) == 0:
		return !isVector && d.atomic(size)
	case other && d.field(10, 2) != 2:
		return !isVector && d.authenticated(size)
	case isVector:
		a.loads = opc&1 == 1
		if opc >= 2 {
			a.size = 16
		}
	case opc == 2 && size == 8: // prfm
		return true
	}
	scaled := int64(d.field(10, 12)) * a.size
	switch form := d.field(10, 2); {
	case d.field(24, 1) == 1:
		d.indexed(arm64Offset, scaled, a)
	case other:
		d.registerOffset(isVector, a, opc)
	case form == 0 || form == 2: // ldur, ldtr
		d.indexed(arm64Offset, d.signedField(12, 9), a)
	default:
		d.indexed(form, d.signedField(12, 9), a)
	}
	return true
}

// registerOffset decodes a load or store with an index.
func (d *arm64Decoder) registerOffset(isVector bool, a access, opc uint32) {
	base, index, scaled := d.rnSP(), d.rm(), d.field(12, 1) == 1
	switch {
	case index == NoRegister:
		d.at(a, base, 0)
	case a.loads && a.size < 8 && (isVector || a.size > 1 && !scaled):
		d.clobber(a.register)
	case a.loads && (isVector || a.size > 1 && !scaled):
		d.forget(a.register)
	case a.loads: // perhaps from a jump table
		d.emit(Operation{Op: OpTable, To: a.register, From: base, Index: index, Size: uint8(a.size), Signed: opc >= 2})
	case a.size == 8 && d.field(13, 3) == 0b011:
		// Through a known index it saves a register in a large frame.
		d.emit(Operation{Op: OpSum, To: Scratch, From: base, Index: index, Size: uint8(3 * d.field(12, 1))})
		d.emit(Operation{Op: OpStore, To: Scratch, From: a.register, Size: 8})
	}
}

// authenticated decodes ldraa and ldrab.
func (d *arm64Decoder) authenticated(size int64) bool {
	if size != 8 {
		return false
	}
	d.clobber(d.rd())
	if d.field(11, 1) == 1 {
		offset := (d.signedField(22, 1)<<9 | int64(d.field(12, 9))) * 8
		d.emit(Operation{Op: OpCopy, To: d.rnSP(), From: d.rnSP(), Offset: offset})
	}
	return true
}

// atomic decodes atomic memory operations. All write memory at the base.
func (d *arm64Decoder) atomic(size int64) bool {
	operation := d.field(12, 4)
	if operation > 8 && operation != 0b1100 {
		return false // FEAT_LS64, FEAT_THE
	}
	if operation != 0b1100 { // ldapr only loads
		d.emit(Operation{Op: OpStore, To: d.rnSP(), From: NoRegister, Size: uint8(size)})
	}
	d.clobber(d.rd())
	return true
}

// literal decodes loads from an address near the instruction.
func (d *arm64Decoder) literal(isVector bool) {
	if isVector || d.field(30, 2) != 3 { // not prfm
		d.clobber(d.transferred(0, isVector))
	}
}

// exclusive decodes exclusive and ordered accesses, and compare and swap.
func (d *arm64Decoder) exclusive() bool {
	if d.field(24, 1) == 1 {
		return false // FEAT_LSUI
	}
	size, status := int64(1)<<d.field(30, 2), d.register(16)
	ordered, loads, isPair := d.field(23, 1) == 1, d.field(22, 1) == 1, d.field(21, 1) == 1
	stored := uint8(size)
	switch {
	case ordered && isPair: // cas
		d.clobber(status)
	case isPair && size < 4: // casp
		d.clobber(status)
		d.clobber(d.next(status))
		stored = 8 << d.field(30, 1)
	case loads:
		d.clobber(d.rd())
		if isPair {
			d.clobber(d.register(10))
		}
		return true
	case isPair: // stxp
		d.clobber(status)
		stored *= 2
	case !ordered: // stxr
		d.clobber(status)
	default: // stlr
		d.at(access{d.rd(), size, false}, d.rnSP(), 0)
		return true
	}
	d.emit(Operation{Op: OpStore, To: d.rnSP(), From: NoRegister, Size: stored})
	return true
}

// ordered decodes the accesses of FEAT_LRCPC2, memory tags, and copies of memory.
func (d *arm64Decoder) ordered(isVector bool) bool {
	size, opc := int64(1)<<d.field(30, 2), d.field(22, 2)
	switch form := d.field(10, 2); {
	case d.field(21, 1) == 1:
		return !isVector && size == 8 && d.tag(opc, form)
	case form == 0 && !isVector: // stlur, ldapur
		d.indexed(arm64Offset, d.signedField(12, 9), access{d.rd(), size, opc != 0})
	case form == 1 && !isVector: // cpyf, cpy, set
		for _, low := range []int{0, 5, 16} {
			d.clobber(d.register(low))
		}
		d.out.KeepsFlags = false
	case form == 2 && isVector: // stlur, ldapur of vectors
		if opc >= 2 {
			size = 16
		}
		d.indexed(arm64Offset, d.signedField(12, 9), access{d.transferred(0, true), size, opc&1 == 1})
	default:
		return false // FEAT_LRCPC3
	}
	return true
}

// tag decodes accesses of memory tags. They write no data, except for those that zero it.
func (d *arm64Decoder) tag(opc, form uint32) bool {
	offset := d.signedField(12, 9) * 16
	switch {
	case form == 0 && opc == 1: // ldg
		d.emit(Operation{Op: OpIndexed, To: d.rd(), From: d.rd(), Index: NoRegister})
		return true
	case form == 0: // stzgm, stgm, ldgm are for kernels
		return false
	}
	at := offset
	if form == arm64Post {
		at = 0
	}
	if opc&1 == 1 {
		for n := range int64(2 * (1 + opc/2)) {
			d.emit(Operation{Op: OpStore, To: d.rnSP(), From: NoRegister, Size: 8, Offset: at + 8*n})
		}
	}
	if form != arm64Offset {
		d.emit(Operation{Op: OpCopy, To: d.rnSP(), From: d.rnSP(), Offset: offset})
	}
	return true
}

// structures decodes ld1 to ld4 and st1 to st4.
func (d *arm64Decoder) structures() bool {
	if d.word>>31 == 1 || d.field(24, 1) == 0 && d.field(21, 1) == 1 {
		return false
	}
	opcode, bytes, registers := d.field(12, 4), int64(8)<<d.field(30, 1), int64(0)
	switch {
	case d.field(24, 1) == 1: // of one lane
		registers = int64(d.field(13, 1)<<1|d.field(21, 1)) + 1
		bytes = 1 << d.field(14, 2)
		switch {
		case bytes == 4 && d.field(10, 1) == 1:
			bytes = 8
		case bytes == 8: // of all lanes
			bytes = 1 << d.field(10, 2)
		}
	default:
		registers = [16]int64{0: 4, 2: 4, 4: 3, 6: 3, 7: 1, 8: 2, 10: 2}[opcode]
	}
	if registers == 0 {
		return false
	}
	base := d.rnSP()
	if d.field(22, 1) == 1 {
		d.forgetVectors(uint32(registers))
	} else {
		d.emit(Operation{Op: OpStore, To: base, From: NoRegister, Size: uint8(registers * bytes)})
	}
	if d.field(23, 1) == 1 {
		if index := d.rm(); index != NoRegister {
			d.emit(Operation{Op: OpIndexed, To: base, From: base, Index: index})
		} else {
			d.emit(Operation{Op: OpCopy, To: base, From: base, Offset: registers * bytes})
		}
	}
	return true
}
