// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// rustHashTable presents a HashMap or a HashSet: a byte for each place says with its
// highest bit that there is none, and what is there lies before the bytes, backwards.
func rustHashTable(m instance) (print.Presentation, bool) {
	table := within(m.Value, "table")
	var elem *value.Type
	if table.Type() != nil {
		elem = argument(table.Type(), 0)
	}
	control, ok := number(within(table, "ctrl"), "pointer")
	mask, maskOK := number(table, "bucket_mask")
	length, lengthOK := number(table, "items")
	if elem == nil || !ok || !maskOK || !lengthOK || mask&(mask+1) != 0 || length > mask+1 {
		return print.Presentation{}, false
	}
	isMap := m.template == "HashMap"
	return print.Presentation{Text: fmt.Sprintf("%s(size=%d)", m.template, length), Children: func(yield func(print.Child) bool) {
		found := uint64(0)
		for at := uint64(0); at <= mask && found < length; {
			var bytes [4096]byte
			list := bytes[:min(uint64(len(bytes)), mask+1-at)]
			if err := m.Frame().ReadMemory(list, control+at); err != nil {
				yield(print.Child{Value: value.At(elem, control+at, m.Frame())})
				return
			}
			for k, b := range list {
				if b&0x80 != 0 {
					continue
				}
				found++
				c := print.Child{Value: value.At(elem, control-(at+uint64(k)+1)*elem.Size(), m.Frame())}
				if isMap {
					c.Key, c.Value = c.Value.FieldByName("__0"), c.Value.FieldByName("__1")
				} else {
					c.Value = c.Value.FieldByName("__0")
				}
				if found > length || !yield(c) {
					return
				}
			}
			at += uint64(len(list))
			if !yield(print.Child{Nothing: true}) {
				return
			}
		}
	}}, true
}
