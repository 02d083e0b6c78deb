// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"cmp"
	"slices"

	"github.com/clewdev/clew/internal/dw"
)

// functionBody holds the inlined calls and call sites of a function. It is read at its
// first use: most functions of a unit never need it.
type functionBody struct {
	inlined []inlined  // in the order of their entries: callers before callees
	calls   []callSite // by pc
	tails   []callSite // tail calls
}

// inlined is one range of a call that was inlined.
type inlined struct {
	low, high  uint64
	entry      uint64 // offset in .debug_info
	depth      int32  // of the entry
	callFile   uint32
	callLine   uint32
	callColumn uint32
}

// body returns the body of a function. Damaged parts are missing, and become the unit's
// error.
func (d *Data) body(o *openUnit, r *functionRange) *functionBody {
	if b := o.bodies[r.function]; b != nil {
		return b
	}
	b, err := d.readBody(o.code, &o.codeRoot, r.entry)
	if err != nil && o.err == nil {
		o.err = unitError(o.unit, err)
	}
	if o.bodies == nil {
		o.bodies = make(map[int32]*functionBody)
	}
	o.bodies[r.function] = b
	return b
}

// chain returns the inlined calls at addr, the outermost first, as indexes in b.inlined.
func (b *functionBody) chain(addr uint64) (chain []int32) {
	depth := int32(-1)
	for k := range b.inlined {
		in := &b.inlined[k]
		if addr < in.low || addr >= in.high {
			continue
		}
		if in.depth <= depth {
			// Two calls that are not nested claim the same instruction. The later one
			// replaces the other.
			for len(chain) > 0 && b.inlined[chain[len(chain)-1]].depth >= in.depth {
				chain = chain[:len(chain)-1]
			}
		}
		chain, depth = append(chain, int32(k)), in.depth
	}
	return chain
}

// readBody reads the entries of a function of a unit. With an error comes the part that
// could be read.
func (d *Data) readBody(u *unit, r *root, function uint64) (b *functionBody, err error) {
	b = new(functionBody)
	w, err := d.walk(u, function)
	if err != nil {
		return b, err
	}
	buffer := &d.bodyBuffer
	inside, calls, tails := buffer.inlined[:0], buffer.calls[:0], buffer.tails[:0]
	var problem error
	var nested []bool // for each open entry, whether it belongs to a nested function
	for w.next() {
		if w.a == nil {
			continue
		}
		isNested, sibling := w.depth > 0 && (nested[w.depth-1] || w.a.tag == dw.TagSubprogram), value{}
		if isNested || !w.a.matters() {
			w.pass()
		} else {
			var e entry
			if w.read(&e); w.c.Err != nil {
				break
			}
			sibling = e.sibling
			switch w.a.tag {
			case dw.TagCallSite, dw.TagGNUCallSite:
				switch call, ok := d.callSite(u, r, &e); {
				case !ok || !w.record():
				case e.tail:
					tails = append(grown(tails), call)
				default:
					calls = append(grown(calls), call)
				}
			case dw.TagInlinedSubroutine:
				rangesErr := d.ranges(u, r, e.pc, func(low, high uint64) bool {
					inside = append(grown(inside), inlined{
						low: low, high: high, entry: w.offset, depth: int32(w.depth),
						callFile: number(e.callFile), callLine: number(e.callLine), callColumn: number(e.callColumn),
					})
					return w.record()
				})
				problem = cmp.Or(problem, rangesErr) // costs that entry only
			}
		}
		if w.descend(sibling) {
			nested = append(nested[:w.depth-1], isNested)
		}
	}
	buffer.inlined, buffer.calls, buffer.tails = inside, calls, tails
	b.inlined, b.calls, b.tails = slices.Clone(inside), slices.Clone(calls), slices.Clone(tails)
	slices.SortStableFunc(b.calls, func(a, b callSite) int { return cmp.Compare(a.pc, b.pc) })
	return b, cmp.Or(w.c.Err, problem)
}

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
