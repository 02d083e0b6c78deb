// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/object"
)

// ada writes a value of Ada that other languages do not have, or write otherwise, and
// reports whether it did.
func (w *printing) ada(v Value, t *Type, depth int) bool {
	switch t.kind {
	case Array:
		w.adaArray(v, t, depth)
	case Struct, Union:
		if !t.isFatPointer() {
			w.adaRecord(v, t, depth)
			break
		}
		if v.typ.isNamed() {
			data := v.Field(0)
			w.scalar(data, data.typ.Strip())
			break
		}
		a := v.fatArray()
		if a.err != nil {
			w.fail(a.err)
			break
		}
		w.value(a, depth, false)
	case Reference:
		if depth >= w.depth { // it can lead to itself
			w.add("(...)")
			break
		}
		w.value(v.Deref().ofTag(), depth+1, false)
	default:
		return false
	}
	return true
}

// isFatPointer reports whether a type is GNAT's descriptor of an array whose bounds stand
// elsewhere.
func (t *Type) isFatPointer() bool {
	if t.kind != Struct || t.language != Ada {
		return false
	}
	fields := t.Fields()
	return len(fields) == 2 && fields[0].Name == "P_ARRAY" && fields[1].Name == "P_BOUNDS"
}

// isNamed reports whether a type has a name of its own: a descriptor that has one is a value
// of an access type, and not how an array is passed.
func (t *Type) isNamed() bool {
	for range maxChain {
		switch t.kind {
		case Const, Volatile:
			t = t.Elem()
			continue
		}
		break
	}
	return t.kind == Typedef
}

