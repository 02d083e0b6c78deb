// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/clewdev/clew/arch"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/spelling"
)

func voidType(m *arch.Machine) *Type { return &Type{machine: m, kind: Void, name: "void", ready: true} }

// unknownType returns the type in place of one that cannot be read.
func (i *Info) unknownType(problem error) *Type {
	return &Type{machine: i.machine, kind: Unknown, ready: true, problem: problem}
}

// elemOf returns the type of an entry, or Void.
func (i *Info) elemOf(e *object.DebugEntry) *Type {
	if !e.Has(dwarf.AttrType) {
		return voidType(i.machine)
	}
	off, ok := i.entries.TypeReference(e)
	if !ok {
		signature, _ := e.Signature(dwarf.AttrType)
		return i.unknownType(fmt.Errorf("%w: %v: type %v not found", ErrDebugInfo, e.Offset, signature))
	}
	return i.typeAt(off)
}

// typeAt returns the type of the entry at an offset. Its parts are read later. It is Unknown if the
// entry cannot be read.
func (i *Info) typeAt(off object.DebugOffset) *Type {
	if t := i.types[off]; t != nil {
		return t
	}
	e, err := i.entries.Read(off)
	if err != nil {
		return i.unknownType(err)
	}
	u := i.entries.UnitOf(off)
	if _, err := i.entries.Root(u); err != nil {
		return i.unknownType(err)
	}
	if !i.entries.Retain(4) {
		return i.unknownType(fmt.Errorf("%w: more types than %#x bytes can hold", ErrDebugInfo, i.entries.Size()))
	}
	t := &Type{machine: i.machine, info: i, unit: u, offset: off, language: u.Language}
	i.types[off] = t
	if signature, ok := e.Signature(dwarf.AttrSignature); ok {
		// The entry is a declaration of a type in a type unit.
		if def, ok := i.entries.Signed(signature); ok {
			if e, err = i.entries.Read(def); err != nil {
				return t
			}
			t.offset, t.unit = def, i.entries.UnitOf(def)
		}
	}
	if size, ok := e.Number(dwarf.AttrByteSize); ok && size >= 0 {
		t.size, t.sized = uint64(size), true
	}
	t.name, _ = e.Text(dwarf.AttrName)
	t.partial = entry.IsDeclaration(e)
	if convention, ok := e.Number(dwarf.AttrCalling); ok {
		t.indirect, t.direct = convention == passByReference, convention == passByValue
	}
	if u.Language == Go {
		if kind, ok := e.Number(dw.AttrGoKind); ok {
			t.goKind = uint8(kind)
		}
		if place, ok := e.Number(dw.AttrGoDictionaryIndex); ok && place >= 0 && place < maxGoParameters {
			t.goPlace = int32(place) + 1
		}
	}
	if !t.setKind(e) {
		t.partial = false
		t.problem = fmt.Errorf("%w: %v: %v is not a known type", ErrDebugInfo, off, e.Tag)
		return t
	}
	if t.name != "" && e.Tag != dwarf.TagBaseType && entry.HasScopes(t.language) {
		if name := i.entries.NameOf(e); name != "" {
			t.name = name
		}
		if t.language == CPlusPlus {
			t.declared, t.name = t.name, spelling.Canonical(t.name)
		}
	}
	return t
}

// kinds are the kinds of types that the tag alone determines.
var kinds = map[dwarf.Tag]Kind{
	dwarf.TagUnspecifiedType:     Void,
	dwarf.TagPointerType:         Pointer,
	dwarf.TagReferenceType:       Reference,
	dwarf.TagRvalueReferenceType: RvalueReference,
	dwarf.TagPtrToMemberType:     MemberPointer,
	dwarf.TagArrayType:           Array,
	dwarf.TagSetType:             Set,
	dwarf.TagStringType:          Text,
	dwarf.TagStructType:          Struct,
	dwarf.TagInterfaceType:       Struct,
	dwarf.TagClassType:           Class,
	dwarf.TagUnionType:           Union,
	dwarf.TagEnumerationType:     Enum,
	dwarf.TagSubroutineType:      Func,
	dwarf.TagSubprogram:          Func,
	dwarf.TagInlinedSubroutine:   Func,
	dwarf.TagTypedef:             Typedef,
	dwarf.TagSubrangeType:        Typedef,
	dwarf.TagConstType:           Const,
	dwarf.TagVolatileType:        Volatile,
	dwarf.TagRestrictType:        Restrict,
	dwarf.TagAtomicType:          Atomic,
}

