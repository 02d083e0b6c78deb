// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// one yields one child.
func one(name string, v value.Value) iter.Seq[print.Child] {
	return slices.Values([]print.Child{{Name: name, Value: v}})
}

// uniquePointer presents a std::unique_ptr, which is a tuple of the pointer and its deleter.
func uniquePointer(p instance) print.Presentation {
	elem := argument(p.Type(), 0)
	inner := p.FieldByName("_M_t")
	list := heads(inner)
	if len(list) == 0 {
		list = heads(inner.FieldByName("_M_t")) // since GCC 7
	}
	rejectIf(elem == nil || len(list) == 0)
	return print.Presentation{Text: p.template + "<" + elem.String() + ">", Children: one("get()", list[0])}
}

// sharedPointer presents a std::shared_ptr or std::weak_ptr with its reference counts.
func sharedPointer(p instance) print.Presentation {
	elem := argument(p.Type(), 0)
	pointer := p.FieldByName("_M_ptr")
	counts := field(p.Value, "_M_refcount._M_pi")
	at, err := counts.Uint()
	rejectIf(elem == nil || err != nil || pointer.Err() != nil)
	state := "empty"
	if at != 0 {
		n := uints(counts.Deref(), "_M_use_count", "_M_weak_count")
		if n[0] == 0 {
			state = fmt.Sprintf("expired, weak count %d", int32(n[1]))
		} else { // all owners together count as one weak reference
			state = fmt.Sprintf("use count %d, weak count %d", int32(n[0]), int32(n[1])-1)
		}
	}
	return print.Presentation{Text: p.template + "<" + elem.String() + "> (" + state + ")", Children: one("get()", pointer)}
}

// normalIterator presents the target of an iterator that is a pointer.
func normalIterator(i instance) print.Presentation {
	current := i.FieldByName("_M_current")
	if uintOf(current) != 0 {
		return print.Presentation{Value: current.Deref()}
	}
	container := argument(i.Type(), 1)
	rejectIf(container == nil)
	name, _, _ := strings.Cut(container.Name(), "<")
	return print.Presentation{Text: "non-dereferenceable iterator for std::" + unqualified(name)}
}

// safeIterator presents the iterator in one with checks.
func safeIterator(i instance) print.Presentation {
	inner, ok := base(i.Value, "__gnu_debug::_Safe_iterator<")
	if !ok {
		inner, ok = base(i.Value, "")
	}
	rejectIf(!ok)
	p, ok := i.present(inner)
	rejectIf(!ok)
	return p
}
