// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"strconv"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
)

// memberPointer writes a pointer to a member of a class of C++ (Itanium C++ ABI §2.3). A
// pointer to data is the member's offset, or -1.
func (w *printing) memberPointer(t *value.Type, b []byte) {
	if unqualified(t.Elem()).Kind() == value.Func {
		w.methodPointer(t, b)
		return
	}
	n := int64(number.SignExtend(number.Uint(t.Machine().Order, b), 8*uint64(len(b))))
	switch name := t.MemberAt(uint64(n)); {
	case n == -1:
		w.add("NULL")
	case name != "":
		w.add("&" + name)
	default:
		w.add(strconv.FormatInt(n, 10))
	}
}

// methodPointer writes a pointer to a function of a class. It consists of two words: the
// function's address, or an offset in the table of virtual functions, and the number that is
// added to the object's address. The lowest bit of the first word is set if that is an
// offset. On machines where the bit is a part of addresses it is the lowest bit of the second
// word (C++ ABI for the Arm 64-bit Architecture, §3.2.1).
func (w *printing) methodPointer(t *value.Type, b []byte) {
	half := len(b) / 2
	order := t.Machine().Order
	pointer, adjustment := number.Uint(order, b[:half]), number.SignExtend(number.Uint(order, b[half:]), 8*uint64(half))
	isVirtual := pointer&1 != 0
	if t.Machine().C.VirtualInAdjustment {
		isVirtual = adjustment&1 != 0
		adjustment = uint64(int64(adjustment) >> 1)
	} else if isVirtual {
		pointer--
	}
	switch {
	case isVirtual:
		if name := t.VirtualAt(pointer/uint64(half), adjustment); name != "" {
			if w.Demangle != nil {
				name = w.Demangle(name)
			}
			w.add("&virtual " + name)
			return
		}
		w.add("&virtual table offset " + strconv.FormatUint(pointer, 10))
	case pointer == 0:
		w.add("NULL")
		return
	default:
		w.add("(" + t.String() + ") ")
		w.address(pointer, true)
	}
	if adjustment != 0 {
		w.add(", this adjustment " + strconv.FormatInt(int64(adjustment), 10))
	}
}
