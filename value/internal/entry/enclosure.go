// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"debug/dwarf"
	"fmt"
	"sort"

	"github.com/clewdev/clew/object"
)

// enclosure is an entry around others. Either its name is a part of their qualified names, as
// that of a namespace or a class, or it hides them, as a function does.
type enclosure struct {
	start, end uint32 // bytes from the start of the unit; end is that of the entries in it
	around     int32  // index of the enclosure around this one, or -1
	hides      bool
}

// enclosures are the enclosures of a unit, by start.
type enclosures struct {
	list     []enclosure
	prefixes map[int32]string // a cache
}

// maxPrefix bounds a prefix, in bytes.
const maxPrefix = 1 << 12

// prefix returns the prefix of the qualified name of an entry of u: "ns::Class::" or "".
// Entries after damage have none.
func (r *Reader) prefix(u *Unit, e *object.DebugEntry) string {
	if u.enclosures == nil {
		u.enclosures = new(enclosures)
		x := encloser{reader: r, unit: u}
		if root, err := r.Root(u); err == nil && root.Children {
			if _, err = r.Read(u.First); err == nil {
				err = x.walk(-1, 0)
			}
			if err != nil {
				x.cut(x.entry.Offset)
			}
		}
		x.end(u.End)
		u.enclosures.list = x.list
	}
	return r.prefixIn(u, u.enclosures.around(uint32(e.Offset-u.Start)))
}

// around returns the index of the innermost enclosure around the entry at an offset from the
// start of the unit, or -1.
func (n *enclosures) around(offset uint32) int32 {
	k := int32(sort.Search(len(n.list), func(k int) bool { return n.list[k].start >= offset })) - 1
	for k >= 0 && n.list[k].end <= offset {
		k = n.list[k].around
	}
	return k
}

// prefixIn returns the prefix of the names in the k-th enclosure of u.
func (r *Reader) prefixIn(u *Unit, k int32) string {
	if k < 0 || u.enclosures.list[k].hides {
		return ""
	}
	known, ok := u.enclosures.prefixes[k]
	if ok {
		return known
	}
	in := &u.enclosures.list[k]
	e, err := r.Read(u.Start + object.DebugOffset(in.start))
	if err != nil {
		return ""
	}
	name, _ := e.Text(dwarf.AttrName)
	if e.Tag == dwarf.TagNamespace && name == "" {
		name = "(anonymous namespace)"
	}
	prefix := r.prefixIn(u, in.around)
	if in.around >= 0 && u.enclosures.list[in.around].hides {
		in.hides = true
		return ""
	}
	if !(e.Tag == dwarf.TagModule && u.Language == D) && name != "" { // a mangled name of D contains its modules
		prefix += name + "::"
	}
	if len(prefix) > maxPrefix {
		in.hides = true
		return ""
	}
	if u.enclosures.prefixes == nil {
		u.enclosures.prefixes = make(map[int32]string)
	}
	u.enclosures.prefixes[k] = prefix
	return prefix
}

// encloser finds the enclosures of a unit.
type encloser struct {
	reader *Reader
	unit   *Unit
	entry  object.DebugEntry // read last
	list   []enclosure
	open   []int32 // enclosures that the reader has left, with an end that is not known yet
}

// end sets the end of the enclosures that the reader has left.
func (x *encloser) end(at object.DebugOffset) {
	for _, k := range x.open {
		x.list[k].end = uint32(at - x.unit.Start)
	}
	x.open = x.open[:0]
}

// cut ends all enclosures at an offset, from which on the unit cannot be read.
func (x *encloser) cut(at object.DebugOffset) {
	x.end(at)
	for k := range x.list {
		in := &x.list[k]
		in.end = min(in.end, uint32(max(at, x.unit.Start)-x.unit.Start))
	}
}

// maxEnclosed bounds the nesting of enclosures.
const maxEnclosed = 64

// walk reads the entries up to the end of a list in the enclosure around.
func (x *encloser) walk(around int32, depth int) error {
	e := &x.entry
	for {
		ok, err := x.reader.NextTo(e)
		if err != nil {
			return err
		}
		if x.end(e.Offset); !ok || e.Tag == 0 || e.Offset >= x.unit.End {
			return nil
		}
		if !e.Children {
			continue
		}
		isScope, hides := x.kind()
		hides = hides && around >= 0 // or it has no prefix anyway
		if !isScope && !hides {
			if err := x.reader.Skip(e, x.unit); err != nil {
				return err
			}
			continue
		}
		offset := e.Offset - x.unit.Start
		if depth == maxEnclosed || !x.reader.Retain(1) || uint64(x.unit.End-x.unit.Start) > 1<<32-1 {
			return fmt.Errorf("%w: %v: more names than can be held", ErrDamaged, e.Offset)
		}
		k := int32(len(x.list))
		x.list = append(x.list, enclosure{start: uint32(offset), end: uint32(x.unit.End - x.unit.Start), around: around, hides: hides})
		if isScope {
			err = x.walk(k, depth+1)
		} else {
			err = x.reader.Skip(e, x.unit)
		}
		if err != nil {
			return err
		}
		x.open = append(x.open, k)
	}
}

// kind reports whether the name of the entry that was read last is a part of the qualified names in
// it, or whether the entry hides them. A function hides them if it is not a declaration.
func (x *encloser) kind() (isScope, hides bool) {
	e := &x.entry
	switch e.Tag {
	case dwarf.TagNamespace, dwarf.TagModule:
		return true, false
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		isScope = HasScopes(x.unit.Language) && e.Has(dwarf.AttrName)
		return isScope, !isScope
	case dwarf.TagSubprogram:
		return false, !IsDeclaration(e)
	case dwarf.TagEnumerationType: // of Rust, with methods
		return x.unit.Language == Rust && e.Has(dwarf.AttrName), false
	case dwarf.TagArrayType, dwarf.TagSubroutineType:
		return false, false
	}
	return false, true
}

// Enclosing returns the entry with the name before that of e in e's qualified name, or the entry that
// hides e from qualified names. It returns nil if there is none.
func (r *Reader) Enclosing(e *object.DebugEntry) (*object.DebugEntry, error) {
	u := r.UnitOf(e.Offset)
	r.prefix(u, e)
	k := u.enclosures.around(uint32(e.Offset - u.Start))
	if k < 0 {
		return nil, nil
	}
	return r.Read(u.Start + object.DebugOffset(u.enclosures.list[k].start))
}
