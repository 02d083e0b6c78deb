// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region

import "github.com/clewdev/clew/arch"

// effects applies operations to the state of a frame.
type effects struct {
	m      *arch.Machine
	region int // number of the operations' region, from 1
	state
}

// maxOffset limits the operands of operations, so that no sum of them overflows.
const maxOffset = 1 << 40

// apply applies an operation, except those that name states.
func (x *effects) apply(o *Op) error {
	if o.Tag == TagPopFrames {
		return x.pop(o.Value, x.region)
	}
	column, err := x.column(int64(o.Register))
	if err != nil {
		return err
	}
	switch o.Tag {
	case TagSaveReg:
		if o.Value >= maxColumns {
			return fault(ErrOperation, "register %d does not exist", o.Value)
		}
		to, err := x.column(int64(o.Value))
		if err != nil {
			return err
		}
		return x.copy(column, to)
	case TagSpillSPRel, TagSpillFPRel, TagAdd:
		n := int64(o.Value)
		if n < -maxOffset || n > maxOffset {
			return fault(ErrOperation, "offset of %d bytes, expected at most %d", n, int64(maxOffset))
		}
		switch o.Tag {
		case TagAdd:
			return x.add(column, n)
		case TagSpillSPRel:
			return x.spill(column, x.sp+n)
		}
		if x.frame < 0 {
			return fault(ErrOperation, "no frame pointer: expected a save_reg of the stack pointer first")
		}
		return x.spill(column, x.fp+n)
	}
	return fault(ErrOperation, "unknown tag")
}

func (x *effects) column(n int64) (uint8, error) {
	if n < 0 || n >= maxColumns {
		return 0, fault(ErrOperation, "register %d does not exist", n)
	}
	return uint8(n), nil
}

func (x *effects) isSP(column uint8) bool { return int(column) == x.m.StackPointer }

// isPC reports whether a column is a program counter that instructions cannot name.
func (x *effects) isPC(column uint8) bool { return int(column) == x.m.ProgramCounter }

// preserved reports whether a procedure must preserve the register for its caller.
func (x *effects) preserved(column uint8) bool {
	return x.m.CalleeSaved(uint64(column)) || int(column) == x.m.ReturnAddress
}

func (x *effects) name(column uint8) string { return x.m.RegisterName(uint64(column)) }

// source returns offset if the register contains its own caller's value plus offset.
// useful is false if no unwinder needs the value.
func (x *effects) source(column uint8) (offset int64, useful bool, err error) {
	v, _, saved := x.saves.find(column)
	switch {
	case int16(column) == x.frame:
		return 0, false, fault(ErrOperation, "%s is the frame pointer: the caller's value is no longer in it", x.name(column))
	case saved && v.kind == lost && x.preserved(column):
		return 0, false, fault(ErrOperation, "%s is overwritten: the caller's value is lost", x.name(column))
	case saved && v.kind == lost:
		return 0, false, nil
	case saved && v.kind == inRegister && v.register == column:
		return v.offset, true, nil
	}
	return 0, true, nil
}

// overwrite records that a register gets another value: the value of column of, or an
// unknown one if of is -1.
func (x *effects) overwrite(column uint8, of int16) error {
	if x.isPC(column) {
		return fault(ErrOperation, "%s cannot be saved in", x.name(column))
	}
	for _, v := range x.saves {
		if v.kind != inRegister || v.register != column || v.column == column || int16(v.column) == of {
			continue
		}
		left, _, ok := x.after.find(v.column)
		switch {
		case x.held == 0 || ok && left == v:
			return fault(ErrOperation, "%s still holds the caller's %s", x.name(column), x.name(v.column))
		case ok:
			x.saves = x.saves.with(left)
		default:
			x.saves = x.saves.without(v.column)
		}
	}
	if v, _, saved := x.saves.find(column); !saved || v.kind == inRegister && v.register == column {
		x.set(save{column: column, kind: lost})
	}
	if int16(column) == x.frame {
		x.frame = -1
	}
	return nil
}

// copy is save_reg.
func (x *effects) copy(from, to uint8) error {
	switch {
	case from == to:
		return fault(ErrOperation, "a register saved in itself")
	case x.isSP(to):
		if int16(from) != x.frame {
			return fault(ErrOperation, "the stack pointer is set to %s, expected the frame pointer", x.name(from))
		}
		x.sp = x.fp
		return nil
	case x.isSP(from):
		if err := x.open(x.region); err != nil {
			return err
		}
		if err := x.overwrite(to, -1); err != nil {
			return err
		}
		x.frame, x.fp = int16(to), x.sp
		return nil
	case int16(from) == x.frame:
		return x.overwrite(to, -1)
	}
	if v, _, saved := x.saves.find(to); saved && v.kind == inRegister && v.register == from {
		// The register is restored.
		if err := x.overwrite(to, -1); err != nil {
			return err
		}
		x.put(save{to, inRegister, to, v.offset})
		return nil
	}
	offset, useful, err := x.source(from)
	if err != nil {
		return err
	}
	if err := x.overwrite(to, int16(from)); err != nil {
		return err
	}
	if useful {
		x.put(save{from, inRegister, to, offset})
	}
	return nil
}

// put records the place of the caller's value of a column, which can be the unchanged register.
func (x *effects) put(v save) {
	if v.kind == inRegister && v.register == v.column && v.offset == 0 {
		x.drop(v.column)
		return
	}
	x.set(v)
}

// spill stores a register at CFA+offset.
func (x *effects) spill(column uint8, offset int64) error {
	if x.isSP(column) {
		return fault(ErrOperation, "the stack pointer cannot be spilled, only saved in a register")
	}
	changed, useful, err := x.source(column)
	switch {
	case err != nil:
		return err
	case changed != 0:
		return fault(ErrOperation, "%s contains the caller's value plus %d, expected the value itself", x.name(column), changed)
	}
	if err := x.open(x.region); err != nil || !useful {
		return err
	}
	size := int64(x.m.RegisterSize)
	for _, v := range x.saves {
		if v.kind == inMemory && v.column != column && v.offset < offset+size && offset < v.offset+size {
			return fault(ErrOperation, "the slot at CFA%+d still contains the caller's %s", v.offset, x.name(v.column))
		}
	}
	x.put(save{column: column, kind: inMemory, offset: offset})
	return nil
}

func (x *effects) add(column uint8, n int64) error {
	switch {
	case n == 0:
		return nil
	case x.isSP(column):
		if n < 0 {
			if err := x.open(x.region); err != nil {
				return err
			}
		}
		if x.sp += n; x.sp < -maxOffset || x.sp > maxOffset {
			return fault(ErrOperation, "the stack pointer would be CFA%+d", x.sp)
		}
		return nil
	case int16(column) == x.frame:
		if x.fp += n; x.fp < -maxOffset || x.fp > maxOffset {
			return fault(ErrOperation, "the frame pointer would be CFA%+d", x.fp)
		}
		return nil
	case x.isPC(column):
		return fault(ErrOperation, "%s cannot be added to", x.name(column))
	}
	_, _, saved := x.saves.find(column)
	for _, v := range x.saves {
		if v.kind == inRegister && v.register == column {
			if v.offset += n; v.offset < -maxOffset || v.offset > maxOffset {
				return fault(ErrOperation, "%s contains the caller's %s plus %d", x.name(column), x.name(v.column), v.offset)
			}
			x.put(v)
		}
	}
	if !saved {
		v := save{column, inRegister, column, n}
		if !x.preserved(column) {
			v = save{column: column, kind: lost}
		}
		x.set(v)
	}
	return nil
}
