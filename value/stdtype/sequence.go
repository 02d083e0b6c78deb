// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// elements yields n elements that a pointer leads to.
func elements(first value.Value, n uint64) iter.Seq[print.Child] {
	return func(yield func(print.Child) bool) {
		for i := range n {
			if !yield(print.Child{Value: first.Index(int64(i))}) {
				return
			}
		}
	}
}

// numbered gives the children that have no names theirs: "[0]".
func numbered(list iter.Seq[print.Child]) iter.Seq[print.Child] {
	return func(yield func(print.Child) bool) {
		i := 0
		for c := range list {
			if !c.Nothing {
				c.Name = "[" + strconv.Itoa(i) + "]"
				i++
			}
			if !yield(c) {
				return
			}
		}
	}
}

func vector(v instance) (print.Presentation, bool) {
	start := field(v.Value, "_M_impl._M_start")
	if field(v.Value, "_M_impl._M_start._M_offset").Err() == nil {
		return bitVector(v)
	}
	n, ok := uints(v.Value, "_M_impl._M_start", "_M_impl._M_finish", "_M_impl._M_end_of_storage")
	if !ok {
		return print.Presentation{}, false
	}
	size := start.Type().Strip().Elem().Size()
	used, capacity := n[1]-n[0], n[2]-n[0]
	if size == 0 || used > capacity || used%size != 0 || capacity%size != 0 {
		return print.Presentation{}, false
	}
	if used > 0 && v.Frame().ReadMemory(make([]byte, 1), n[0]) != nil {
		return print.Presentation{}, false // the elements are nowhere
	}
	return print.Presentation{
		Text:     fmt.Sprintf("%s of length %d, capacity %d", v.template, used/size, capacity/size),
		Children: elements(start, used/size),
	}, true
}

// count returns gdb's words for a number of elements.
func count(n uint64) string {
	if n == 1 {
		return "1 element"
	}
	return strconv.FormatUint(n, 10) + " elements"
}

func initializerList(l instance) (print.Presentation, bool) {
	n, ok := uints(l.Value, "_M_array", "_M_len")
	if !ok {
		return print.Presentation{}, false
	}
	return print.Presentation{
		Text:     fmt.Sprintf("%s of length %d", l.template, n[1]),
		Children: elements(l.FieldByName("_M_array"), n[1]),
	}, true
}

// span presents a std::span, whose length can be a part of its type.
func span(s instance) (print.Presentation, bool) {
	length, err := field(s.Value, "_M_extent._M_extent_value").Uint()
	if err != nil {
		_, arguments, _ := strings.Cut(s.Type().Strip().Name(), "<")
		list, _, _ := split(arguments)
		if len(list) < 2 {
			return print.Presentation{}, false
		}
		if length, err = strconv.ParseUint(strings.TrimRight(list[1], "ul"), 10, 64); err != nil {
			return print.Presentation{}, false
		}
	}
	first := s.FieldByName("_M_ptr")
	if isMissing(first) {
		return print.Presentation{}, false
	}
	return print.Presentation{Text: fmt.Sprintf("%s of length %d", s.template, length), Children: elements(first, length)}, true
}

// adaptor presents what a std::stack, std::queue or std::priority_queue is made of.
func adaptor(a instance) (print.Presentation, bool) {
	p, ok := a.present(a.FieldByName("c"))
	p.Text = a.template + " wrapping: " + p.Text
	return p, ok
}
