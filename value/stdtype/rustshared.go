// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// rustCounted presents an Rc or an Arc with its reference counts.
func rustCounted(r instance) (print.Presentation, bool) {
	inner := within(r.Value, "pointer")
	if inner.Type() == nil {
		return print.Presentation{}, false
	}
	if isStructure(inner.Type()) {
		return rustCountedWide(r, inner)
	}
	box := inner.Deref()
	strong, weak := bare(box.FieldByName("strong")), bare(box.FieldByName("weak"))
	held := box.FieldByName("data")
	if held.Err() != nil {
		held = box.FieldByName("value")
	}
	n, err := strong.Uint()
	w, weakErr := weak.Uint()
	if err != nil || weakErr != nil || isMissing(held) {
		return print.Presentation{}, false
	}
	return counted(r, n, w-1, held, strong), true
}

// rustCountedWide presents an Rc or an Arc of a str or a slice. Its pointer has an address and a
// length.
func rustCountedWide(r instance, wide value.Value) (print.Presentation, bool) {
	at, ok := number(wide, "data_ptr")
	length, lengthOK := number(wide, "length")
	elem := argument(r.Type(), 0) // for a slice, that of the element
	m := r.Type().Machine()
	size := uint64(m.AddressSize)
	count := value.IntOf(m, "usize", m.AddressSize, false)
	strong := value.At(count, at, r.Frame())
	n, err := strong.Uint()
	w, weakErr := value.At(count, at+size, r.Frame()).Uint()
	_, arguments, _ := strings.Cut(r.Type().Strip().Name(), "<")
	if isText(arguments) {
		elem = value.CharOf(m)
	} else if !strings.HasPrefix(arguments, "[") {
		ok = false // a trait object
	}
	if !ok || !lengthOK || elem == nil || err != nil || weakErr != nil {
		return print.Presentation{}, false
	}
	held := value.At(value.ArrayOf(elem, length), alignedAfter(at, 2*size, elem), r.Frame())
	return counted(r, n, w-1, held, strong), true
}

// counted presents a reference counted object. The counts have the type of counter.
func counted(r instance, strong, weak uint64, held, counter value.Value) print.Presentation {
	t := counter.Type()
	return print.Presentation{
		Text: fmt.Sprintf("%s(strong=%d, weak=%d)", r.template, strong, weak),
		Children: slices.Values([]print.Child{{Name: "value", Value: held},
			{Name: "strong", Value: value.IntValue(t, strong, nil)}, {Name: "weak", Value: value.IntValue(t, weak, nil)}}),
	}
}

func rustCell(c instance) (print.Presentation, bool) {
	held := field(c.Value, "value.value")
	if held.Err() != nil {
		return print.Presentation{}, false
	}
	return print.Presentation{Text: "Cell", Children: one("value", held)}, true
}

// rustRefCell presents a RefCell and the state of its borrows.
func rustRefCell(c instance) (print.Presentation, bool) {
	return borrowed("RefCell", "value", field(c.Value, "value.value"), bare(c.FieldByName("borrow")))
}

// rustBorrowed presents a borrow of a RefCell.
func rustBorrowed(r instance) (print.Presentation, bool) {
	borrow := bare(r.FieldByName("borrow")).Deref() // the cell's
	return borrowed("Ref", "*value", bare(r.FieldByName("value")).Deref(), bare(borrow))
}

func borrowed(name, member string, held, borrow value.Value) (print.Presentation, bool) {
	bits, err := borrow.Uint()
	if held.Type() == nil || held.Err() != nil || err != nil {
		return print.Presentation{}, false
	}
	n := int64(bits)
	if borrow.Type().Size() == 4 {
		n = int64(int32(n))
	}
	state := fmt.Sprintf("borrow=%d", n)
	if n < 0 {
		state = fmt.Sprintf("borrow_mut=%d", -n)
	}
	children := slices.Values([]print.Child{{Name: member, Value: held}, {Name: "borrow", Value: borrow}})
	return print.Presentation{Text: name + "(" + state + ")", Children: children}, true
}
