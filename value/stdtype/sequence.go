// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"
	"iter"
	"math/bits"
	"strconv"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// elements yields n children without names.
func elements(n uint64, element func(i uint64) value.Value) iter.Seq[print.Child] {
	return func(yield func(print.Child) bool) {
		for i := range n {
			if !yield(print.Child{Value: element(i)}) {
				return
			}
		}
	}
}

// pointed yields n elements from the target of a pointer on.
func pointed(first value.Value, n uint64) iter.Seq[print.Child] {
	return elements(n, func(i uint64) value.Value { return first.Index(int64(i)) })
}

// numbered names the children by their numbers: "[0]".
func numbered(list iter.Seq[print.Child]) iter.Seq[print.Child] {
	return func(yield func(print.Child) bool) {
		i := 0
		for c := range list {
			if !c.Skip {
				c.Name = "[" + strconv.Itoa(i) + "]"
				i++
			}
			if !yield(c) {
				return
			}
		}
	}
}

func vector(v instance) print.Presentation {
	start := field(v.Value, "_M_impl._M_start")
	if start.FieldByName("_M_offset").Err() == nil {
		return bitVector(v)
	}
	n := uints(v.Value, "_M_impl._M_start", "_M_impl._M_finish", "_M_impl._M_end_of_storage")
	size := start.Type().Strip().Elem().Size()
	used, capacity := n[1]-n[0], n[2]-n[0]
	rejectIf(size == 0 || used > capacity || used%size != 0 || capacity%size != 0)
	rejectIf(used > 0 && v.Frame().ReadMemory(make([]byte, 1), n[0]) != nil) // the vector is not initialized
	text := fmt.Sprintf("%s of length %d, capacity %d", v.template, used/size, capacity/size)
	return print.Presentation{Text: text, Children: pointed(start, used/size)}
}

// bitVector presents a std::vector<bool>, whose elements are bits of words.
func bitVector(v instance) print.Presentation {
	n := uints(v.Value, "_M_impl._M_start._M_p", "_M_impl._M_start._M_offset",
		"_M_impl._M_finish._M_p", "_M_impl._M_finish._M_offset", "_M_impl._M_end_of_storage")
	words := field(v.Value, "_M_impl._M_start._M_p")
	elem := argument(v.Type(), 0)
	length, capacity := 8*(n[2]-n[0])+n[3]-n[1], 8*(n[4]-n[0])
	width := 8 * words.Type().Strip().Elem().Size()
	rejectIf(elem == nil || width == 0 || length > capacity)
	text := fmt.Sprintf("%s<bool> of length %d, capacity %d", v.template, length, capacity)
	return print.Presentation{Text: text, Children: elements(length, func(i uint64) value.Value {
		at := i + n[1]
		word := words.Index(int64(at / width))
		set, err := word.Uint()
		if err != nil {
			return word // its text is the error
		}
		return value.Constant(elem, []byte{byte(set >> (at % width) & 1)}, nil)
	})}
}

// bitset presents the bits that are set.
func bitset(b instance) print.Presentation {
	words := b.FieldByName("_M_w")
	rejectIf(isMissing(words))
	t := words.Type().Strip()
	if t.Kind() == value.Array {
		t = t.Elem()
	}
	m, size := b.Type().Machine(), int(t.Size())
	all, err := words.Bytes()
	rejectIf(err != nil || size != 4 && size != 8)
	one := value.IntValue(value.IntOf(m, "int", 4, true), 1, nil)
	return print.Presentation{Text: b.template, Children: func(yield func(print.Child) bool) {
		for i := 0; i+size <= len(all); i += size {
			word := uint64(m.Order.Uint32(all[i:]))
			if size == 8 {
				word = m.Order.Uint64(all[i:])
			}
			for ; word != 0; word &= word - 1 {
				if !yield(print.Child{Name: fmt.Sprintf("[%d]", 8*i+bits.TrailingZeros64(word)), Value: one}) {
					return
				}
			}
		}
	}}
}

// count returns gdb's text for a number of elements.
func count(n uint64) string {
	if n == 1 {
		return "1 element"
	}
	return strconv.FormatUint(n, 10) + " elements"
}

func initializerList(l instance) print.Presentation {
	n := uints(l.Value, "_M_array", "_M_len")
	return print.Presentation{Text: fmt.Sprintf("%s of length %d", l.template, n[1]), Children: pointed(l.FieldByName("_M_array"), n[1])}
}

