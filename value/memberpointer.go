// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

// memberOf returns the class whose members t leads to, nil where it is not known.
func (t *Type) memberOf() *Type {
	t.load()
	if t.class == nil {
		return nil
	}
	return t.class.Strip()
}

// memberSearch looks for what a pointer to a member leads to. Classes that are damaged
// can hold themselves: how many are looked at is bounded.
type memberSearch struct{ left int }

func newMemberSearch() *memberSearch { return &memberSearch{256} }

func (s *memberSearch) enter(t *Type, depth int) bool {
	s.left--
	return t != nil && s.left >= 0 && depth < maxChain
}

// at returns the name of a class's member at an offset, "" where there is none.
func (s *memberSearch) at(t *Type, offset uint64, depth int) string {
	if !s.enter(t, depth) || t.name == "" && depth == 0 {
		return ""
	}
	fields := t.Fields()
	for k := range fields {
		f := &fields[k]
		if f.Base || f.Static != nil || f.BitSize != 0 {
			continue
		}
		switch {
		case f.Name != "" && f.Offset == offset:
			return t.name + "::" + f.Name
		case f.Name == "" && offset-f.Offset < f.Type.Size():
			// What is in an anonymous union is a member of the class.
			inner := f.Type.Strip()
			if name := s.at(inner, offset-f.Offset, depth+1); name != "" {
				return t.name + name[len(inner.name):]
			}
		}
	}
	for k := range fields {
		if f := &fields[k]; f.Base && !f.Virtual && offset-f.Offset < f.Type.Size() {
			return s.at(f.Type.Strip(), offset-f.Offset, depth+1)
		}
	}
	return ""
}

// virtual returns the linkage name of a class's function by its place in the table of
// virtual functions that an object has at an offset, "" where there is none.
func (s *memberSearch) virtual(t *Type, place, offset uint64, depth int) (name string) {
	if !s.enter(t, depth) {
		return ""
	}
	if offset == 0 && t.info != nil {
		_ = t.info.locked(func() error { // what cannot be read is not there
			children, err := t.info.children(t.offset)
			for k := range children {
				c := &children[k]
				if virtuality, _ := c.Number(dwarf.AttrVirtuality); c.Tag == dwarf.TagSubprogram && virtuality != 0 && name == "" {
					if at, ok := tablePlace(c); ok && at == place {
						name = t.info.symbolName(c)
					}
				}
			}
			return err
		})
	}
	fields := t.Fields()
	for k := range fields {
		if f := &fields[k]; name == "" && f.Base && !f.Virtual && offset-f.Offset < f.Type.Size() {
			name = s.virtual(f.Type.Strip(), place, offset-f.Offset, depth+1)
		}
	}
	return name
}

// tablePlace returns the place of a function in the table of virtual functions.
func tablePlace(e *object.DebugEntry) (uint64, bool) {
	b, _ := e.Block(dwarf.AttrVtableElemLoc)
	if len(b) < 2 || cfi.Op(b[0]) != cfi.OpConstu {
		return 0, false
	}
	c := newCursor(nil, b[1:], nil)
	n := c.ULEB128()
	return n, c.Err == nil
}

// MemberAt returns the qualified name of the member at an offset of the class that a
// MemberPointer leads into, "" where there is none.
func (t *Type) MemberAt(offset uint64) string {
	return newMemberSearch().at(t.memberOf(), offset, 0)
}

// VirtualAt returns the linkage name of a virtual function of the class that a
// MemberPointer leads into, "" where it is not known: the one at a place of the table of
// virtual functions that an object has at an offset.
func (t *Type) VirtualAt(place, offset uint64) string {
	return newMemberSearch().virtual(t.memberOf(), place, offset, 0)
}
