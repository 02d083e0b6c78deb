// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"cmp"
	"debug/dwarf"
	"math/bits"
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/number"
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

// GoType follows the typedefs of t to the first type that has a form in Go's syntax, such as a
// slice or a map. It returns nil if there is none.
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

// goName returns the name of a type of Go.
func (t *Type) goName() string {
	for range maxChain {
		switch {
		case t.goPlace > 0: // the compiler made up its name
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
	n := namer{left: 256}
	return n.declare(t, "", 0)
}

// GoDynamic returns the type whose runtime type descriptor is at a run-time address, or nil if
// the debugging information does not have it.
func (v Value) GoDynamic(address uint64) (t *Type) {
	i, u := v.typ.info, v.typ.unit
	if i == nil || v.frame == nil {
		return nil
	}
	_ = i.locked(func() error { // a type that cannot be read is not found
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

// readGoTypes reads the addresses of runtime type descriptors from the entries of a unit. The
// types of a program are all in the runtime's unit.
func (i *Info) readGoTypes(u *entry.Unit) error {
	root, err := i.entries.Read(u.First)
	if err != nil || !root.Children {
		return err
	}
	found := make(map[uint64]object.DebugOffset)
	lowest := ^uint64(0)
	e := new(object.DebugEntry)
	for err == nil {
		var ok bool
		if ok, err = i.entries.NextTo(e); err != nil || !ok || e.Tag == 0 || e.Offset >= u.End {
			break
		}
		if at, ok := e.Address(dw.AttrGoRuntimeType); ok && at != 0 && i.entries.Retain(1) {
			lowest = min(lowest, at)
			if _, known := found[at]; !known {
				found[at] = e.Offset
			}
		}
		err = i.entries.Skip(e, u)
	}
	// Go 1.26 writes offsets from runtime.types, earlier releases addresses.
	base := uint64(0)
	if types, ok := i.object.Symbol("runtime.types"); ok && lowest < types.Address {
		base = types.Address
	}
	for at, off := range found {
		i.goTypes[base+at] = off
	}
	return err
}

// GoMapTypes returns the key and value types of a map, or nil if they are not known.
func (t *Type) GoMapTypes() (key, elem *Type) {
	if t.info == nil {
		return nil, nil
	}
	_ = t.info.locked(func() error { // types that cannot be read are not known
		e, err := t.info.entries.Read(t.offset)
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

// ConstantName returns the name of the constant that has a Go type and the value b, or "". As in
// Delve, a number of several bits can have the names of several constants: "fa|fc". It considers
// only constants of the type's package. Constants of other packages have another meaning: the
// constant for a timeout of 15 s is a time.Duration, but is not the name of each duration of 15 s.
func (t *Type) ConstantName(b []byte) (name string) {
	if t.language != Go || t.info == nil || len(b) > 8 {
		return ""
	}
	n := number.Uint(t.machine.Order, b)
	if t.signed {
		n = number.SignExtend(n, 8*uint64(len(b)))
	}
	path, ok := goPackage(t.name)
	if !ok {
		return ""
	}
	_ = t.info.locked(func() error { // a constant that cannot be read is not found
		name = constantName(t.info.constantsOf(t, path), int64(n), path+".")
		return nil
	})
	return name
}

// constantsOf returns the constants of a type of Go that are in its package.
func (i *Info) constantsOf(t *Type, path string) []entry.GoConstant {
	list, ok := i.constants[t.offset]
	if ok {
		return list
	}
	for _, u := range i.unitsOf(path) {
		_ = i.entries.Index(u) // constants that cannot be read are left out
		for _, c := range u.Names.Constants {
			if c.Type == t.offset && i.entries.Retain(1) {
				list = append(list, c)
			}
		}
	}
	if i.constants == nil {
		i.constants = make(map[object.DebugOffset][]entry.GoConstant)
	}
	i.constants[t.offset] = list
	return list
}

// goPackage returns the import path in the name of a type: "net/http" for
// "net/http.ConnState".
func goPackage(name string) (path string, ok bool) {
	name, _, _ = strings.Cut(name, "[")
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot <= 0 {
		return "", false
	}
	return name[:slash+dot], true
}

// unitsOf returns the units of a package of Go. Its assembly code has a separate one.
func (i *Info) unitsOf(path string) []*entry.Unit {
	if i.packages == nil {
		i.packages = make(map[string][]*entry.Unit)
		for _, u := range i.entries.LinkedUnits() {
			root, err := i.entries.Root(u)
			if err != nil || u.Language != Go {
				continue
			}
			if name, ok := root.Text(dwarf.AttrName); ok && i.entries.Retain(1) {
				i.packages[name] = append(i.packages[name], u)
			}
		}
	}
	return i.packages[path]
}

// constantName returns the name of a number, or the names of its bits.
func constantName(list []entry.GoConstant, n int64, prefix string) string {
	var flags []entry.GoConstant
	for _, c := range list {
		if c.Value == n {
			return strings.TrimPrefix(c.Name, prefix)
		}
		if bits.OnesCount64(uint64(c.Value)) == 1 && n&c.Value != 0 {
			flags = append(flags, c)
		}
	}
	slices.SortStableFunc(flags, func(a, b entry.GoConstant) int { return cmp.Compare(uint64(a.Value), uint64(b.Value)) })
	var names []string
	for _, c := range flags {
		if n&c.Value != 0 {
			names = append(names, strings.TrimPrefix(c.Name, prefix))
			n &^= c.Value
		}
	}
	if n != 0 {
		return ""
	}
	return strings.Join(names, "|")
}

// maxGoParameters bounds the number of types in a dictionary.
const maxGoParameters = 1 << 16

// goInstance returns the type of a type parameter in the call of e's frame. One function is
// compiled for all types of a shape (go.shape.int). Its argument .dict, a dictionary, contains
// the types. Optimized code does not say where it is: goInstance returns the shape then.
func (e *evaluator) goInstance(t *Type) *Type {
	if t == nil || t.goPlace == 0 || e.body == nil || e.body.unit.Language != Go {
		return t
	}
	dictionary, ok := e.goDictionary(t)
	if !ok {
		return t
	}
	size := uint64(e.info.machine.AddressSize)
	b, err := e.memory(dictionary+size*uint64(t.goPlace-1), size)
	if err != nil {
		return t
	}
	// The shape is in the unit with all types, its name in the function's unit.
	instance := Value{typ: t.Elem(), frame: e.frame}.GoDynamic(number.Uint(e.info.machine.Order, b))
	if instance == nil || instance.Size() != t.Size() {
		return t
	}
	return instance
}

// goDictionary returns the run-time address of the dictionary with which the function of a type
// parameter was called.
func (e *evaluator) goDictionary(t *Type) (address uint64, ok bool) {
	var v *Variable
	err := e.info.locked(func() (err error) {
		isOwn := false // the parameter does not belong to the function of an inlined call
		for c := range e.body.root.Direct() {
			isOwn = isOwn || c.Offset == t.offset
			if c.Tag == dwarf.TagFormalParameter && v == nil && c.IsText(dwarf.AttrName, ".dict") {
				v, err = e.info.variable(&c.DebugEntry, e.body)
			}
		}
		if !isOwn {
			v = nil
		}
		return err
	})
	if err != nil || v == nil || v.Type.goPlace != 0 {
		return 0, false
	}
	inner := e.within(v.info, v.unit, v.body, e.frame)
	defer inner.release()
	address, err = v.readIn(inner).Uint()
	return address, err == nil && address != 0
}
