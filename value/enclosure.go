// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"sort"

	"github.com/clewdev/clew/object"
)

// enclosure is an entry that others stand in: a namespace, a class, whose names are a
// part of theirs, or one that hides what is in it.
type enclosure struct {
	start, end uint32 // from the start of the unit, bytes; end is that of what is in it
	around     int32  // the enclosure that this one stands in, -1 for none
	hides      bool
}

// enclosures are those of a unit, by start.
type enclosures struct {
	list     []enclosure
	prefixes map[int32]string // of those that were asked for
}

// maxPrefix bounds what stands before a name, in bytes.
const maxPrefix = 1 << 12

// prefix returns what stands before the name of an entry of a unit, "ns::Class::", "" for
// nothing. What is behind damage is without.
func (i *Info) prefix(u *unit, e *object.DebugEntry) string {
	if u.enclosures == nil {
		u.enclosures = new(enclosures)
		x := encloser{info: i, unit: u}
		if root, err := i.root(u); err == nil && root.Children {
			if _, err = i.read(u.first); err == nil {
				err = x.walk(-1, 0)
			}
			if err != nil {
				x.cut(x.entry.Offset)
			}
		}
		x.end(u.end)
		u.enclosures.list = x.list
	}
	return i.prefixIn(u, u.enclosures.around(uint32(e.Offset-u.start)))
}

// around returns the innermost enclosure of what stands at an offset from the start of
// the unit, -1 where there is none.
func (n *enclosures) around(offset uint32) int32 {
	k := int32(sort.Search(len(n.list), func(k int) bool { return n.list[k].start >= offset })) - 1
	for k >= 0 && n.list[k].end <= offset {
		k = n.list[k].around
	}
	return k
}

// prefixIn returns what stands before the names in an enclosure of a unit.
func (i *Info) prefixIn(u *unit, k int32) string {
	if k < 0 || u.enclosures.list[k].hides {
		return ""
	}
	known, ok := u.enclosures.prefixes[k]
	if ok {
		return known
	}
	in := &u.enclosures.list[k]
	e, err := i.read(u.start + object.DebugOffset(in.start))
	if err != nil {
		return ""
	}
	name, _ := e.Text(dwarf.AttrName)
	if e.Tag == dwarf.TagNamespace && name == "" {
		name = "(anonymous namespace)"
	}
	prefix := i.prefixIn(u, in.around)
	if in.around >= 0 && u.enclosures.list[in.around].hides {
		in.hides = true
		return ""
	}
	if !(e.Tag == dwarf.TagModule && u.language == D) && name != "" { // D separates them by other means, and they stand in symbols
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
	info  *Info
	unit  *unit
	entry object.DebugEntry // read last
	list  []enclosure
	open  []int32 // those of which the end is not known yet, and that the reader has left
}

// end says that what was left ends at an offset.
func (x *encloser) end(at object.DebugOffset) {
	for _, k := range x.open {
		x.list[k].end = uint32(at - x.unit.start)
	}
	x.open = x.open[:0]
}

// cut says that nothing is known from an offset on: what has not ended there ends there.
func (x *encloser) cut(at object.DebugOffset) {
	x.end(at)
	for k := range x.list {
		in := &x.list[k]
		in.end = min(in.end, uint32(max(at, x.unit.start)-x.unit.start))
	}
}

// maxEnclosed is how deep names are looked for.
const maxEnclosed = 64

// walk reads the entries up to the end of a list, which stands in an enclosure.
func (x *encloser) walk(around int32, depth int) error {
	e := &x.entry
	for {
		ok, err := x.info.nextTo(e)
		if err != nil {
			return err
		}
		if x.end(e.Offset); !ok || e.Tag == 0 || e.Offset >= x.unit.end {
			return nil
		}
		if !e.Children {
			continue
		}
		isScope, hides := x.kind()
		hides = hides && around >= 0 // or it has no prefix anyway
		if !isScope && !hides {
			if err := x.info.skip(e, x.unit); err != nil {
				return err
			}
			continue
		}
		offset := e.Offset - x.unit.start
		if depth == maxEnclosed || !x.info.retain(1) || uint64(x.unit.end-x.unit.start) > 1<<32-1 {
			return fmt.Errorf("%w: %v: more names than can be held", ErrDebugInfo, e.Offset)
		}
		k := int32(len(x.list))
		x.list = append(x.list, enclosure{start: uint32(offset), end: uint32(x.unit.end - x.unit.start), around: around, hides: hides})
		if isScope {
			err = x.walk(k, depth+1)
		} else {
			err = x.info.skip(e, x.unit)
		}
		if err != nil {
			return err
		}
		x.open = append(x.open, k)
	}
}

// kind reports whether the entry that was read last is one whose name is a part of those
// in it, or one that hides them: of functions those that may have types of their own.
func (x *encloser) kind() (isScope, hides bool) {
	e := &x.entry
	switch e.Tag {
	case dwarf.TagNamespace, dwarf.TagModule:
		return true, false
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		isScope = x.unit.language.hasScopes() && e.Has(dwarf.AttrName)
		return isScope, !isScope
	case dwarf.TagSubprogram:
		return false, !isDeclaration(e)
	case dwarf.TagEnumerationType, dwarf.TagArrayType, dwarf.TagSubroutineType:
		return false, false
	}
	return false, true
}

// Class returns the structure, class or union that a function is a member of, nil where it
// is of none.
func (f *Function) Class() (t *Type) {
	i := f.info
	_ = i.locked(func() error { // what cannot be read is a member of nothing
		own, err := i.read(f.Type.offset)
		if err != nil {
			return err
		}
		for e := range i.origins(own) {
			u := i.unitOf(e.Offset)
			i.prefix(u, e)
			k := u.enclosures.around(uint32(e.Offset - u.start))
			if k < 0 {
				continue
			}
			around, err := i.read(u.start + object.DebugOffset(u.enclosures.list[k].start))
			if err != nil {
				return err
			}
			switch around.Tag {
			case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
				t = i.typeAt(around.Offset)
				return nil
			}
		}
		return nil
	})
	return t
}
