// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"iter"

	"github.com/clewdev/clew/value"
)

// Presentation is what stands for a value in the place of its members, as what gdb calls a
// pretty printer has it: "std::vector of length 2, capacity 4 = {1, 2}".
type Presentation struct {
	Text     string      // what stands first, "" for nothing
	Value    value.Value // what follows it at once; the zero Value for nothing
	After    string      // and this
	String   *String
	Children iter.Seq[Child] // what is listed; nil for nothing
}

// String is text in memory that is as long as something else says.
type String struct {
	Elem    *value.Type // of one character
	Address uint64      // run-time, of the first
	Length  uint64      // in characters
	Frame   value.Frame
}

// Child is what is listed of a value: an element, which has neither a name nor a key, a
// member, or what a map has for a key.
type Child struct {
	Name  string
	Key   value.Value // of a map; else the zero Value
	Value value.Value

	// Nothing says that there is none: work was done, as looking at many places of a table
	// that are empty. How much of it is done for one value is bounded.
	Nothing bool
}

// presented returns what stands for a value or what a reference leads to, and for what
// value; ok says that something does.
func (w *printing) presented(v value.Value) (p Presentation, ok bool) {
	if w.Present == nil || v.Type() == nil || v.LocationErr() != nil {
		return p, false
	}
	if t := v.Type().Strip(); t.Kind() == value.Reference {
		if v = v.Deref(); v.LocationErr() != nil {
			return p, false
		}
	}
	if t := v.Type().Strip(); t.Kind() != value.Struct && t.Kind() != value.Class || v.Missing() {
		return p, false
	}
	return w.Present(v)
}

// maxChildren bounds how many children are asked for of one value and of what is in it.
const maxChildren = 20000

// present writes it. A summary has no children, only whether there are any.
func (w *printing) present(p Presentation, depth int, summary bool) {
	// What is presented lies elsewhere than the value: it can be of a type that this one is in.
	around := w.around
	w.around = nil
	defer func() { w.around = around }()
	w.add(p.Text)
	switch {
	case p.Value.Type() == nil:
	case depth >= w.depth:
		w.add("{...}")
	default:
		w.value(p.Value, depth+1, false)
	}
	w.add(p.After)
	if p.String != nil {
		w.counted(p.String)
	}
	if p.Children == nil {
		return
	}
	things := 0
	complete := true
	for c := range p.Children {
		if w.children++; things >= w.elements || len(w.text) >= maxText || w.children > maxChildren {
			complete = false
			break
		}
		if c.Nothing {
			continue
		}
		if things > 0 {
			w.add(", ")
		} else {
			if p.Text != "" {
				w.add(" = ")
			}
			if summary || depth >= w.depth {
				w.add("{...}")
				return
			}
			w.add("{")
		}
		things++
		switch {
		case c.Key.Type() != nil || c.Key.LocationErr() != nil:
			w.add("[")
			w.value(c.Key, depth+1, true)
			w.add("] = ")
			things++
		case c.Name != "":
			w.add(c.Name + " = ")
		}
		w.value(c.Value, depth+1, true)
	}
	switch {
	case things > 0 && !complete:
		w.add("...}")
	case things > 0:
		w.add("}")
	case !complete:
		w.add(" = {...}")
	}
}

// counted writes a string of which at most so many characters are shown.
func (w *printing) counted(s *String) {
	width := s.Elem.Size()
	if width == 0 || width > 4 || s.Frame == nil {
		w.fail(value.ErrType)
		return
	}
	prefix, _ := textual(s.Elem)
	shown := min(s.Length, uint64(w.elements))
	data := make([]byte, shown*width)
	if shown > 0 {
		if err := s.Frame.ReadMemory(data, s.Address); err != nil {
			w.fail(&value.MemoryError{Address: s.Address, Err: err})
			return
		}
	}
	w.appendString(data, int(width), prefix, shown < s.Length)
}