// setKind sets the kind of a type and the properties that depend on it. It returns false if the
// entry is not a known type.
func (t *Type) setKind(e *object.DebugEntry) bool {
	if e.Tag == dwarf.TagBaseType {
		t.base(e)
		return true
	}
	var known bool
	if t.kind, known = kinds[e.Tag]; !known {
		return false
	}
	switch e.Tag {
	case dwarf.TagUnspecifiedType:
		if t.name == "decltype(nullptr)" {
			t.kind, t.size, t.sized = Pointer, uint64(t.machine.AddressSize), true
		}
	case dwarf.TagArrayType:
		t.vector = e.Flag(dw.AttrGNUVector)
	case dwarf.TagStringType:
		if e.Has(dwarf.AttrStringLength) {
			t.sized = false // before DWARF 5, DW_AT_byte_size is the size of the length
		}
	case dwarf.TagEnumerationType:
		t.scoped = e.Flag(dwarf.AttrEnumClass)
	case dwarf.TagSubroutineType, dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
		t.name = ""
	case dwarf.TagSubrangeType:
		lower, known := e.Number(dwarf.AttrLowerBound)
		if !known {
			lower, known = entry.LowerBound(t.language)
		}
		if base, ok := t.info.entries.TypeReference(e); ok {
			t.narrow(t.info.typeAt(base), known && lower >= 0)
		}
	}
	return true
}

// narrow makes a range a type of its own if it has a different size from its base or no negative
// values.
func (t *Type) narrow(base *Type, positive bool) {
	for depth := 0; base.kind == Typedef && depth < maxChain; depth++ {
		e, err := t.info.entries.Read(base.offset)
		if err != nil {
			return
		}
		base = t.info.elemOf(e)
	}
	if !t.sized {
		t.size = base.size
	}
	switch {
	case base.kind == Int && (positive && base.signed || t.size != base.size):
		t.kind, t.signed, t.ready, t.sized = Int, base.signed && !positive, true, true
	case t.size == base.size:
	case base.kind == Char || base.kind == Bool || base.kind == Fixed:
		t.kind, t.signed, t.scale, t.ready = base.kind, base.signed, base.scale, true
	case base.kind == Enum:
		t.kind, t.offset = Enum, base.offset // the entry with the literals
	}
}

// base reads a base type.
func (t *Type) base(e *object.DebugEntry) {
	// gcc and clang spell names differently. gdb always spells them like this.
	if s := spell(t.name); s.base != "" && !strings.Contains(s.base, "__int128") {
		t.name = s.base
	}
	encoding, _ := e.Number(dwarf.AttrEncoding)
	switch encoding {
	case dw.ATEBoolean:
		t.kind = Bool
	case dw.ATEComplex:
		t.kind = Complex
	case dw.ATEFloat:
		t.kind = Float
	case dw.ATEDecimalFloat:
		t.kind = Decimal
	case dw.ATESignedChar, dw.ATEUnsignedChar:
		t.kind, t.signed = Char, encoding == dw.ATESignedChar
	case dw.ATEUTF, dw.ATEUCS, dw.ATEASCII:
		t.kind = Char
	case dw.ATESigned, dw.ATEUnsigned:
		t.kind, t.signed = Int, encoding == dw.ATESigned
		// clang and old gcc call C's char a number, gfortran its wide characters.
		if t.name == "char" && t.size == 1 || t.language == Fortran && strings.HasPrefix(t.name, "character") {
			t.kind = Char
		}
	case dw.ATESignedFixed, dw.ATEUnsignedFixed:
		t.kind, t.signed = Fixed, encoding == dw.ATESignedFixed
		if t.scale = t.info.scaleOf(e); t.scale == nil {
			t.kind, t.problem = Unknown, fmt.Errorf("%w: %v: the scale of %s is not known", ErrDebugInfo, e.Offset, t.name)
		}
	case dw.ATEAddress: // clang writes it for the state of coroutines
		t.kind = Pointer
	case 0:
		t.kind = Int
	default:
		// For example COBOL's numbers, whose bytes as an integer are another number.
		t.problem = fmt.Errorf("%w: %v: unknown encoding %#x of %s", ErrDebugInfo, e.Offset, encoding, t.name)
	}
	if part, ok := strings.CutPrefix(t.name, "complex "); ok && encoding == dw.ATELoUser {
		t.kind, t.problem, t.ready = Complex, nil, true
		t.elem = &Type{machine: t.machine, language: t.language, kind: Int, name: part, size: t.size / 2, sized: true, ready: true,
			signed: !strings.Contains(part, "unsigned") && (part != "char" || !t.machine.C.CharUnsigned)}
	}
	bits, _ := e.Number(dwarf.AttrBitSize)
	if !t.sized && bits > 0 {
		t.size, t.sized = uint64(bits+7)/8, true
	}
	switch t.kind {
	case Float:
		t.format = t.floatFormat(t.size, bits)
	case Complex:
		t.format = t.floatFormat(t.size/2, bits/2)
	}
}

