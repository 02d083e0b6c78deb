// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/number"
	"github.com/clewdev/clew/value/internal/spelling"
)

// variants are the forms that an enum of Rust or a record of Ada can have. The discriminant, a
// member, selects one (DWARF 5 §5.7.10).
type variants struct {
	discriminant *Field // nil if there is only one form
	forms        []variant
}

// variant is one form.
type variant struct {
	values   []discriminants
	fallback bool // for all values that select no other form
	fields   []Field
	variants *variants // within the form
}

// discriminants are the values from low to high, extended to 64 bits.
type discriminants struct{ low, high uint64 }

// readVariants reads a DW_TAG_variant_part.
func (i *Info) readVariants(part *object.DebugEntry, depth int) (*variants, error) {
	if depth > maxChain {
		return nil, fmt.Errorf("%w: %v: variants nest deeper than %d", ErrDebugInfo, part.Offset, maxChain)
	}
	v := new(variants)
	children, err := i.entries.Children(part.Offset)
	if off, ok := part.Reference(dwarf.AttrDiscr); ok && i.entries.Retain(3) {
		if d, err := i.entries.Read(off); err == nil && d.Tag == dwarf.TagMember {
			f := i.member(d)
			v.discriminant = &f
		}
	}
	for k := range children {
		if c := &children[k]; c.Tag == dwarf.TagVariant && i.entries.Retain(3) {
			form, formErr := i.readVariant(c, depth)
			err = cmp.Or(err, formErr)
			v.forms = append(v.forms, form)
		}
	}
	return v, err
}

func (i *Info) readVariant(e *object.DebugEntry, depth int) (variant, error) {
	form := variant{fallback: true}
	if n, ok := e.Number(dwarf.AttrDiscrValue); ok {
		form.values, form.fallback = []discriminants{{uint64(n), uint64(n)}}, false
	} else if list, ok := e.Block(dwarf.AttrDiscrList); ok {
		form.values, form.fallback = i.discriminantsOf(list), false
	}
	members, err := i.entries.Children(e.Offset)
	for k := range members {
		m := &members[k]
		switch {
		case !i.entries.Retain(3):
			return form, fmt.Errorf("%w: %v: more members than %#x bytes can hold", ErrDebugInfo, e.Offset, i.entries.Size())
		case m.Tag == dwarf.TagMember:
			form.fields = append(form.fields, i.member(m))
		case m.Tag == dwarf.TagVariantPart:
			var partErr error
			form.variants, partErr = i.readVariants(m, depth+1)
			err = cmp.Or(err, partErr)
		}
	}
	return form, err
}

// discriminantsOf reads a DW_AT_discr_list (DWARF 5 §7.5.3): DW_DSC_label and a value, or
// DW_DSC_range and two. gcc writes values unsigned. The sign matters only for values of
// several bytes.
func (i *Info) discriminantsOf(list []byte) (values []discriminants) {
	c := entry.NewCursor(entry.SectionName("list of discriminants"), list, i.machine.Order)
	for c.Off < uint64(len(list)) {
		kind := c.Uint(1)
		d := discriminants{low: c.ULEB128()}
		if d.high = d.low; kind == 1 {
			d.high = c.ULEB128()
		}
		if c.Err != nil || kind > 1 || !i.entries.Retain(1) {
			break
		}
		values = append(values, d)
	}
	return values
}

// form returns the form that a value has, or nil.
func (t *variants) form(v Value) (*variant, error) {
	if t.discriminant != nil {
		b, err := v.Member(t.discriminant).Bytes()
		if err != nil {
			return nil, err
		}
		n := number.Uint(v.typ.machine.Order, b)
		size := min(64, 8*uint64(len(b)))
		for k := range t.forms {
			for _, d := range t.forms[k].values {
				// A value can be written with more bits than the discriminant has.
				if size > 0 && (d.low^n)<<(64-size) == 0 || n >= d.low && n <= d.high {
					return &t.forms[k], nil
				}
			}
		}
	}
	for k := range t.forms {
		if t.forms[k].fallback {
			return &t.forms[k], nil
		}
	}
	return nil, nil
}

// Variant returns the name and the value of the active variant of an enum of Rust. It returns false
// for other values and if the variant is not known.
func (v Value) Variant() (name string, form Value, ok bool) {
	v = v.referent()
	if v.err != nil || v.typ == nil {
		return "", v, false
	}
	t := v.typ.Strip()
	if t.load(); t.variants == nil {
		return "", v, false
	}
	found, err := t.variants.form(v)
	if err != nil || found == nil || len(found.fields) == 0 {
		return "", v, false
	}
	return found.fields[0].Name, v.Member(&found.fields[0]), true
}