// span presents a std::span, whose length can be a template argument.
func span(s instance) print.Presentation {
	length, err := field(s.Value, "_M_extent._M_extent_value").Uint()
	if err != nil {
		_, arguments, _ := strings.Cut(s.Type().Strip().Name(), "<")
		list, _, _ := split(arguments)
		rejectIf(len(list) < 2)
		length, err = strconv.ParseUint(strings.TrimRight(list[1], "ul"), 10, 64)
		rejectIf(err != nil)
	}
	first := s.FieldByName("_M_ptr")
	rejectIf(isMissing(first))
	return print.Presentation{Text: fmt.Sprintf("%s of length %d", s.template, length), Children: pointed(first, length)}
}

// adaptor presents the container in a std::stack, std::queue or std::priority_queue.
func adaptor(a instance) print.Presentation {
	p, ok := a.present(a.FieldByName("c"))
	rejectIf(!ok)
	p.Text = a.template + " wrapping: " + p.Text
	return p
}

// deque presents a std::deque: a list of buffers of the same size.
func deque(d instance) print.Presentation {
	n := uints(d.Value, "_M_impl._M_start._M_cur", "_M_impl._M_start._M_first", "_M_impl._M_start._M_last", "_M_impl._M_start._M_node",
		"_M_impl._M_finish._M_cur", "_M_impl._M_finish._M_first", "_M_impl._M_finish._M_node")
	elem := field(d.Value, "_M_impl._M_start._M_cur").Type().Strip().Elem()
	size, word := elem.Size(), uint64(d.Type().Machine().AddressSize)
	rejectIf(size == 0)
	buffer := max(512/size, 1) // elements in each buffer
	before := (n[0] - n[1]) / size
	buffers := (n[6] - n[3]) / word
	rejectIf(n[0] < n[1] || n[2]-n[1] != buffer*size || before > buffer || n[6] < n[3] || buffers > 1<<40 || n[4]-n[5] > buffer*size)
	length := buffers*buffer + (n[4]-n[5])/size - before
	rejectIf(int64(length) < 0)
	nodes := field(d.Value, "_M_impl._M_start._M_node")
	return print.Presentation{Text: d.template + " with " + count(length), Children: elements(length, func(i uint64) value.Value {
		at := before + i
		return nodes.Index(int64(at / buffer)).Index(int64(at % buffer))
	})}
}

// dequeIterator presents the element at an iterator of a std::deque.
func dequeIterator(i instance) print.Presentation {
	current := i.FieldByName("_M_cur")
	if uintOf(current) == 0 {
		return print.Presentation{Text: "non-dereferenceable iterator for std::deque"}
	}
	return print.Presentation{Value: current.Deref()}
}

// list presents a std::list: a ring with one node without an element.
func list(l instance) print.Presentation {
	head := field(l.Value, "_M_impl._M_node")
	end, ok := head.Address()
	rejectIf(!ok)
	return nodeList(l, head.FieldByName("_M_next"), end)
}

// forwardList presents a std::forward_list.
func forwardList(l instance) print.Presentation {
	return nodeList(l, field(l.Value, "_M_impl._M_head._M_next"), 0)
}

func nodeList(l instance, first value.Value, end uint64) print.Presentation {
	elem := argument(l.Type(), 0)
	rejectIf(elem == nil)
	if uintOf(first) == end {
		return print.Presentation{Text: "empty " + l.template}
	}
	return print.Presentation{Text: l.template, Children: numbered(linked(first, "_M_next", end, elem, l.Frame()))}
}

// linked yields the elements of linked nodes up to an address. A node consists of the fields of its
// type, among them the pointer to the next node, and the element.
func linked(next value.Value, pointer string, end uint64, elem *value.Type, f value.Frame) iter.Seq[print.Child] {
	return func(yield func(print.Child) bool) {
		for next := next; ; {
			at, err := next.Uint()
			if err != nil {
				yield(print.Child{Value: next})
				return
			}
			if at == end {
				return
			}
			node := next.Deref()
			if !yield(print.Child{Value: value.At(elem, alignedAfter(at, node.Type().Size(), elem), f)}) {
				return
			}
			next = node.FieldByName(pointer)
		}
	}
}
