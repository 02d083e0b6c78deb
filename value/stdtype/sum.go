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

func pair(p instance) print.Presentation {
	first, second := p.FieldByName("first"), p.FieldByName("second")
	rejectIf(isMissing(first) || isMissing(second))
	return print.Presentation{Children: slices.Values([]print.Child{{Name: "first", Value: first}, {Name: "second", Value: second}})}
}

// tuple presents a std::tuple: each element is in a base class of the previous one's class.
func tuple(t instance) print.Presentation {
	list := heads(t.Value)
	if len(list) == 0 {
		rejectIf(len(t.Type().TemplateTypes()) > 0)
		return print.Presentation{Text: "empty " + t.template}
	}
	children := make([]print.Child, len(list))
	for i, v := range list {
		children[i] = print.Child{Name: fmt.Sprintf("[%d]", i+1), Value: v}
	}
	return print.Presentation{Text: t.template + " containing", Children: slices.Values(children)}
}

// maxElements bounds the number of elements in a std::tuple.
const maxElements = 256

// heads returns the elements of a std::tuple.
func heads(t value.Value) (list []value.Value) {
	inner, ok := base(t, "std::_Tuple_impl<")
	for ok && len(list) < maxElements {
		head, found := base(inner, "std::_Head_base<")
		if !found {
			break
		}
		if at := head.FieldByName("_M_head_impl"); at.Err() == nil {
			head = at
		} else if types := head.Type().TemplateTypes(); len(types) > 1 && types[1] != nil {
			head = as(head, types[1]) // an empty class is itself the base class
		}
		list = append(list, head)
		inner, ok = base(inner, "std::_Tuple_impl<")
	}
	return list
}

// as returns a value in memory as one of another type in the same place, and others unchanged.
func as(v value.Value, t *value.Type) value.Value {
	if address, ok := v.Address(); ok {
		return value.At(t, address, v.Frame())
	}
	return v
}

// base returns the first base class of a value whose name has a prefix.
func base(v value.Value, prefix string) (value.Value, bool) {
	if v.Type() == nil {
		return v, false
	}
	for k, f := range v.Type().Strip().Fields() {
		if f.Base && strings.HasPrefix(f.Type.Strip().Name(), prefix) {
			return v.Field(k), true
		}
	}
	return v, false
}

// optional presents a std::optional.
func optional(o instance) print.Presentation {
	payload := o.FieldByName("_M_payload")
	engaged, err := payload.FieldByName("_M_engaged").Uint()
	if err != nil {
		engaged, err = o.FieldByName("_M_engaged").Uint() // GCC 7
	}
	elem := argument(o.Type(), 0)
	rejectIf(err != nil || elem == nil || engaged > 1)
	name := o.template + "<" + short(elem.String()) + ">"
	if engaged == 0 {
		return print.Presentation{Text: name + " [no contained value]"}
	}
	held := payload
	if inner := payload.FieldByName("_M_payload"); !isMissing(inner) {
		held = inner
	}
	if inner := held.FieldByName("_M_value"); !isMissing(inner) {
		held = inner
	} else { // before GCC 9 the payload is the value
		rejectIf(!held.Type().Equal(elem))
	}
	return o.holding(name, "[contained value]", held)
}

// holding presents a type that contains one value. A value with elements is presented instead of
// the type.
func (i instance) holding(name, member string, held value.Value) print.Presentation {
	if k := held.Type().Strip().Kind(); k == value.Struct || k == value.Class {
		if p, ok := i.present(held); ok && p.Text != "" && p.Children != nil {
			p.Text = name + " containing " + p.Text
			return p
		}
	}
	return print.Presentation{Text: name, Children: one(member, held)}
}

// variant presents a std::variant: a union of the first alternative and the union of the others.
func variant(v instance) print.Presentation {
	index := v.FieldByName("_M_index")
	n := uintOf(index)
	types := v.Type().TemplateTypes()
	names := make([]string, len(types))
	for k, t := range types {
		rejectIf(t == nil)
		names[k] = short(t.String())
	}
	name := v.template + "<" + strings.Join(names, ", ") + ">"
	if n == 1<<(8*index.Type().Size())-1 {
		return print.Presentation{Text: name + " [no contained value]"}
	}
	rejectIf(n >= uint64(len(types)))
	union := v.FieldByName("_M_u")
	for range n {
		union = union.FieldByName("_M_rest")
	}
	held := union.FieldByName("_M_first")
	rejectIf(held.Type() == nil || held.Err() != nil)
	if inner := held.FieldByName("_M_storage"); inner.Err() == nil && inner.Type().Equal(types[n]) {
		held = inner
	} else {
		held = as(held, types[n])
		rejectIf(!held.Type().Equal(types[n]))
	}
	return v.holding(fmt.Sprintf("%s [index %d]", name, n), "", held)
}

func atomic(a instance) print.Presentation {
	name := short(a.Type().Strip().Name())
	if elem := argument(a.Type(), 0); elem != nil { // some compilers do not describe atomic<bool> as an instance
		name = a.template + "<" + short(elem.String()) + ">"
	}
	for _, path := range []string{"_M_i", "_M_base._M_i", "_M_b._M_p", "_M_fp"} {
		if held := field(a.Value, path); held.Err() == nil {
			return print.Presentation{Text: name + " = { ", Value: held, After: " }"}
		}
	}
	panic(rejected{})
}

// anyValue presents a std::any. The function that manages its value is a member of a class template
// whose argument is the type of the value, and whose name determines where the value is.
func anyValue(a instance) print.Presentation {
	manager := uintOf(a.FieldByName("_M_manager"))
	if manager == 0 {
		return print.Presentation{Text: a.template + " [no contained value]"}
	}
	info := a.Frame().Info()
	rejectIf(info == nil)
	fn, err := info.FunctionAt(manager - a.Frame().Bias())
	rejectIf(err != nil)
	class := fn.Class()
	rejectIf(class == nil)
	elem := argument(class, 0)
	rejectIf(elem == nil)
	var at uint64
	switch name, _, _ := strings.Cut(class.Name(), "<"); lastOf(name) {
	case "_Manager_internal":
		var ok bool
		at, ok = field(a.Value, "_M_storage._M_buffer").Address()
		rejectIf(!ok)
	case "_Manager_external":
		at = uintOf(field(a.Value, "_M_storage._M_ptr"))
	default:
		panic(rejected{})
	}
	held := value.At(elem, at, a.Frame())
	p := a.holding(a.template, "[contained value]", held)
	if p.Text == a.template {
		p.Text += " containing " + short(elem.String())
	}
	return p
}
