// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/clewdev/clew/internal/dw"
)

// functionBody is what lies in the code of a function. Most functions of a unit are never
// asked for theirs.
type functionBody struct {
	inlined []inlined  // in the order of their entries: callers before callees
	calls   []callSite // that return, by pc
	tails   []callSite // that do not
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

// body returns what lies in a function, which is read at its first use. What is damaged of
// it is missing, and the unit's error.
func (d *Data) body(o *openUnit, r *functionRange) *functionBody {
	if b := o.bodies[r.function]; b != nil {
		return b
	}
	b, err := d.readBody(o.code, &o.codeRoot, r.entry)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("unit at %#x: %w", o.unit.start, err)
	}
	if o.bodies == nil {
		o.bodies = make(map[int32]*functionBody)
	}
	o.bodies[r.function] = b
	return b
}

// chain returns the inlined calls of a function at addr, the outermost first, as indexes
// of its body's.
func (b *functionBody) chain(addr uint64) (chain []int32) {
	depth := int32(-1)
	for k := range b.inlined {
		in := &b.inlined[k]
		if addr < in.low || addr >= in.high {
			continue
		}
		if in.depth <= depth {
			// Beside the last one and not in it: two calls that claim the same
			// instruction. The later entry is as good; chains stay chains.
			for len(chain) > 0 && b.inlined[chain[len(chain)-1]].depth >= in.depth {
				chain = chain[:len(chain)-1]
			}
		}
		chain, depth = append(chain, int32(k)), in.depth
	}
	return chain
}

// readBody walks the entries of a function of a unit. What could be read is returned with
// the first error.
func (d *Data) readBody(u *unit, r *root, function uint64) (b *functionBody, err error) {
	b = new(functionBody)
	table, err := d.abbreviationsOf(u)
	if err != nil {
		return b, err
	}
	kept := &d.bodyBuffer
	inside, calls, tails := kept.inlined[:0], kept.calls[:0], kept.tails[:0]
	keep := func() bool {
		if d.records--; d.records < 0 {
			err = errTooMuch
		}
		return err == nil
	}
	c := d.entryCursor(u, function)
	var problem error
	var others []bool // of each open entry, whether what is in it is another function's
	for c.remain() > 0 && c.Err == nil && err == nil {
		offset := u.offset(c.Off)
		code := c.ULEB128()
		if code == 0 {
			if others = others[:max(0, len(others)-1)]; len(others) == 0 {
				break
			}
			continue
		}
		a, ok := table.find(code)
		if !ok {
			c.fail("abbreviation %d is not declared", code)
			break
		}
		attributes := table.of(a)
		if d.steps -= 1 + len(attributes); d.steps < 0 {
			err = errTooMuch
			break
		}
		other := len(others) > 0 && (others[len(others)-1] || a.tag == dw.TagSubprogram)
		if other || !a.matters() {
			u.pass(&c, table, a)
		} else {
			var e entry
			for i := range attributes {
				e.set(attributes[i].name, u.read(&c, attributes[i]))
			}
			if c.Err != nil {
				break
			}
			switch a.tag {
			case dw.TagCallSite, dw.TagGNUCallSite:
				switch call, ok := d.callSite(u, r, &e); {
				case !ok || !keep():
				case e.tail:
					tails = append(grown(tails), call)
				default:
					calls = append(grown(calls), call)
				}
			case dw.TagInlinedSubroutine:
				rangesErr := d.ranges(u, r, e.pc, func(low, high uint64) bool {
					inside = append(grown(inside), inlined{
						low: low, high: high, entry: offset, depth: int32(len(others)),
						callFile: number(e.callFile), callLine: number(e.callLine), callColumn: number(e.callColumn),
					})
					return keep()
				})
				if problem == nil {
					problem = rangesErr // costs that entry only
				}
			}
			if next := e.sibling; a.children && next.class == reference && isWithoutCode(a.tag) && next.u > offset && u.holds(next.u, c.Off) {
				c.Off = u.local(next.u)
				continue
			}
		}
		if a.children {
			others = append(others, other)
		} else if len(others) == 0 {
			break
		}
	}
	if err == nil {
		err = cmp.Or(c.Err, problem)
	}
	kept.inlined, kept.calls, kept.tails = inside, calls, tails
	b.inlined, b.calls, b.tails = slices.Clone(inside), slices.Clone(calls), slices.Clone(tails)
	slices.SortStableFunc(b.calls, func(a, b callSite) int { return cmp.Compare(a.pc, b.pc) })
	return b, err
}