// load reads the parts of a type, once.
func (t *Type) load() {
	if t.ready || t.info == nil {
		return
	}
	t.once.Do(func() {
		err := t.info.locked(t.read)
		if err != nil && t.elem == nil {
			t.elem = t.info.unknownType(err)
		}
	})
}

func (t *Type) read() error {
	i := t.info
	if t.language != OtherLanguage {
		i.entries.Using = t.language // others may have changed it
	}
	e, err := i.entries.Read(t.offset)
	if err != nil {
		return err
	}
	switch t.kind {
	case Struct, Class, Union:
		if n, ok := e.Number(dwarf.AttrAlignment); ok && n > 0 {
			t.align = uint64(n)
		}
		if !t.sized {
			t.readDynamic(e, dwarf.AttrByteSize, typeSize)
		}
		return t.readFields()
	case Enum:
		return t.readEnumerators(e)
	case Func:
		return t.readParams(e)
	case Array:
		return t.readDimensions(e)
	case Text:
		t.readText(e)
	case Set:
		t.readSet(e)
	case MemberPointer:
		t.elem = i.elemOf(e)
		if off, ok := e.Reference(dwarf.AttrContainingType); ok {
			t.class = i.typeAt(off)
		}
	default:
		t.elem = i.elemOf(e)
	}
	return nil
}

func (t *Type) readParams(e *object.DebugEntry) error {
	i := t.info
	// The result type of an instance is in its abstract origin.
	if typed, err := i.entries.Having(dwarf.AttrType, e); err == nil && typed != nil {
		t.elem = i.elemOf(typed)
	}
	isParam := func(c object.DebugEntry) bool { return c.Tag == dwarf.TagFormalParameter }
	children, err := i.entries.Children(e.Offset)
	for o := range i.entries.Origins(e) {
		if slices.ContainsFunc(children, isParam) {
			break
		}
		if o == e {
			continue
		}
		if children, err = i.entries.Children(o.Offset); err != nil {
			break
		}
	}
	for k := range children {
		c := &children[k]
		switch c.Tag {
		case dwarf.TagFormalParameter:
			param := i.unknownType(nil)
			if typed, err := i.entries.Having(dwarf.AttrType, c); err == nil && typed != nil {
				param = i.elemOf(typed)
			}
			// The definition declares this as a constant pointer, the class does not. gdb
			// always prints it as constant.
			artificial := c.Flag(dwarf.AttrArtificial)
			if origin, err := i.entries.Having(dwarf.AttrArtificial, c); err == nil && origin != nil {
				artificial = origin.Flag(dwarf.AttrArtificial)
			}
			if artificial && len(t.params) == 0 && t.language == CPlusPlus && param.kind == Pointer {
				param = &Type{machine: i.machine, language: t.language, kind: Const, elem: param, ready: true}
			}
			if i.entries.Retain(1) {
				t.params = append(t.params, param)
			}
		case dwarf.TagUnspecifiedParameters:
			t.varargs = true
		}
	}
	return err
}

func (t *Type) readEnumerators(e *object.DebugEntry) error {
	i := t.info
	if e.Has(dwarf.AttrType) {
		t.elem = i.elemOf(e)
	}
	children, err := i.entries.Children(t.offset)
	t.unsigned, t.flags = true, true
	for k := range children {
		c := &children[k]
		name, _ := c.Text(dwarf.AttrName)
		v, ok := c.Number(dwarf.AttrConstValue)
		if c.Tag != dwarf.TagEnumerator || !ok || !i.entries.Retain(2) {
			continue
		}
		t.enums = append(t.enums, Enumerator{name, v})
		switch {
		case v < 0:
			t.unsigned, t.flags = false, false
		case bits.OnesCount64(uint64(v)) > 1:
			t.flags = false
		}
	}
	return err
}