// fatArray returns the array that a descriptor leads to, with the bounds that it has.
func (v Value) fatArray() Value {
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

// adaFields are the members of a record that its source has: those of its parent first,
// and last those of the variant that it has.
func (w *printing) adaFields(v Value, t *Type, depth int, first *bool) {
	fields := t.Fields()
	for k := range fields {
		f := &fields[k]
		if len(w.text) >= maxText {
			return
		}
		switch {
		case f.Name == "_parent" && k == 0: // of several, each could lead back to t
			if depth > maxChain {
				return
			}
			parent := v.member(f)
			w.adaFields(parent, f.Type.Strip(), depth+1, first)
			continue
		case strings.HasPrefix(f.Name, "_"):
			continue
		}
		w.adaField(v, f, depth, first)
	}
	w.adaVariant(v, t.variants, depth, first)
}

func (w *printing) adaField(v Value, f *Field, depth int, first *bool) {
	if !*first {
		w.add(", ")
	}
	*first = false
	w.add(f.Name + " => ")
	w.value(v.member(f), depth+1, false)
}

func (w *printing) adaVariant(v Value, variants *variants, depth int, first *bool) {
	for range maxChain {
		if variants == nil {
			return
		}
		form, err := variants.form(v)
		if err != nil {
			w.fail(err)
		}
		if err != nil || form == nil {
			return
		}
		for k := range form.fields {
			w.adaField(v, &form.fields[k], depth, first)
		}
		variants = form.variants
	}
}

func (w *printing) adaRecord(v Value, t *Type, depth int) {
	if depth >= w.depth {
		w.add("(...)")
		return
	}
	w.add("(")
	first := true
	w.adaFields(v, t, depth, &first)
	w.add(")")
}

func (w *printing) adaArray(v Value, t *Type, depth int) {
	n, known := t.Len()
	elem := t.Elem().Strip()
	switch {
	case !known:
		w.fail(errors.New("the bounds of the array are not known"))
		return
	case elem.kind == Char && (w.Format == 0 || w.Format == 's'):
		w.adaText(v, elem)
		return
	case depth >= w.depth:
		w.add("(...)")
		return
	case n == 0:
		w.add("()")
		return
	}
	rest := ""
	if short := v.beginning(); short != nil {
		short.index = t.index
		v, t, rest = v.part(short, 0), short, "..."
	}
	w.add("(")
	if !t.beginsFirst() {
		w.adaIndex(t, t.lower)
		w.add(" => ")
	}
	w.elementsOf(v, t, depth)
	w.add(rest + ")")
}

// beginsFirst reports whether an array begins where an aggregate without indices does: at
// 1, or at the first value of its index type.
func (t *Type) beginsFirst() bool {
	if t.index == nil {
		return t.lower == 1
	}
	switch index := t.index.Strip(); index.kind {
	case Bool:
		return t.lower == 0
	case Char:
		return t.lower == 0
	case Enum:
		list := index.Enumerators()
		return len(list) > 0 && list[0].Value == t.lower
	}
	return t.lower == 1
}

// adaIndex writes an index of an array.
func (w *printing) adaIndex(t *Type, n int64) {
	if t.index != nil {
		switch index := t.index.Strip(); index.kind {
		case Bool:
			w.add(strconv.FormatBool(n != 0))
			return
		case Char:
			w.add("'")
			w.adaChar(uint64(n), int(index.size), '\'')
			w.add("'")
			return
		case Enum:
			for _, e := range index.Enumerators() {
				if e.Value == n {
					w.add(adaLiteral(e.Name))
					return
				}
			}
		}
	}
	w.add(strconv.FormatInt(n, 10))
}

// adaText writes a string, long runs of one character as 'c' <repeats N times>.
func (w *printing) adaText(v Value, elem *Type) {
	size := elem.Size()
	cut := false
	if short := v.beginning(); short != nil {
		v, cut = v.part(short, 0), true
	}
	b, err := v.Bytes()
	if err != nil || size == 0 || size > 4 {
		w.fail(firstError(err, ErrType))
		return
	}
	n := uint64(len(b)) / size
	if n == 0 {
		w.add(`""`)
		return
	}
	at := func(k uint64) uint64 { return uintOf(w.machine.Order, b[k*size:][:size]) }
	quoted, things := false, 0
	for k := uint64(0); k < n; {
		if things >= w.elements {
			cut = true
			break
		}
		run := uint64(1)
		for k+run < n && at(k+run) == at(k) {
			run++
		}
		if run > uint64(w.repeats) {
			if quoted {
				w.add(`"`)
			}
			if k > 0 {
				w.add(", ")
			}
			w.add("'")
			w.adaChar(at(k), int(size), '\'')
			w.add("' <repeats " + strconv.FormatUint(run, 10) + " times>")
			quoted = false
			k, things = k+run, things+w.repeats
			continue
		}
		if !quoted {
			if k > 0 {
				w.add(", ")
			}
			w.add(`"`)
			quoted = true
		}
		w.adaChar(at(k), int(size), '"')
		k++
		things++
	}
	if quoted {
		w.add(`"`)
	}
	if cut {
		w.add("...")
	}
}

// adaChar writes a character within quotes: one beyond ASCII, or that cannot be seen, by
// its code, as in Ada's source.
func (w *printing) adaChar(n uint64, size int, quote byte) {
	switch {
	case n == '"' && quote == '"':
		w.add(`""`)
	case n >= ' ' && n < 0x7f:
		w.add(string(rune(n)))
	default:
		w.add(fmt.Sprintf(`["%0*x"]`, min(6, 2*size), n))
	}
}

// adaScalar writes a number, a character or an enumeration literal, and reports whether
// it did.
func (w *printing) adaScalar(v Value, t *Type, b []byte, n uint64) bool {
	switch t.kind {
	case Int:
		if t.name != "system__address" || v.typ.isNamed() { // or has another name

			return false
		}
		w.add("(system.address) ")
		w.address(n, false)
	case Char:
		w.decimal(t, b)
		w.add(" '")
		w.adaChar(n, len(b), '\'')
		w.add("'")
	case Float:
		w.add(adaFloat(floatText(t, b)))
	case Enum:
		for _, e := range t.Enumerators() {
			if uint64(e.Value) != n {
				continue
			}
			literal := adaLiteral(e.Name)
			if strings.HasPrefix(literal, "'") {
				w.decimal(t, b)
				w.add(" ")
			}
			w.add(literal)
			return true
		}
		w.decimal(t, b)
	case Pointer:
		w.address(n, t.Elem().named().kind == Func)
	default:
		return false
	}
	return true
}

// adaFloat puts the point into a number that Ada wants there: 1.0, 1.0e+100.
func adaFloat(text string) string {
	digits, exponent, isPower := strings.Cut(text, "e")
	if strings.ContainsAny(text, ".ni") {
		return text
	}
	if isPower {
		return digits + ".0e" + exponent
	}
	return digits + ".0"
}

// ofTag returns an object of a tagged type as the type that its tag names, where that is
// known and comes from v's. The tag leads to the table of the type's operations, before
// which its description is, with the type's name (GNAT's a-tags.ads).
func (v Value) ofTag() Value {
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
		return uintOf(t.machine.Order, b)
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
