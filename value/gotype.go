// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
)

// Values of DW_AT_go_kind: the numbers of package reflect's Kinds.
const (
	goArray         = 17
	goChan          = 18
	goFunc          = 19
	goInterface     = 20
	goMap           = 21
	goPointer       = 22
	goSlice         = 23
	goString        = 24
	goStruct        = 25
	goUnsafePointer = 26
)

// GoType returns the first of a type and those that it stands for which is a type
// of Go that is written as Go has it, nil where none is.
func (t *Type) GoType() *Type {
	if t == nil || t.language != Go {
		return nil
	}
	for range maxChain {
		if t.goKind >= goArray && t.goKind <= goUnsafePointer {
			return t
		}
		if t.kind != Typedef {
			return nil
		}
		t = t.Elem()
	}
	return nil
}

// goName is the name of a type in Go.
func (t *Type) goName() string {
	for range maxChain {
		switch {
		case t.goPlace > 0: // its name is the compiler's
			t = t.Elem()
			continue
		case t.name != "":
			return t.name
		case t.kind == Pointer:
			if e := t.Elem(); e.name != "" {
				return "*" + e.name
			}
		case t.kind == Typedef:
			t = t.Elem()
			continue
		}
		break
	}
	return t.spelled()
}

// GoDynamic returns the type that the runtime describes at a run-time address, nil
// where the debugging information does not have it.
func (v Value) GoDynamic(address uint64) (t *Type) {
	i, u := v.typ.info, v.typ.unit
	if i == nil || v.frame == nil {
		return nil
	}
	_ = i.locked(func() error { // what cannot be read is not described
		if i.goTypes == nil {
			i.goTypes = make(map[uint64]object.DebugOffset)
			if err := i.readGoTypes(u); err != nil {
				return err
			}
		}
		if off, ok := i.goTypes[address-v.frame.Bias()]; ok {
			t = i.typeAt(off)
		}
		return nil
	})
	return t
}

// readGoTypes reads which entry of a unit describes which of the runtime's types.
// All of a program are in one unit, that of the runtime.
func (i *Info) readGoTypes(u *unit) error {
	root, err := i.read(u.first)
	if err != nil || !root.Children {
		return err
	}
	found := make(map[uint64]object.DebugOffset)
	lowest := ^uint64(0)
	e := new(object.DebugEntry)
	for err == nil {
		var ok bool
		if ok, err = i.nextTo(e); err != nil || !ok || e.Tag == 0 || e.Offset >= u.end {
			break
		}
		if at, ok := e.Address(dw.AttrGoRuntimeType); ok && at != 0 && i.retain(1) {
			lowest = min(lowest, at)
			if _, known := found[at]; !known {
				found[at] = e.Offset
			}
		}
		err = i.skip(e, u)
	}
	// Go 1.26 has offsets from where the types are, those before had addresses.
	base := uint64(0)
	if types, ok := i.object.Symbol("runtime.types"); ok && lowest < types.Address {
		base = types.Address
	}
	for at, off := range found {
		i.goTypes[base+at] = off
	}
	return err
}

// GoMapTypes returns what the keys and the values of a map are, nil where it is not said.
func (t *Type) GoMapTypes() (key, elem *Type) {
	if t.info == nil {
		return nil, nil
	}
	_ = t.info.locked(func() error { // what cannot be read is not known
		e, err := t.info.read(t.offset)
		if err != nil {
			return err
		}
		for attr, to := range map[dwarf.Attr]**Type{dw.AttrGoKey: &key, dw.AttrGoElem: &elem} {
			if off, ok := e.Reference(attr); ok {
				*to = t.info.typeAt(off)
			}
		}
		return nil
	})
	return key, elem
}
