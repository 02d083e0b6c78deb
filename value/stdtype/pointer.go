// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"

	"github.com/clewdev/clew/value/print"
)

// uniquePointer presents a std::unique_ptr, which is a tuple of the pointer and what deletes
// it.
func uniquePointer(p instance) (print.Presentation, bool) {
	elem := argument(p.Type(), 0)
	inner := p.FieldByName("_M_t")
	list := heads(inner)
	if len(list) == 0 {
		list = heads(inner.FieldByName("_M_t")) // since GCC 7
	}
	if elem == nil || len(list) == 0 {
		return print.Presentation{}, false
	}
	return print.Presentation{Text: p.template + "<" + elem.String() + ">", Children: one("get()", list[0])}, true
}

// sharedPointer presents a std::shared_ptr or std::weak_ptr with what counts its owners.
func sharedPointer(p instance) (print.Presentation, bool) {
	elem := argument(p.Type(), 0)
	to := p.FieldByName("_M_ptr")
	owners := field(p.Value, "_M_refcount._M_pi")
	at, err := owners.Uint()
	if elem == nil || err != nil || to.Err() != nil {
		return print.Presentation{}, false
	}
	state := "empty"
	if at != 0 {
		n, ok := uints(owners.Deref(), "_M_use_count", "_M_weak_count")
		switch {
		case !ok:
			return print.Presentation{}, false
		case n[0] == 0:
			state = fmt.Sprintf("expired, weak count %d", int32(n[1]))
		default: // all owners together count as one weak reference
			state = fmt.Sprintf("use count %d, weak count %d", int32(n[0]), int32(n[1])-1)
		}
	}
	return print.Presentation{Text: p.template + "<" + elem.String() + "> (" + state + ")", Children: one("get()", to)}, true
}
