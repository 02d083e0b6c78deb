// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"strings"

	"github.com/clewdev/clew/value"
)

// normalIterator presents what an iterator that is a pointer leads to.
func normalIterator(i instance) (value.Presentation, bool) {
	current := i.FieldByName("_M_current")
	at, err := current.Uint()
	switch {
	case err != nil:
		return value.Presentation{}, false
	case at == 0:
		if container := argument(i.Type(), 1); container != nil {
			name, _, _ := strings.Cut(container.Name(), "<")
			return value.Presentation{Text: "non-dereferenceable iterator for std::" + unqualified(name)}, true
		}
		return value.Presentation{}, false
	}
	return value.Presentation{Value: current.Deref()}, true
}

// safeIterator presents the iterator that one with checks is.
func safeIterator(i instance) (value.Presentation, bool) {
	inner, ok := base(i.Value, "__gnu_debug::_Safe_iterator<")
	if !ok {
		for k, f := range i.Type().Strip().Fields() {
			if f.Base {
				return i.present(i.Field(k))
			}
		}
		return value.Presentation{}, false
	}
	return i.present(inner)
}

// treeIterator presents what an iterator of a std::map or std::set leads to.
func treeIterator(i instance) (value.Presentation, bool) {
	node := i.FieldByName("_M_node")
	at, err := node.Uint()
	elem := argument(i.Type(), 0)
	if err != nil || at == 0 || elem == nil {
		return value.Presentation{}, false
	}
	return value.Presentation{Value: stored(node, at, elem)}, true
}
