// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// list presents a std::list: a ring through a node that has no element.
func list(l instance) (print.Presentation, bool) {
	head := field(l.Value, "_M_impl._M_node")
	end, ok := head.Address()
	elem := argument(l.Type(), 0)
	next := head.FieldByName("_M_next")
	if _, err := next.Uint(); !ok || err != nil || elem == nil {
		return print.Presentation{}, false
	}
	return chain(l, next, end, elem), true
}

// forwardList presents a std::forward_list.
func forwardList(l instance) (print.Presentation, bool) {
	next := field(l.Value, "_M_impl._M_head._M_next")
	elem := argument(l.Type(), 0)
	if _, err := next.Uint(); err != nil || elem == nil {
		return print.Presentation{}, false
	}
	return chain(l, next, 0, elem), true
}

// chain presents what nodes have that lead to each other, up to the address of another.
func chain(l instance, next value.Value, end uint64, elem *value.Type) print.Presentation {
	if n, _ := next.Uint(); n == end {
		return print.Presentation{Text: "empty " + l.template}
	}
	return print.Presentation{Text: l.template, Children: numbered(func(yield func(print.Child) bool) {
		for {
			at, err := next.Uint()
			if err != nil {
				yield(print.Child{Value: next})
				return
			}
			if at == end {
				return
			}
			node := next.Deref()
			if !yield(print.Child{Value: value.At(elem, alignedAfter(at, node.Type().Size(), elem), l.Frame())}) {
				return
			}
			next = node.FieldByName("_M_next")
		}
	})}
}
