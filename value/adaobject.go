// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/number"
)

// IsArrayDescriptor reports whether a type is GNAT's descriptor of an array whose bounds stand
// elsewhere.
func (t *Type) IsArrayDescriptor() bool {
	if t.kind != Struct || t.language != Ada {
		return false
	}
	fields := t.Fields()
	return len(fields) == 2 && fields[0].Name == "P_ARRAY" && fields[1].Name == "P_BOUNDS"
}

// DescribedArray returns the array that a descriptor leads to, with the bounds that it has.
func (v Value) DescribedArray() Value {
	data, bounds := v.Field(0), v.Field(1).Deref()
	address, err := data.Uint()
	if err != nil {
		return failed(v.typ, v.frame, err)
	}
	var dimensions []*Type
	t := data.typ.Strip().Elem().Strip()
	for ; t.kind == Array && len(dimensions) < maxChain; t = t.Elem() {
		dimensions = append(dimensions, t)
	}
	if fields := bounds.typ.Strip().Fields(); len(fields) != 2*len(dimensions) || len(fields) == 0 {
		return failed(v.typ, v.frame, fmt.Errorf("%w: %d bounds of an array of %d dimensions", ErrDebugInfo, len(fields), len(dimensions)))
	}
	for k := len(dimensions) - 1; k >= 0; k-- {
		lower, lowerErr := bounds.Field(2 * k).Uint()
		upper, upperErr := bounds.Field(2*k + 1).Uint()
		if err := firstError(lowerErr, upperErr); err != nil {
			return failed(v.typ, v.frame, err)
		}
		d := dimensions[k]
		a := &Type{machine: d.machine, language: d.language, kind: Array, elem: t, lower: int64(lower), index: d.index, stride: d.stride, ready: true, unit: d.unit}
		if count := int64(upper) - int64(lower) + 1; count >= 0 && count < 1<<40 || int64(upper) < int64(lower) {
			a.setCount(max(0, count))
		}
		t = a
	}
	return At(t, address, v.frame)
}

// OfTag returns an object of a tagged type as the type that its tag names, where that is
// known and comes from v's. The tag leads to the table of the type's operations, before
// which its description is, with the type's name (GNAT's a-tags.ads).
func (v Value) OfTag() Value {
	if v.err != nil || v.typ == nil || v.frame == nil {
		return v
	}
	address, ok := v.Address()
	t := v.typ.Strip()
	if !ok || t.info == nil || t.tagField(0) == nil {
		return v
	}
	width := uint64(t.machine.AddressSize)
	word := func(at uint64) uint64 {
		b := make([]byte, width)
		if v.frame.ReadMemory(b, at) != nil {
			return 0
		}
		return number.Uint(t.machine.Order, b)
	}
	tag := word(address)
	description := word(tag - width)
	name := make([]byte, 0, maxAdaName)
	for at := word(description + (12+width-1)/width*width); len(name) < maxAdaName; at++ {
		var b [1]byte
		if v.frame.ReadMemory(b[:], at) != nil {
			return v
		}
		if b[0] == 0 {
			break
		}
		name = append(name, b[0])
	}
	encoded := strings.ReplaceAll(strings.ToLower(string(name)), ".", "__")
	var found *Type
	_ = t.info.locked(func() (err error) { // what is not found leaves the type that was declared
		found, err = t.info.recordNear(t, encoded)
		return err
	})
	for up, depth := found, 0; up != nil && depth < maxChain; depth++ {
		if up == t || up.name == t.name {
			v.typ = found
			return v.settled(nil)
		}
		fields := up.Fields()
		if len(fields) == 0 || fields[0].Name != "_parent" {
			break
		}
		up = fields[0].Type.Strip()
	}
	return v
}

// recordNear returns the record of a name that stands in a function with another type, or
// in no function.
func (i *Info) recordNear(t *Type, name string) (found *Type, err error) {
	list, err := i.children(t.unit.first)
	at, _ := slices.BinarySearchFunc(list, t.offset+1, func(e object.DebugEntry, off object.DebugOffset) int {
		return compare(uint64(e.Offset), uint64(off))
	})
	if err == nil && at > 0 && list[at-1].Tag == dwarf.TagSubprogram {
		root, err := i.tree(list[at-1].Offset)
		if err != nil {
			return nil, err
		}
		if n := root.find(func(n *node) bool { return n.Tag == dwarf.TagStructType && n.IsText(dwarf.AttrName, name) }); n != nil {
			return i.typeAt(n.Offset), nil
		}
	}
	err = i.search(t.unit, func(u *unit) bool {
		for _, off := range u.names.types[name] {
			if known := i.typeAt(off); known.kind == Struct {
				found = known
			}
		}
		return found != nil
	})
	return found, err
}

// maxAdaName bounds the name of a tagged type, in bytes.
const maxAdaName = 256

// tagField returns the tag of a tagged record, which its first ancestor has.
func (t *Type) tagField(depth int) *Field {
	fields := t.Fields()
	if t.kind != Struct || len(fields) == 0 || depth > maxChain {
		return nil
	}
	switch fields[0].Name {
	case "_tag":
		return &fields[0]
	case "_parent":
		return fields[0].Type.Strip().tagField(depth + 1)
	}
	return nil
}
