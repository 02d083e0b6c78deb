// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"github.com/clewdev/clew/value/print"
)

// deque presents a std::deque: a list of buffers of the same size.
func deque(d instance) (print.Presentation, bool) {
	n, ok := uints(d.Value, "_M_impl._M_start._M_cur", "_M_impl._M_start._M_first", "_M_impl._M_start._M_last", "_M_impl._M_start._M_node",
		"_M_impl._M_finish._M_cur", "_M_impl._M_finish._M_first", "_M_impl._M_finish._M_node")
	if !ok {
		return print.Presentation{}, false
	}
	elem := field(d.Value, "_M_impl._M_start._M_cur").Type().Strip().Elem()
	size, word := elem.Size(), uint64(d.Type().Machine().AddressSize)
	if size == 0 {
		return print.Presentation{}, false
	}
	buffer := max(512/size, 1) // elements of each
	before := (n[0] - n[1]) / size
	buffers := (n[6] - n[3]) / word
	if n[0] < n[1] || n[2]-n[1] != buffer*size || before > buffer || n[6] < n[3] || buffers > 1<<40 || n[4]-n[5] > buffer*size {
		return print.Presentation{}, false
	}
	length := buffers*buffer + (n[4]-n[5])/size - before
	if int64(length) < 0 {
		return print.Presentation{}, false
	}
	nodes := field(d.Value, "_M_impl._M_start._M_node")
	return print.Presentation{
		Text: d.template + " with " + count(length),
		Children: func(yield func(print.Child) bool) {
			for i := range length {
				at := before + i
				if !yield(print.Child{Value: nodes.Index(int64(at / buffer)).Index(int64(at % buffer))}) {
					return
				}
			}
		},
	}, true
}
