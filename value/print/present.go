// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"iter"

	"github.com/clewdev/clew/value"
)

// Presentation is the text that replaces the members of a value, as gdb's pretty printers
// write it: "std::vector of length 2, capacity 4 = {1, 2}".
type Presentation struct {
	Text     string      // first, "" for nothing
	Value    value.Value // follows Text; the zero Value for nothing
	After    string      // follows Value
	String   *String
	Children iter.Seq[Child] // listed last; nil for none
}

// String is text in memory of a known length.
type String struct {
	Elem    *value.Type // of one character
	Address uint64      // run-time, of the first
	Length  uint64      // in characters
	Frame   value.Frame

	// Whole marks text that has no terminator. A NUL at the end is a part of it.
	Whole bool
}

// Child is a listed part of a value: an element without a name or a key, a named member, or an
// entry of a map.
type Child struct {
	Name  string
	Key   value.Value // of a map; else the zero Value
	Value value.Value

	// Skip marks a step of work that found no child, for example an empty part of a hash
	// table. The number of such steps for one value is bounded.
	Skip bool
}

// presented returns the Presentation of a value, or of the target of a reference. It returns
// false if the value has none.
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

// maxChildren bounds how many children of one value, and of the values in it, are listed.
const maxChildren = 20000

// present writes a Presentation. A summary shows "{...}" instead of children.
func (w *printing) present(p Presentation, depth int, summary bool) {
	// The parts are in other places than the value: their types can contain its type.
	around := w.around
	w.around = nil
	defer func() { w.around = around }()
	w.add(p.Text)
	switch {
	case p.Value.Type() == nil:
	case depth >= w.depth && (p.Text == "" || !isScalar(p.Value.Type().Strip())):
		w.add("{...}")
	case summary && !isScalar(p.Value.Type().Strip()):
		if inner, ok := w.presented(p.Value); ok {
			w.present(inner, depth+1, true)
		} else {
			w.add("{...}")
		}
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
	listed := 0
	complete := true
	for c := range p.Children {
		if w.children++; listed >= w.elements || len(w.text) >= maxText || w.children > maxChildren {
			complete = false
			break
		}
		if c.Skip {
			continue
		}
		if listed > 0 {
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
		listed++
		switch {
		case c.Key.Type() != nil || c.Key.LocationErr() != nil:
			w.add("[")
			w.value(c.Key, depth+1, true)
			w.add("] = ")
			listed++
		case c.Name != "":
			w.add(c.Name + " = ")
		}
		w.value(c.Value, depth+1, true)
	}
	switch {
	case listed > 0 && !complete:
		w.add("...}")
	case listed > 0:
		w.add("}")
	case !complete:
		w.add(" = {...}")
	}
}

// counted writes a String, at most Elements characters of it.
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
	if s.Whole {
		w.appendQuoted(data, int(width), prefix, '"', shown < s.Length)
		return
	}
	w.appendString(data, int(width), prefix, shown < s.Length)
}