// Variants returns the variants of an enum of Rust: a member with the name of the variant, and the
// type of its value.
func (t *Type) Variants() (list []Field) {
	t = t.Strip()
	if t.load(); t.variants == nil {
		return nil
	}
	for k := range t.variants.forms {
		if f := t.variants.forms[k].fields; len(f) > 0 {
			list = append(list, f[0])
		}
	}
	return list
}

// VariantFields returns the members that a record of Ada or an enum of Rust has, according to
// its discriminants, in addition to those of its type. On an error it returns the members that
// it found before. The slice must not be changed.
func (v Value) VariantFields() (list []Field, err error) {
	if v.err != nil || v.typ == nil {
		return nil, v.err
	}
	t := v.typ.Strip()
	t.load()
	chosen := t.variants
	for depth := 0; chosen != nil && depth < maxChain; depth++ {
		form, err := chosen.form(v)
		if err != nil || form == nil {
			return list, err
		}
		list = append(list[:len(list):len(list)], form.fields...)
		chosen = form.variants
	}
	return list, nil
}

// memberOf returns the class of the members that t points to, or nil.
func (t *Type) memberOf() *Type {
	t.load()
	if t.class == nil {
		return nil
	}
	return t.class.Strip()
}

// memberSearch searches for the target of a pointer to a member. Damaged classes can contain
// themselves: left bounds the number of classes that are searched.
type memberSearch struct{ left int }

func newMemberSearch() *memberSearch { return &memberSearch{256} }

func (s *memberSearch) enter(t *Type, depth int) bool {
	s.left--
	return t != nil && s.left >= 0 && depth < maxChain
}

// at returns the name of the member of a class at an offset, or "".
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
			// A member of an anonymous union is a member of the class.
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

