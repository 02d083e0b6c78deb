// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/number"
)

// variants are the forms that an enum of Rust or a record of Ada can have: a member, the
// discriminant, says which (DWARF 5 §5.7.10).
type variants struct {
	discriminant *Field // nil where there is one form only
	forms        []variant
}

// variant is one form.
type variant struct {
	values   []discriminants
	fallback bool // for all that no other form has
	fields   []Field
	variants *variants // within the form
}

// discriminants are the values from low to high of a discriminant, as 64 bits of its type.
type discriminants struct{ low, high uint64 }

// readVariants reads a DW_TAG_variant_part.
func (i *Info) readVariants(part *object.DebugEntry, depth int) (*variants, error) {
	if depth > maxChain {
		return nil, fmt.Errorf("%w: %v: variants nest deeper than %d", ErrDebugInfo, part.Offset, maxChain)
	}
	v := new(variants)
	children, err := i.children(part.Offset)
	if off, ok := part.Reference(dwarf.AttrDiscr); ok && i.retain(3) {
		if d, err := i.read(off); err == nil && d.Tag == dwarf.TagMember {
			f := i.member(d)
			v.discriminant = &f
		}
	}
	for k := range children {
		if c := &children[k]; c.Tag == dwarf.TagVariant && i.retain(3) {
			form, formErr := i.readVariant(c, depth)
			err = firstError(err, formErr)
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
	members, err := i.children(e.Offset)
	for k := range members {
		m := &members[k]
		switch {
		case !i.retain(3):
			return form, fmt.Errorf("%w: %v: more members than %#x bytes can hold", ErrDebugInfo, e.Offset, i.size())
		case m.Tag == dwarf.TagMember:
			form.fields = append(form.fields, i.member(m))
		case m.Tag == dwarf.TagVariantPart:
			var partErr error
			form.variants, partErr = i.readVariants(m, depth+1)
			err = firstError(err, partErr)
		}
	}
	return form, err
}

// discriminantsOf reads a DW_AT_discr_list (DWARF 5 §7.5.3): DW_DSC_label and a value, or
// DW_DSC_range and two. Their sign is that of the discriminant, which only shows in values
// of more bytes than one: gcc writes them unsigned.
func (i *Info) discriminantsOf(list []byte) (values []discriminants) {
	c := newCursor(faults("list of discriminants"), list, i.machine.Order)
	for c.Off < uint64(len(list)) {
		kind := c.Uint(1)
		d := discriminants{low: c.ULEB128()}
		if d.high = d.low; kind == 1 {
			d.high = c.ULEB128()
		}
		if c.Err != nil || kind > 1 || !i.retain(1) {
			break
		}
		values = append(values, d)
	}
	return values
}

// form returns which form a value has; nil where none is said to be.
func (t *variants) form(v Value) (*variant, error) {
	if t.discriminant != nil {
		d := v.Member(t.discriminant)
		b, err := d.Bytes()
		if err != nil {
			return nil, err
		}
		n := number.Uint(v.typ.machine.Order, b)
		size := min(64, 8*uint64(len(b)))
		for k := range t.forms {
			for _, is := range t.forms[k].values {
				// A value can be written with more bits than the discriminant has.
				if size > 0 && (is.low^n)<<(64-size) == 0 || n >= is.low && n <= is.high {
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

// Variant returns the form that a value of an enum of Rust has, and its name; false for
// other values, and where it cannot be told.
func (v Value) Variant() (name string, form Value, ok bool) {
	v = v.behind()
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

// VariantFields returns the members that a record of Ada, or an enum of Rust, has in
// addition to those of its type, as its discriminants choose them. On an error it returns
// those that it found before.
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
		if list == nil {
			list = form.fields
		} else {
			list = append(list[:len(list):len(list)], form.fields...)
		}
		chosen = form.variants
	}
	return list, nil
}
