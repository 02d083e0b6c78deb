// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/number"
)

func (t *Type) readFields() error {
	i := t.info
	children, err := i.children(t.offset)
	for k := range children {
		c := &children[k]
		if !i.retain(3) {
			return fmt.Errorf("%w: %v: more members than %#x bytes can hold", ErrDebugInfo, t.offset, i.size())
		}
		switch {
		case c.Tag == dwarf.TagVariable, c.Tag == dwarf.TagMember && (isDeclaration(c) || isExternal(c)):
			v, err := i.variable(c, nil)
			if err != nil {
				continue
			}
			name, _ := c.Text(dwarf.AttrName)
			t.fields = append(t.fields, Field{Name: name, Type: v.Type, Static: i.definitionOf(v)})
		case c.Tag == dwarf.TagVariantPart:
			if t.variants, err = i.readVariants(c, 0); err != nil {
				return err
			}
		case c.Tag == dwarf.TagMember, c.Tag == dwarf.TagInheritance:
			t.fields = append(t.fields, i.member(c))
		case c.Tag == dwarf.TagSubprogram && !t.indirect:
			t.indirect = t.copies(c)
		case c.Tag == dwarf.TagTemplateTypeParameter, c.Tag == dwarf.TagTemplateValueParameter, c.Tag == dw.TagGNUTemplateParameterPack:
			t.readTemplate(c)
		}
	}
	return err
}

func isExternal(e *object.DebugEntry) bool {
	return e.Flag(dwarf.AttrExternal)
}

// definitionOf returns the definition of a static member.
func (i *Info) definitionOf(v *Variable) *Variable {
	if !v.external {
		return v
	}
	definition := v
	look := func(u *unit) bool {
		_ = i.index(u) // what is missing is not found
		for _, off := range u.names.variables[v.Name] {
			if found, err := i.variableAt(off, nil); err == nil && !found.external {
				definition = found
				return true
			}
		}
		return false
	}
	if !look(v.unit) && v.unit.isShared() {
		_ = i.search(i.last, look) // a declaration is left as it is
	}
	return definition
}

// member reads a data member or a base class (DWARF 5 §5.7.3, §5.7.6).
func (i *Info) member(e *object.DebugEntry) Field {
	f := Field{Type: i.elemOf(e), Base: e.Tag == dwarf.TagInheritance}
	f.Name, _ = e.Text(dwarf.AttrName)
	f.Artificial = e.Flag(dwarf.AttrArtificial)
	virtuality, _ := e.Number(dwarf.AttrVirtuality)
	if offset, ok := e.Number(dwarf.AttrDataMemberLoc); ok {
		f.Offset = uint64(offset)
	} else if b, ok := e.Block(dwarf.AttrDataMemberLoc); ok {
		// DWARF 2: an expression that adds to the address of the structure. The
		// one of a virtual base class reads the object.
		var constant bool
		if f.Offset, constant = memberOffset(b, i.machine); !constant {
			f.Virtual, f.location, f.info, f.unit = true, bytes.Clone(b), i, i.unitOf(e.Offset)
		}
	}
	f.Virtual = f.Virtual || f.Base && virtuality != 0
	size, isBits := e.Number(dwarf.AttrBitSize)
	if !isBits || size < 0 || size > 1<<16 {
		return f
	}
	f.BitSize = uint64(size)
	f.BitOffset = 8 * f.Offset
	if at, ok := e.Number(dwarf.AttrDataBitOffset); ok {
		f.BitOffset += uint64(at)
	} else if at, ok := e.Number(dwarf.AttrBitOffset); ok {
		// DWARF 2 counts from the most significant bit of a storage unit.
		unit, ok := e.Number(dwarf.AttrByteSize)
		if !ok {
			unit = int64(f.Type.size)
			if f.Type.kind != Int && f.Type.kind != Enum && f.Type.kind != Bool && f.Type.kind != Char {
				unit = int64(i.sizeOf(f.Type))
			}
		}
		if number.IsBigEndian(i.machine) {
			f.BitOffset += uint64(at)
		} else {
			f.BitOffset += uint64(8*unit - at - size)
		}
	}
	f.Offset = f.BitOffset / 8
	return f
}

// memberOffset returns the constant that an expression adds to an address.
func memberOffset(expression []byte, m *arch.Machine) (uint64, bool) {
	c := newCursor(faults("member"), expression, m.Order)
	var n uint64
	switch cfi.Op(c.Uint(1)) {
	case cfi.OpPlusUconst:
		n = c.ULEB128()
	case cfi.OpConstu:
		if n = c.ULEB128(); cfi.Op(c.Uint(1)) != cfi.OpPlus {
			return 0, false
		}
	default:
		return 0, false
	}
	return n, c.Err == nil && c.Off == uint64(len(c.Data))
}

// sizeOf returns the size of the type that typedefs and qualifiers stand before,
// without reading through the type, whose methods lock.
func (i *Info) sizeOf(t *Type) uint64 {
	for range maxChain {
		switch t.kind {
		case Typedef, Const, Volatile, Restrict, Atomic:
			e, err := i.read(t.offset)
			if err != nil || t.info != i {
				return 0
			}
			t = i.elemOf(e)
		default:
			return t.size
		}
	}
	return 0
}

// definition returns the definition of a structure, union or enumeration that t
// only declares, or t.
func (t *Type) definition() *Type {
	if !t.partial || t.info == nil || t.name == "" {
		return t
	}
	t.complete.Do(func() {
		_ = t.info.locked(func() error { // a declaration is left as it is
			return t.info.search(t.unit, func(u *unit) bool {
				for _, off := range u.names.types[cmp.Or(t.declared, t.name)] {
					found := t.info.typeAt(off)
					same := found.kind == t.kind || found.kind == Class && t.kind == Struct || found.kind == Struct && t.kind == Class
					if same && !found.partial {
						t.whole = found
						return true
					}
				}
				return false
			})
		})
	})
	if t.whole != nil {
		return t.whole
	}
	return t
}