// virtual returns the linkage name of a virtual function by its place in the table of virtual
// functions at an offset of an object, or "".
func (s *memberSearch) virtual(t *Type, place, offset uint64, depth int) (name string) {
	if !s.enter(t, depth) {
		return ""
	}
	if offset == 0 && t.info != nil {
		_ = t.info.locked(func() error { // a function that cannot be read is not found
			children, err := t.info.entries.Children(t.offset)
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
	c := entry.NewCursor(nil, b[1:], nil)
	n := c.ULEB128()
	return n, c.Err == nil
}

// MemberAt returns the qualified name of the member at an offset in bytes of the class that a
// MemberPointer points into, or "".
func (t *Type) MemberAt(offset uint64) string {
	return newMemberSearch().at(t.memberOf(), offset, 0)
}

// VirtualAt returns the linkage name of a virtual function of the class that a MemberPointer points
// into, or "". place is the function's index in the table of virtual functions. offset is the place
// in the object, in bytes, of the pointer to that table.
func (t *Type) VirtualAt(place, offset uint64) string {
	return newMemberSearch().virtual(t.memberOf(), place, offset, 0)
}

// IsArrayDescriptor reports whether a type is GNAT's descriptor of an array: a pointer to the
// array and one to its bounds.
func (t *Type) IsArrayDescriptor() bool {
	if t.kind != Struct || t.language != Ada {
		return false
	}
	fields := t.Fields()
	return len(fields) == 2 && fields[0].Name == "P_ARRAY" && fields[1].Name == "P_BOUNDS"
}

// DescribedArray returns the array of a descriptor, with its bounds.
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
		if err := cmp.Or(lowerErr, upperErr); err != nil {
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

// OfTag returns an object of a tagged type of Ada with the type that its tag names, if that is
// known and derived from v's type. The tag points to the table of the type's operations. The
// description of the type, with its name, precedes the table (GNAT's a-tags.ads).
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
	_ = t.info.locked(func() (err error) { // if no type is found, the declared type stays
		found, err = t.info.recordNear(t, encoded)
		return err
	})
	for up, depth := found, 0; up != nil && depth < maxChain; depth++ {
		if up == t || up.name == t.name {
			v.typ = found
			return v.resolved(nil)
		}
		fields := up.Fields()
		if len(fields) == 0 || fields[0].Name != "_parent" {
			break
		}
		up = fields[0].Type.Strip()
	}
	return v
}

// recordNear returns the record with a name that is in the same function as t, or in no
// function.
func (i *Info) recordNear(t *Type, name string) (found *Type, err error) {
	list, err := i.entries.Children(t.unit.First)
	at, _ := slices.BinarySearchFunc(list, t.offset+1, func(e object.DebugEntry, off object.DebugOffset) int {
		return cmp.Compare(uint64(e.Offset), uint64(off))
	})
	if err == nil && at > 0 && list[at-1].Tag == dwarf.TagSubprogram {
		root, err := i.trees.Read(&i.entries, list[at-1].Offset)
		if err != nil {
			return nil, err
		}
		if n := root.Find(func(n *node) bool { return n.Tag == dwarf.TagStructType && n.IsText(dwarf.AttrName, name) }); n != nil {
			return i.typeAt(n.Offset), nil
		}
	}
	err = i.entries.Search(t.unit, func(u *entry.Unit) bool {
		for _, off := range u.Names.Types[name] {
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

// tagField returns the tag of a tagged record, which is in its first ancestor.
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

// Access says which code may use a member of a class.
type Access uint8

const (
	Public Access = iota
	Protected
	Private
)

// Members are the members of a structure, class or union other than its Fields.
type Members struct {
	Methods  []Method
	Typedefs []MemberType
	Template []MemberType // the type arguments of the template, by the names of its parameters
}

// MemberType is a type with a name in a class.
type MemberType struct {
	Name   string
	Type   *Type // of a typedef, its target
	Self   *Type // the typedef, or nil
	Access Access
}

// Method is a member function.
type Method struct {
	Name       string // without the class: "get", "Box", "~Box", "get<int>"
	Linkage    string // mangled, or ""
	Type       *Type  // of kind Func; the first Hidden parameters are this and those of the compiler
	Hidden     int
	Access     Access
	Virtual    bool
	Place      uint64 // of a virtual method, its index in the table of virtual functions
	Static     bool
	Artificial bool // not in the source
}

// accessOf returns the access to a member of t (DWARF 5 §5.7.6: private in a class, else public).
func (t *Type) accessOf(e *object.DebugEntry) Access {
	n, ok := e.Number(dwarf.AttrAccessibility)
	switch {
	case ok && n >= 1 && n <= 3:
		return Access(n - 1)
	case ok || t.kind != Class:
		return Public
	}
	return Private
}

// Members returns the methods and types of a structure, class or union, in the order of their
// declarations. It reads them at each call. With an error it returns those that it could read.
func (t *Type) Members() (m Members, err error) {
	if t = t.Strip(); t.info == nil || t.kind != Struct && t.kind != Class && t.kind != Union {
		return m, nil
	}
	i := t.info
	err = i.locked(func() error {
		children, err := i.entries.Children(t.offset)
		for k := range children {
			c := &children[k]
			name, _ := c.Text(dwarf.AttrName)
			if name == "" {
				continue
			}
			if !i.entries.Retain(1) {
				return fmt.Errorf("%w: %v: more members than %#x bytes can hold", ErrDebugInfo, t.offset, i.entries.Size())
			}
			switch c.Tag {
			case dwarf.TagSubprogram:
				method, err := t.method(c, name)
				if err != nil {
					return err
				}
				m.Methods = append(m.Methods, method)
			case dwarf.TagTypedef:
				m.Typedefs = append(m.Typedefs, MemberType{name, i.elemOf(c), i.typeAt(c.Offset), t.accessOf(c)})
			case dwarf.TagTemplateTypeParameter:
				m.Template = append(m.Template, MemberType{Name: name, Type: i.elemOf(c)})
			}
		}
		return err
	})
	return m, err
}

func (t *Type) method(e *object.DebugEntry, name string) (Method, error) {
	i := t.info
	virtuality, _ := e.Number(dwarf.AttrVirtuality)
	// As in gdb, a destructor whose place in the table of virtual functions is not stated is not
	// shown as virtual.
	isVirtual := virtuality != 0 && e.Has(dwarf.AttrVtableElemLoc)
	m := Method{Name: spelling.Canonical(name), Type: i.typeAt(e.Offset), Access: t.accessOf(e), Virtual: isVirtual, Artificial: e.Flag(dwarf.AttrArtificial)}
	m.Place, _ = tablePlace(e)
	m.Linkage, _ = e.Text(dwarf.AttrLinkageName)
	parameters, err := i.entries.Children(e.Offset)
	for k := range parameters {
		p := &parameters[k]
		if p.Tag != dwarf.TagFormalParameter {
			continue
		}
		if !p.Flag(dwarf.AttrArtificial) {
			break
		}
		m.Hidden++
	}
	m.Static = m.Hidden == 0
	return m, err
}
