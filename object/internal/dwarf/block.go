// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import "github.com/clewdev/clew/internal/dw"

// blockAt returns the entry of the innermost block at addr: a function, an
// inlined call, or a part of one in braces that has names of its own. It reports
// false where addr is in no function.
func (d *Data) blockAt(o *openUnit, addr uint64) (entry uint64, ok bool, err error) {
	function := o.functions.find(addr)
	if function == nil {
		return 0, false, nil
	}
	w := blockWalk{Data: d, openUnit: o, addr: addr, entry: function.entry}
	err = w.walk(function.entry)
	return w.entry, true, err
}

type blockWalk struct {
	*Data
	*openUnit
	addr  uint64
	entry uint64 // the block found
}

// openBlock is an entry whose children are being read.
type openBlock struct {
	entry uint64
	here  bool // it has code at the address
	plain bool // it is a lexical block, which counts only if
	named bool // it has a name of its own
}

// walk reads the entries below that of a function until the first that ends
// while it holds the address, which is the innermost.
func (w *blockWalk) walk(function uint64) error {
	u := w.code
	table, err := w.abbreviationsOf(u)
	if err != nil {
		return err
	}
	c := w.entryCursor(u, function)
	var open []openBlock
	for c.remain() > 0 && c.Err == nil {
		offset := u.offset(c.Off)
		code := c.ULEB128()
		if code == 0 {
			b := open[len(open)-1]
			open = open[:len(open)-1]
			if w.isBlock(b) || len(open) == 0 {
				w.entry = b.entry
				return nil
			}
			continue
		}
		a, ok := table.find(code)
		if !ok {
			c.fail("abbreviation %d is not declared", code)
			break
		}
		attributes := table.of(a)
		if w.steps -= 1 + len(attributes); w.steps < 0 {
			return errTooMuch
		}
		var e entry
		for i := range attributes {
			e.set(attributes[i].name, u.read(&c, attributes[i]))
		}
		if n := len(open); n > 0 && hasName(a.tag) {
			open[n-1].named = true
		}
		b := openBlock{entry: offset, plain: a.tag == dw.TagLexicalBlock}
		switch a.tag {
		case dw.TagSubprogram, dw.TagInlinedSubroutine, dw.TagLexicalBlock:
			b.here = w.holds(&e)
		}
		if a.children {
			if next := e.sibling; next.class == reference && isWithoutCode(a.tag) && next.u > offset && u.holds(next.u, c.Off) {
				c.Off = u.local(next.u)
				continue
			}
			open = append(open, b)
			continue
		}
		if w.isBlock(b) || len(open) == 0 {
			w.entry = offset
			return nil
		}
	}
	return c.Err
}

func (w *blockWalk) holds(e *entry) (ok bool) {
	err := w.ranges(w.code, &w.codeRoot, e.pc, func(low, high uint64) bool {
		ok = ok || w.addr >= low && w.addr < high
		return !ok
	})
	return ok && err == nil
}

// isBlock reports whether b, all of which was read, is a block at the address.
// A compiler may leave names without a location out of a copy of a lexical block: then
// the original block decides.
func (w *blockWalk) isBlock(b openBlock) bool {
	return b.here && (!b.plain || b.named || w.originHasNames(b.entry))
}

// originHasNames reports whether the entry that the one at an offset is a copy
// of has a name as a child.
func (w *blockWalk) originHasNames(offset uint64) bool {
	for range maxHops {
		u := w.unitAt(offset)
		if u == nil {
			return false
		}
		table, err := w.abbreviationsOf(u)
		if err != nil {
			return false
		}
		c := w.entryCursor(u, offset)
		a, _ := table.find(c.ULEB128())
		origin := value{}
		for _, at := range table.of(a) {
			if v := u.read(&c, at); at.name == dw.AttrAbstractOrigin {
				origin = v
			}
		}
		if a.children && c.Err == nil {
			if child, ok := table.find(c.ULEB128()); ok && hasName(child.tag) {
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

// hasName reports whether an entry gives a name to the block around it.
func hasName(tag uint32) bool {
	switch tag {
	case dw.TagVariable, dw.TagFormalParameter, dw.TagConstant, dw.TagTypedef,
		dw.TagStructureType, dw.TagUnionType, dw.TagClassType, dw.TagEnumerationType:
		return true
	}
	return false
}
