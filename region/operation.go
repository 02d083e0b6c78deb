// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region

import (
	"fmt"
	"math"

	"github.com/clewdev/clew/arch"
)

// Tag is the kind of an operation. The values are libunwind's, UNW_DYN_*.
type Tag int8

const (
	TagStop       Tag = iota // ends the list
	TagSaveReg               // register Register is saved in register Value
	TagSpillFPRel            // register Register is saved at the frame pointer + Value
	TagSpillSPRel            // register Register is saved at the stack pointer + Value
	TagAdd                   // Value is added to register Register
	TagPopFrames             // the last Value stack frames are undone
	TagLabelState            // Value becomes the label of the state
	TagCopyState             // the state becomes the one with the label Value
	TagAlias                 // the region is a copy of the code at the address Value
)

var tagNames = [...]string{"stop", "save_reg", "spill_fp_rel", "spill_sp_rel", "add", "pop_frames",
	"label_state", "copy_state", "alias"}

// String returns libunwind's name of the operation: "spill_sp_rel".
func (t Tag) String() string {
	if t >= 0 && int(t) < len(tagNames) {
		return tagNames[t]
	}
	return fmt.Sprintf("Tag(%d)", int8(t))
}

// Op is an operation: the effect of an instruction on the frame. The operations of a
// region may be in any order; those of one instruction take effect in the order of
// the list.
type Op struct {
	Tag Tag

	// Predicate is the predicate register on which the operation depends, on machines
	// that have them. It is kept, and otherwise ignored.
	Predicate int8

	Register int16  // a DWARF column, which is libunwind's number on amd64 and arm64
	When     int32  // the unit of the region after which the effect holds; -1: the region's start
	Value    uint64 // by tag; offsets as two's complement
}

// narrow converts a column to the type of Op.Register. It returns -1, an invalid column, if
// the column does not fit.
func narrow(register uint64) int16 {
	if register > math.MaxInt16 {
		return -1
	}
	return int16(register)
}

// SaveReg says that an instruction copies register to the register in.
func SaveReg(when int32, register, in uint64) Op {
	return Op{Tag: TagSaveReg, When: when, Register: narrow(register), Value: in}
}

// SpillFPRel says that an instruction stores register at offset bytes from the
// frame pointer.
func SpillFPRel(when int32, register uint64, offset int64) Op {
	return Op{Tag: TagSpillFPRel, When: when, Register: narrow(register), Value: uint64(offset)}
}

// SpillSPRel says that an instruction stores register at offset bytes from the
// stack pointer.
func SpillSPRel(when int32, register uint64, offset int64) Op {
	return Op{Tag: TagSpillSPRel, When: when, Register: narrow(register), Value: uint64(offset)}
}

// Add says that an instruction adds value to register.
func Add(when int32, register uint64, value int64) Op {
	return Op{Tag: TagAdd, When: when, Register: narrow(register), Value: uint64(value)}
}

// PopFrames says that an instruction restores the stack pointer to its value before the
// last n stack frames were set up.
func PopFrames(when int32, n uint64) Op { return Op{Tag: TagPopFrames, When: when, Value: n} }

// LabelState names the state after the operations listed before it, or, listed first,
// the state at the start of the region.
func LabelState(label uint64) Op { return Op{Tag: TagLabelState, When: -1, Value: label} }

// CopyState says that the region starts with the state of the label.
func CopyState(label uint64) Op { return Op{Tag: TagCopyState, When: -1, Value: label} }

// Alias says that the region is a copy of the code at an address, of the same size. The
// frame's states are those of that code from unit when+1 on. Operations after it are ignored.
func Alias(when int32, address uint64) Op { return Op{Tag: TagAlias, When: when, Value: address} }

// Stop ends the list: operations after it are ignored.
func Stop() Op { return Op{Tag: TagStop, When: -1} }

// String describes the operation with libunwind's names and its register by number:
// "add r7 -8 at 0".
func (o Op) String() string {
	at := fmt.Sprintf(" at %d", o.When)
	switch o.Tag {
	case TagStop:
		return "stop"
	case TagSaveReg:
		return fmt.Sprintf("%v r%d in r%d", o.Tag, o.Register, o.Value) + at
	case TagSpillFPRel, TagSpillSPRel, TagAdd:
		return fmt.Sprintf("%v r%d %+d", o.Tag, o.Register, int64(o.Value)) + at
	case TagAlias:
		return fmt.Sprintf("%v %#x", o.Tag, o.Value) + at
	}
	return fmt.Sprintf("%v %d", o.Tag, o.Value) + at
}

// Unit returns the number of bytes of a unit of Region.Count and Op.When: 1 on amd64,
// 4 on arm64, and 0 for machines without support for regions.
func Unit(m *arch.Machine) uint64 {
	if m == nil {
		return 0
	}
	return m.RegionUnit
}

// After returns the Op.When of the instruction that ends n bytes after the region's
// start, on a supported machine. If n is larger than any region, so is the result.
func After(m *arch.Machine, n uint64) int32 { return int32(min(n/Unit(m), math.MaxInt32)) - 1 }
