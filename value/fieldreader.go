// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/number"
)

func (t *Type) readFields() error {
	i := t.info
	children, err := i.entries.Children(t.offset)
	for k := range children {
		c := &children[k]
		if !i.entries.Retain(3) {
			return fmt.Errorf("%w: %v: more members than %#x bytes can hold", ErrDebugInfo, t.offset, i.entries.Size())
		}
		switch {
		case c.Tag == dwarf.TagVariable, c.Tag == dwarf.TagMember && (entry.IsDeclaration(c) || isExternal(c)):
			v, err := i.variable(c, nil)
			if err != nil {
				continue
			}
			name, _ := c.Text(dwarf.AttrName)
			t.fields = append(t.fields, Field{Name: name, Type: v.Type, Static: i.definitionOf(v), Access: t.accessOf(c)})
		case c.Tag == dwarf.TagVariantPart:
			if t.variants, err = i.readVariants(c, 0); err != nil {
				return err
			}
		case c.Tag == dwarf.TagMember, c.Tag == dwarf.TagInheritance:
			f := i.member(c)
			f.Access = t.accessOf(c)
			t.fields = append(t.fields, f)
		case c.Tag == dwarf.TagSubprogram && !t.indirect && !t.direct:
			t.indirect = t.copies(c)
		case c.Tag == dwarf.TagTemplateTypeParameter, c.Tag == dwarf.TagTemplateValueParameter, c.Tag == dw.TagGNUTemplateParameterPack:
			t.readTemplate(c)
		}
	}
	return err
}

func isExternal(e *object.DebugEntry) bool { return e.Flag(dwarf.AttrExternal) }

