// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"strings"

	"github.com/clewdev/clew/value/print"
)

// normalIterator presents what an iterator that is a pointer leads to.
func normalIterator(i instance) (print.Presentation, bool) {
	current := i.FieldByName("_M_current")
	at, err := current.Uint()
	switch {
	case err != nil:
		return print.Presentation{}, false
	case at == 0:
		if container := argument(i.Type(), 1); container != nil {
			name, _, _ := strings.Cut(container.Name(), "<")
			return print.Presentation{Text: "non-dereferenceable iterator for std::" + unqualified(name)}, true
		}
		return print.Presentation{}, false
	}
	return print.Presentation{Value: current.Deref()}, true
}

// safeIterator presents the iterator that one with checks is.
func safeIterator(i instance) (print.Presentation, bool) {
	inner, ok := base(i.Value, "__gnu_debug::_Safe_iterator<")
	if !ok {
		for k, f := range i.Type().Strip().Fields() {
			if f.Base {
				return i.present(i.Field(k))
			}
		}
		return print.Presentation{}, false
	}
	return i.present(inner)
}

// treeIterator presents what an iterator of a std::map or std::set leads to.
func treeIterator(i instance) (print.Presentation, bool) {
	node := i.FieldByName("_M_node")
	at, err := node.Uint()
	elem := argument(i.Type(), 0)
	if err != nil || at == 0 || elem == nil {
		return print.Presentation{}, false
	}
	return print.Presentation{Value: stored(node, at, elem)}, true
}
