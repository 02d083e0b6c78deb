// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import "github.com/clewdev/clew/internal/dw"

// openBlock is an entry that blockAt reads.
type openBlock struct {
	entry uint64
	here  bool // it has code at the address
	plain bool // it is a lexical block, which counts only if it has names
	named bool // it declares a name
}

// blockAt returns the entry of the innermost block at addr: a function, an inlined call,
// or a block in braces that declares names. It is the first entry with code at the
// address of which the end is reached. ok is false if addr is in no function.
func (d *Data) blockAt(o *openUnit, addr uint64) (block uint64, ok bool, err error) {
	function := o.functions.find(addr)
	if function == nil {
		return 0, false, nil
	}
	w, err := d.walk(o.code, function.entry)
	if err != nil {
		return function.entry, true, err
	}
	var open []openBlock
	for w.next() {
		if w.a == nil {
			if b := open[w.depth]; w.depth == 0 || d.isBlock(b) {
				return b.entry, true, nil
			}
			continue
		}
		var e entry
		w.read(&e)
		if w.depth > 0 && declaresName(w.a.tag) {
			open[w.depth-1].named = true
		}
		b := openBlock{entry: w.offset, plain: w.a.tag == dw.TagLexicalBlock}
		switch w.a.tag {
		case dw.TagSubprogram, dw.TagInlinedSubroutine, dw.TagLexicalBlock:
			b.here = d.holds(o, &e, addr)
		}
		switch {
		case w.descend(e.sibling):
			open = append(open[:w.depth-1], b)
		case !w.a.children && (w.depth == 0 || d.isBlock(b)):
			return b.entry, true, nil
		}
	}
	return function.entry, true, w.c.Err
}

// holds reports whether an entry has code at addr.
func (d *Data) holds(o *openUnit, e *entry, addr uint64) (ok bool) {
	err := d.ranges(o.code, &o.codeRoot, e.pc, func(low, high uint64) bool {
		ok = addr >= low && addr < high
		return !ok
	})
	return ok && err == nil
}

// isBlock reports whether b, which was read to its end, is a block at the address. A
// compiler may leave names without a location out of a copy of a lexical block: then the
// original block decides.
func (d *Data) isBlock(b openBlock) bool {
	return b.here && (!b.plain || b.named || d.originDeclaresName(b.entry))
}

// originDeclaresName reports whether the entry of which the one at an offset is a copy
// declares a name.
func (d *Data) originDeclaresName(offset uint64) bool {
	for range maxHops {
		u := d.unitAt(offset)
		if u == nil {
			return false
		}
		c, table, a, err := d.declarationAt(u, offset)
		if err != nil {
			return false
		}
		origin := value{}
		for _, at := range table.of(a) {
			if v := u.read(&c, at); at.name == dw.AttrAbstractOrigin {
				origin = v
			}
		}
		if a.children && c.Err == nil {
			if child, ok := table.find(c.ULEB128()); ok && declaresName(child.tag) {
				return true // names come before blocks
			}
		}
		if c.Err != nil || origin.class != reference || origin.u == offset {
			return false
		}
		offset = origin.u
	}
	return false
}

// declaresName reports whether an entry with a tag declares a name in the block around it.
func declaresName(tag uint32) bool {
	switch tag {
	case dw.TagVariable, dw.TagFormalParameter, dw.TagConstant, dw.TagTypedef,
		dw.TagStructureType, dw.TagUnionType, dw.TagClassType, dw.TagEnumerationType:
		return true
	}
	return false
}
