// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"debug/elf"
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

// memberPointer writes a pointer to a member of a class of C++ (Itanium C++ ABI §2.3):
// that to data is the member's offset, or -1.
func (w *printing) memberPointer(t *Type, b []byte) {
	if t.Elem().named().kind == Func {
		w.methodPointer(t, b)
		return
	}
	n := int64(signExtend(uintOf(t.machine.Order, b), 8*uint64(len(b))))
	switch name := newMemberSearch().at(t.memberOf(), uint64(n), 0); {
	case n == -1:
		w.add("NULL")
	case name != "":
		w.add("&" + name)
	default:
		w.add(strconv.FormatInt(n, 10))
	}
}

// methodPointer writes a pointer to a function of a class: the function's address, or
// an offset in the table of virtual functions, and what is added to the object's
// address. Which of both the first is, its lowest bit says, or that of the second on
// machines where it is a part of addresses (C++ ABI for the Arm 64-bit Architecture, §3.2.1).
func (w *printing) methodPointer(t *Type, b []byte) {
	half := len(b) / 2
	order := t.machine.Order
	pointer, adjustment := uintOf(order, b[:half]), signExtend(uintOf(order, b[half:]), 8*uint64(half))
	isVirtual := pointer&1 != 0
	if t.machine.ELF == elf.EM_AARCH64 || t.machine.ELF == elf.EM_ARM {
		isVirtual = adjustment&1 != 0
		adjustment = uint64(int64(adjustment) >> 1)
	} else if isVirtual {
		pointer--
	}
	switch {
	case isVirtual:
		if name := newMemberSearch().virtual(t.memberOf(), pointer/uint64(half), adjustment, 0); name != "" {
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
		w.add("(" + t.spelled() + ") ")
		w.address(pointer, true)
	}
	if adjustment != 0 {
		w.add(", this adjustment " + strconv.FormatInt(int64(adjustment), 10))
	}
}

// memberOf returns the class whose members t leads to, nil where it is not known.
func (t *Type) memberOf() *Type {
	t.load()
	if t.class == nil {
		return nil
	}
	return t.class.Strip()
}

// memberSearch looks for what a pointer to a member leads to. Classes that are damaged
// can hold themselves: how many are looked at is bounded.
type memberSearch struct{ left int }

func newMemberSearch() *memberSearch { return &memberSearch{256} }

func (s *memberSearch) enter(t *Type, depth int) bool {
	s.left--
	return t != nil && s.left >= 0 && depth < maxChain
}

// at returns the name of a class's member at an offset, "" where there is none.
func (s *memberSearch) at(t *Type, offset uint64, depth int) string {
	if !s.enter(t, depth) || t.name == "" && depth == 0 {
		return ""
	}
	fields := t.Fields()
	for k := range fields {
		f := &fields[k]
		if f.Base || f.Static != nil || f.BitSize != 0 {
			continue
		}
		switch {
		case f.Name != "" && f.Offset == offset:
			return t.name + "::" + f.Name
		case f.Name == "" && offset-f.Offset < f.Type.Size():
			// What is in an anonymous union is a member of the class.
			inner := f.Type.Strip()
			if name := s.at(inner, offset-f.Offset, depth+1); name != "" {
				return t.name + name[len(inner.name):]
			}
		}
	}
	for k := range fields {
		if f := &fields[k]; f.Base && !f.Virtual && offset-f.Offset < f.Type.Size() {
			return s.at(f.Type.Strip(), offset-f.Offset, depth+1)
		}
	}
	return ""
}

// virtual returns the linkage name of a class's function by its place in the table of
// virtual functions that an object has at an offset, "" where there is none.
func (s *memberSearch) virtual(t *Type, place, offset uint64, depth int) (name string) {
	if !s.enter(t, depth) {
		return ""
	}
	if offset == 0 && t.info != nil {
		_ = t.info.locked(func() error { // what cannot be read is not there
			children, err := t.info.children(t.offset)
			for k := range children {
				c := &children[k]
				if virtuality, _ := c.Number(dwarf.AttrVirtuality); c.Tag == dwarf.TagSubprogram && virtuality != 0 && name == "" {
					if at, ok := tablePlace(c); ok && at == place {
						name = t.info.symbolName(c)
					}
				}
			}
			return err
		})
	}
	fields := t.Fields()
	for k := range fields {
		if f := &fields[k]; name == "" && f.Base && !f.Virtual && offset-f.Offset < f.Type.Size() {
			name = s.virtual(f.Type.Strip(), place, offset-f.Offset, depth+1)
		}
	}
	return name
}

// tablePlace returns the place of a function in the table of virtual functions.
func tablePlace(e *object.DebugEntry) (uint64, bool) {
	b, _ := e.Block(dwarf.AttrVtableElemLoc)
	if len(b) < 2 || cfi.Op(b[0]) != cfi.OpConstu {
		return 0, false
	}
	c := newCursor(nil, b[1:], nil)
	n := c.ULEB128()
	return n, c.Err == nil
}