// definitionOf returns the definition of a static member, or v if there is none.
func (i *Info) definitionOf(v *Variable) *Variable {
	if !v.external {
		return v
	}
	var found *Variable
	look := func(u *entry.Unit) bool {
		_ = i.entries.Index(u) // names that cannot be read are not found
		found, _ = i.variableNamed(u, v.Name)
		return found != nil
	}
	if !look(v.unit) && v.unit.IsShared() {
		_ = i.entries.Search(i.last, look) // on an error v stays a declaration
	}
	return cmp.Or(found, v)
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
		// expression of a virtual base class reads the object.
		var constant bool
		if f.Offset, constant = memberOffset(b, i.machine); !constant {
			f.Virtual, f.location, f.info, f.unit = true, bytes.Clone(b), i, i.entries.UnitOf(e.Offset)
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

// memberOffset returns the constant that an expression adds to an address, or false.
func memberOffset(expression []byte, m *arch.Machine) (uint64, bool) {
	c := entry.NewCursor(entry.SectionName("member"), expression, m.Order)
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

// sizeOf returns the size of a type without typedefs and qualifiers. It does not call the
// methods of Type, which lock.
func (i *Info) sizeOf(t *Type) uint64 {
	for range maxChain {
		switch t.kind {
		case Typedef, Const, Volatile, Restrict, Atomic:
			e, err := i.entries.Read(t.offset)
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

// definition returns the definition of a structure, union or enumeration of which t is a
// declaration, or t.
func (t *Type) definition() *Type {
	if !t.partial || t.info == nil || t.name == "" {
		return t
	}
	t.complete.Do(func() {
		_ = t.info.locked(func() error { // on an error t stays a declaration
			return t.info.entries.Search(t.unit, func(u *entry.Unit) bool {
				for _, off := range u.Names.Types[cmp.Or(t.declared, t.name)] {
					found := t.info.typeAt(off)
					isSame := found.kind == t.kind || found.kind == Class && t.kind == Struct || found.kind == Struct && t.kind == Class
					if isSame && !found.partial {
						t.whole = found
						return true
					}
				}
				return false
			})
		})
	})
	return cmp.Or(t.whole, t)
}

// voidParameter is the offset of a template parameter that is void, which has no entry.
const voidParameter = ^object.DebugOffset(0)

// readTemplate reads a parameter of the template that a structure is an instance of.
func (t *Type) readTemplate(e *object.DebugEntry) {
	list := []object.DebugEntry{*e}
	if e.Tag == dw.TagGNUTemplateParameterPack {
		list, _ = t.info.entries.Children(e.Offset) // parameters that cannot be read are left out
	}
	for k := range list {
		off := object.DebugOffset(0)
		if list[k].Tag == dwarf.TagTemplateTypeParameter {
			var ok bool
			if off, ok = t.info.entries.TypeReference(&list[k]); !ok && !list[k].Has(dwarf.AttrType) {
				off = voidParameter
			}
		}
		if t.info.entries.Retain(1) {
			t.template = append(t.template, off)
		}
	}
}

// TemplateTypes returns the template arguments of a structure, class or union of C++ or Rust, in
// order: nil for an argument that is not a type (DWARF 5 §2.23).
// The arguments of a pack are in its place. The caller owns the slice.
func (t *Type) TemplateTypes() (list []*Type) {
	t = t.Strip()
	t.load()
	if len(t.template) == 0 {
		return nil
	}
	list = make([]*Type, len(t.template))
	_ = t.info.locked(func() error { // a type that cannot be read is Unknown
		for k, off := range t.template {
			switch off {
			case 0:
			case voidParameter:
				list[k] = voidType(t.info.machine)
			default:
				list[k] = t.info.typeAt(off)
			}
		}
		return nil
	})
	return list
}

// Align returns the alignment of the type in bytes, if the debugging information states it for a
// structure that is aligned differently from its members. Otherwise it is the alignment of the
// largest number in the type: the number's size, at most the machine's largest alignment (psABI).
func (t *Type) Align() uint64 {
	left := maxMembers
	return t.alignment(0, &left)
}

// maxMembers bounds the number of types that Align looks at.
const maxMembers = 1000

func (t *Type) alignment(depth int, left *int) uint64 {
	t = t.Strip()
	if *left--; *left < 0 || depth > maxChain {
		return 1
	}
	switch t.kind {
	case Array:
		return t.Elem().alignment(depth+1, left)
	case Struct, Class, Union:
		t.load()
		largest := max(t.align, 1)
		for k := range t.fields {
			if t.fields[k].Static == nil {
				largest = max(largest, t.fields[k].Type.alignment(depth+1, left))
			}
		}
		return largest
	}
	size := t.Size()
	if t.kind == Complex {
		size /= 2 // the size of a part
	}
	size = min(size, cmp.Or(t.machine.C.MaxAlign, 16))
	if size == 0 {
		return 1
	}
	return 1 << (bits.Len64(size) - 1)
}

const (
	maxContained     = 1000 // number of types in one that Indirect looks at
	passByReference  = 4    // DW_CC_pass_by_reference
	passByValue      = 5    // DW_CC_pass_by_value
	defaultedInClass = 1    // DW_DEFAULTED_in_class
)

// Indirect reports whether functions take and return objects of a C++ class by address, whatever
// their size. This is true if the class, or one of its members or bases, has virtual functions, or
// a copy constructor or destructor of its own (Itanium C++ ABI, non-trivial for the purposes of
// calls). Compilers may state it (DW_CC_pass_by_reference, DWARF 5 §5.7.1). For other compilers the
// functions of the class decide.
func (t *Type) Indirect() bool { return t.indirectAmong(make(map[*Type]bool)) }

// indirectAmong is Indirect for types that were not seen.
func (t *Type) indirectAmong(seen map[*Type]bool) bool {
	t = t.Strip()
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.kind {
	case Array:
		return len(seen) < maxContained && t.Elem().indirectAmong(seen)
	case Struct, Class, Union:
	default:
		return false
	}
	fields := t.Fields() // also sets indirect
	if t.direct {
		return false
	}
	if t.indirect || len(seen) >= maxContained {
		return true
	}
	return slices.ContainsFunc(fields, func(f Field) bool {
		return f.Static == nil && (f.Virtual || f.Artificial || f.Type.indirectAmong(seen))
	})
}

// copies reports whether a function of class t is a destructor or a copy or move constructor
// that is not trivial.
func (t *Type) copies(e *object.DebugEntry) bool {
	if defaulted, _ := e.Number(dw.AttrDefaulted); defaulted == defaultedInClass || e.Flag(dwarf.AttrArtificial) {
		return false
	}
	name, _ := e.Text(dwarf.AttrName)
	if strings.HasPrefix(name, "~") {
		return true
	}
	class, _, _ := strings.Cut(t.name, "<")
	class = class[strings.LastIndexByte(class, ':')+1:]
	if bare, _, _ := strings.Cut(name, "<"); bare != class || class == "" {
		return false
	}
	parameters, err := t.info.entries.Children(e.Offset)
	if err != nil {
		return false
	}
	n := 0
	for k := range parameters {
		p := &parameters[k]
		if p.Tag != dwarf.TagFormalParameter {
			continue
		}
		if n++; n == 2 { // the one after this
			return t.isReferredBy(p)
		}
	}
	return false
}

// isReferredBy reports whether the type of a parameter is a reference to t.
func (t *Type) isReferredBy(parameter *object.DebugEntry) bool {
	e, referred := parameter, false
	for range 4 { // the reference, const, volatile, t
		off, ok := t.info.entries.TypeReference(e)
		if !ok {
			return false
		}
		if off == t.offset {
			return referred
		}
		var err error
		if e, err = t.info.entries.Read(off); err != nil {
			return false
		}
		referred = referred || e.Tag == dwarf.TagReferenceType || e.Tag == dwarf.TagRvalueReferenceType
	}
	return false
}
