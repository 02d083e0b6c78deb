// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// rustCounted presents an Rc or an Arc with how many share it.
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

// rustCountedWide presents an Rc or an Arc of a str or a slice, of which the address stands
// beside the length.
func rustCountedWide(r instance, wide value.Value) (print.Presentation, bool) {
	at, ok := number(wide, "data_ptr")
	length, lengthOK := number(wide, "length")
	elem := argument(r.Type(), 0) // that of the element
	m := r.Type().Machine()
	size := uint64(m.AddressSize)
	count := value.IntOf(m, "usize", m.AddressSize, false)
	strong := value.At(count, at, r.Frame())
	n, err := strong.Uint()
	w, weakErr := value.At(count, at+size, r.Frame()).Uint()
	_, of, _ := strings.Cut(r.Type().Strip().Name(), "<")
	if isText(of) {
		elem = value.CharOf(m)
	} else if !strings.HasPrefix(of, "[") {
		ok = false // a trait's object
	}
	if !ok || !lengthOK || elem == nil || err != nil || weakErr != nil {
		return print.Presentation{}, false
	}
	held := value.At(value.ArrayOf(elem, length), alignedAfter(at, 2*size, elem), r.Frame())
	return counted(r, n, w-1, held, strong), true
}

func counted(r instance, strong, weak uint64, held, like value.Value) print.Presentation {
	t := like.Type()
	number := func(n uint64) value.Value {
		b := make([]byte, t.Size())
		switch len(b) {
		case 4:
			t.Machine().Order.PutUint32(b, uint32(n))
		case 8:
			t.Machine().Order.PutUint64(b, n)
		}
		return value.Constant(t, b, nil)
	}
	return print.Presentation{
		Text: fmt.Sprintf("%s(strong=%d, weak=%d)", r.template, strong, weak),
		Children: func(yield func(print.Child) bool) {
			_ = yield(print.Child{Name: "value", Value: held}) && yield(print.Child{Name: "strong", Value: number(strong)}) && yield(print.Child{Name: "weak", Value: number(weak)})
		},
	}
}

func rustCell(c instance) (print.Presentation, bool) {
	held := field(c.Value, "value.value")
	if held.Err() != nil {
		return print.Presentation{}, false
	}
	return print.Presentation{Text: "Cell", Children: one("value", held)}, true
}

// rustRefCell presents a RefCell, and whether what it holds is lent.
func rustRefCell(c instance) (print.Presentation, bool) {
	return borrowed("RefCell", "value", field(c.Value, "value.value"), bare(c.FieldByName("borrow")))
}

// rustBorrowed presents what a RefCell has lent.
func rustBorrowed(r instance) (print.Presentation, bool) {
	pointer := bare(r.FieldByName("value"))
	borrow := bare(r.FieldByName("borrow")).Deref() // of the cell
	return borrowed("Ref", "*value", pointer.Deref(), bare(borrow))
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
	return print.Presentation{Text: name + "(" + state + ")", Children: func(yield func(print.Child) bool) {
		_ = yield(print.Child{Name: member, Value: held}) && yield(print.Child{Name: "borrow", Value: borrow})
	}}, true
}
