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
func rustCounted(r instance) print.Presentation {
	inner := within(r.Value, "pointer")
	rejectIf(inner.Type() == nil)
	if isStructure(inner.Type()) {
		if object := inner.FieldByName("pointer"); object.Err() == nil { // of a trait
			inner = object
		} else {
			return rustCountedWide(r, inner)
		}
	}
	box := inner.Deref()
	strong, weak := bare(box.FieldByName("strong")), bare(box.FieldByName("weak"))
	held := box.FieldByName("data")
	if held.Err() != nil {
		held = box.FieldByName("value")
	}
	rejectIf(isMissing(held))
	return counted(r, uintOf(strong), uintOf(weak)-1, held, strong)
}

// rustCountedWide presents an Rc or an Arc of a str or a slice. Its pointer has an address and a
// length.
func rustCountedWide(r instance, wide value.Value) print.Presentation {
	at, length := number(wide, "data_ptr"), number(wide, "length")
	elem := argument(r.Type(), 0) // for a slice, that of the element
	m := r.Type().Machine()
	size := uint64(m.AddressSize)
	count := value.IntOf(m, "usize", m.AddressSize, false)
	strong, weak := value.At(count, at, r.Frame()), value.At(count, at+size, r.Frame())
	_, arguments, _ := strings.Cut(r.Type().Strip().Name(), "<")
	if isText(arguments) {
		elem = value.CharOf(m)
	} else {
		rejectIf(!strings.HasPrefix(arguments, "[") || elem == nil) // a trait object
	}
	held := value.At(value.ArrayOf(elem, length), alignedAfter(at, 2*size, elem), r.Frame())
	return counted(r, uintOf(strong), uintOf(weak)-1, held, strong)
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

func rustCell(c instance) print.Presentation {
	held := field(c.Value, "value.value")
	rejectIf(held.Err() != nil)
	return print.Presentation{Text: "Cell", Children: one("value", held)}
}

// rustRefCell presents a RefCell and the state of its borrows.
func rustRefCell(c instance) print.Presentation {
	return borrowed("RefCell", "value", field(c.Value, "value.value"), bare(c.FieldByName("borrow")))
}

// rustBorrowed presents a borrow of a RefCell.
func rustBorrowed(r instance) print.Presentation {
	borrow := bare(r.FieldByName("borrow")).Deref() // the cell's
	return borrowed("Ref", "*value", bare(r.FieldByName("value")).Deref(), bare(borrow))
}

func borrowed(name, member string, held, borrow value.Value) print.Presentation {
	rejectIf(held.Type() == nil || held.Err() != nil)
	n := int64(uintOf(borrow))
	if borrow.Type().Size() == 4 {
		n = int64(int32(n))
	}
	state := fmt.Sprintf("borrow=%d", n)
	if n < 0 {
		state = fmt.Sprintf("borrow_mut=%d", -n)
	}
	children := slices.Values([]print.Child{{Name: member, Value: held}, {Name: "borrow", Value: borrow}})
	return print.Presentation{Text: name + "(" + state + ")", Children: children}
}
