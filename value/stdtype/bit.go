// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"
	"math/bits"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// bitVector presents a std::vector<bool>, whose elements are bits of words.
func bitVector(v instance) (print.Presentation, bool) {
	n, ok := uints(v.Value, "_M_impl._M_start._M_p", "_M_impl._M_start._M_offset",
		"_M_impl._M_finish._M_p", "_M_impl._M_finish._M_offset", "_M_impl._M_end_of_storage")
	if !ok {
		return print.Presentation{}, false
	}
	words := field(v.Value, "_M_impl._M_start._M_p")
	elem := argument(v.Type(), 0)
	length, capacity := 8*(n[2]-n[0])+n[3]-n[1], 8*(n[4]-n[0])
	width := 8 * words.Type().Strip().Elem().Size()
	if elem == nil || width == 0 || length > capacity {
		return print.Presentation{}, false
	}
	return print.Presentation{
		Text: fmt.Sprintf("%s<bool> of length %d, capacity %d", v.template, length, capacity),
		Children: func(yield func(print.Child) bool) {
			for i := range length {
				at := i + n[1]
				word := words.Index(int64(at / width))
				set, err := word.Uint()
				bit := word // which says why it cannot be read
				if err == nil {
					bit = value.Constant(elem, []byte{byte(set >> (at % width) & 1)}, nil)
				}
				if !yield(print.Child{Value: bit}) {
					return
				}
			}
		},
	}, true
}

// bitset presents which bits are set.
func bitset(b instance) (print.Presentation, bool) {
	words := b.FieldByName("_M_w")
	if isMissing(words) {
		return print.Presentation{}, false
	}
	t := words.Type().Strip()
	if t.Kind() == value.Array {
		t = t.Elem()
	}
	m, size := b.Type().Machine(), int(t.Size())
	all, err := words.Bytes()
	if err != nil || size != 4 && size != 8 {
		return print.Presentation{}, false
	}
	one := value.IntOf(m, "int", 4, true)
	set := make([]byte, 4)
	m.Order.PutUint32(set, 1)
	return print.Presentation{Text: b.template, Children: func(yield func(print.Child) bool) {
		for i := 0; i+size <= len(all); i += size {
			word := uint64(m.Order.Uint32(all[i:]))
			if size == 8 {
				word = m.Order.Uint64(all[i:])
			}
			for ; word != 0; word &= word - 1 {
				if !yield(print.Child{Name: fmt.Sprintf("[%d]", 8*i+bits.TrailingZeros64(word)), Value: value.Constant(one, set, nil)}) {
					return
				}
			}
		}
	}}, true
}
