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
)

// elements yields n elements that a pointer leads to.
func elements(first value.Value, n uint64) iter.Seq[value.Child] {
	return func(yield func(value.Child) bool) {
		for i := range n {
			if !yield(value.Child{Value: first.Index(int64(i))}) {
				return
			}
		}
	}
}

// numbered gives the children that have no names theirs: "[0]".
func numbered(list iter.Seq[value.Child]) iter.Seq[value.Child] {
	return func(yield func(value.Child) bool) {
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

func vector(v instance) (value.Presentation, bool) {
	start := field(v.Value, "_M_impl._M_start")
	if field(v.Value, "_M_impl._M_start._M_offset").Err() == nil {
		return bitVector(v)
	}
	n, ok := uints(v.Value, "_M_impl._M_start", "_M_impl._M_finish", "_M_impl._M_end_of_storage")
	if !ok {
		return value.Presentation{}, false
	}
	size := start.Type().Strip().Elem().Size()
	used, room := n[1]-n[0], n[2]-n[0]
	if size == 0 || used > room || used%size != 0 || room%size != 0 {
		return value.Presentation{}, false
	}
	if used > 0 && v.Frame().ReadMemory(make([]byte, 1), n[0]) != nil {
		return value.Presentation{}, false // the elements are nowhere
	}
	return value.Presentation{
		Text:     fmt.Sprintf("%s of length %d, capacity %d", v.template, used/size, room/size),
		Children: elements(start, used/size),
	}, true
}

// bitVector presents a std::vector<bool>, whose elements are bits of words.
func bitVector(v instance) (value.Presentation, bool) {
	n, ok := uints(v.Value, "_M_impl._M_start._M_p", "_M_impl._M_start._M_offset",
		"_M_impl._M_finish._M_p", "_M_impl._M_finish._M_offset", "_M_impl._M_end_of_storage")
	if !ok {
		return value.Presentation{}, false
	}
	words := field(v.Value, "_M_impl._M_start._M_p")
	elem := argument(v.Type(), 0)
	length, room := 8*(n[2]-n[0])+n[3]-n[1], 8*(n[4]-n[0])
	width := 8 * words.Type().Strip().Elem().Size()
	if elem == nil || width == 0 || length > room {
		return value.Presentation{}, false
	}
	return value.Presentation{
		Text: fmt.Sprintf("%s<bool> of length %d, capacity %d", v.template, length, room),
		Children: func(yield func(value.Child) bool) {
			for i := range length {
				at := i + n[1]
				word := words.Index(int64(at / width))
				set, err := word.Uint()
				bit := word // which says why it cannot be read
				if err == nil {
					bit = value.Constant(elem, []byte{byte(set >> (at % width) & 1)}, nil)
				}
				if !yield(value.Child{Value: bit}) {
					return
				}
			}
		},
	}, true
}

// deque presents a std::deque: a list of buffers of the same size.
func deque(d instance) (value.Presentation, bool) {
	n, ok := uints(d.Value, "_M_impl._M_start._M_cur", "_M_impl._M_start._M_first", "_M_impl._M_start._M_last", "_M_impl._M_start._M_node",
		"_M_impl._M_finish._M_cur", "_M_impl._M_finish._M_first", "_M_impl._M_finish._M_node")
	if !ok {
		return value.Presentation{}, false
	}
	elem := field(d.Value, "_M_impl._M_start._M_cur").Type().Strip().Elem()
	size, word := elem.Size(), uint64(d.Type().Machine().AddressSize)
	if size == 0 {
		return value.Presentation{}, false
	}
	buffer := max(512/size, 1) // elements of each
	before := (n[0] - n[1]) / size
	buffers := (n[6] - n[3]) / word
	if n[0] < n[1] || n[2]-n[1] != buffer*size || before > buffer || n[6] < n[3] || buffers > 1<<40 || n[4]-n[5] > buffer*size {
		return value.Presentation{}, false
	}
	length := buffers*buffer + (n[4]-n[5])/size - before
	if int64(length) < 0 {
		return value.Presentation{}, false
	}
	nodes := field(d.Value, "_M_impl._M_start._M_node")
	return value.Presentation{
		Text: d.template + " with " + count(length),
		Children: func(yield func(value.Child) bool) {
			for i := range length {
				at := before + i
				if !yield(value.Child{Value: nodes.Index(int64(at / buffer)).Index(int64(at % buffer))}) {
					return
				}
			}
		},
	}, true
}

// count is how gdb tells of how many elements there are.
func count(n uint64) string {
	if n == 1 {
		return "1 element"
	}
	return strconv.FormatUint(n, 10) + " elements"
}

// list presents a std::list: a ring through a node that has no element.
func list(l instance) (value.Presentation, bool) {
	head := field(l.Value, "_M_impl._M_node")
	end, ok := head.Address()
	elem := argument(l.Type(), 0)
	next := head.FieldByName("_M_next")
	if _, err := next.Uint(); !ok || err != nil || elem == nil {
		return value.Presentation{}, false
	}
	return chain(l, next, end, elem), true
}

// forwardList presents a std::forward_list.
func forwardList(l instance) (value.Presentation, bool) {
	next := field(l.Value, "_M_impl._M_head._M_next")
	elem := argument(l.Type(), 0)
	if _, err := next.Uint(); err != nil || elem == nil {
		return value.Presentation{}, false
	}
	return chain(l, next, 0, elem), true
}

// chain presents what nodes have that lead to each other, up to the address of another.
func chain(l instance, next value.Value, end uint64, elem *value.Type) value.Presentation {
	if n, _ := next.Uint(); n == end {
		return value.Presentation{Text: "empty " + l.template}
	}
	return value.Presentation{Text: l.template, Children: numbered(func(yield func(value.Child) bool) {
		for {
			at, err := next.Uint()
			if err != nil {
				yield(value.Child{Value: next})
				return
			}
			if at == end {
				return
			}
			node := next.Deref()
			if !yield(value.Child{Value: value.At(elem, behind(at, node.Type().Size(), elem), l.Frame())}) {
				return
			}
			next = node.FieldByName("_M_next")
		}
	})}
}

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

func initializerList(l instance) (value.Presentation, bool) {
	n, ok := uints(l.Value, "_M_array", "_M_len")
	if !ok {
		return value.Presentation{}, false
	}
	return value.Presentation{
		Text:     fmt.Sprintf("%s of length %d", l.template, n[1]),
		Children: elements(l.FieldByName("_M_array"), n[1]),
	}, true
}

// span presents a std::span, whose length can be a part of its type.
func span(s instance) (value.Presentation, bool) {
	length, err := field(s.Value, "_M_extent._M_extent_value").Uint()
	if err != nil {
		_, arguments, _ := strings.Cut(s.Type().Strip().Name(), "<")
		list, _, _ := split(arguments)
		if len(list) < 2 {
			return value.Presentation{}, false
		}
		if length, err = strconv.ParseUint(strings.TrimRight(list[1], "ul"), 10, 64); err != nil {
			return value.Presentation{}, false
		}
	}
	first := s.FieldByName("_M_ptr")
	if isMissing(first) {
		return value.Presentation{}, false
	}
	return value.Presentation{Text: fmt.Sprintf("%s of length %d", s.template, length), Children: elements(first, length)}, true
}

// bitset presents which bits are set.
func bitset(b instance) (value.Presentation, bool) {
	words := b.FieldByName("_M_w")
	if isMissing(words) {
		return value.Presentation{}, false
	}
	t := words.Type().Strip()
	if t.Kind() == value.Array {
		t = t.Elem()
	}
	m, size := b.Type().Machine(), int(t.Size())
	all, err := words.Bytes()
	if err != nil || size != 4 && size != 8 {
		return value.Presentation{}, false
	}
	one := value.IntOf(m, "int", 4, true)
	set := make([]byte, 4)
	m.Order.PutUint32(set, 1)
	return value.Presentation{Text: b.template, Children: func(yield func(value.Child) bool) {
		for i := 0; i+size <= len(all); i += size {
			word := uint64(m.Order.Uint32(all[i:]))
			if size == 8 {
				word = m.Order.Uint64(all[i:])
			}
			for ; word != 0; word &= word - 1 {
				if !yield(value.Child{Name: fmt.Sprintf("[%d]", 8*i+bits.TrailingZeros64(word)), Value: value.Constant(one, set, nil)}) {
					return
				}
			}
		}
	}}, true
}

// adaptor presents what a std::stack, std::queue or std::priority_queue is made of.
func adaptor(a instance) (value.Presentation, bool) {
	p, ok := a.present(a.FieldByName("c"))
	p.Text = a.template + " wrapping: " + p.Text
	return p, ok
}
