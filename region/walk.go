// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/clewdev/clew/arch"
)

// Bounds on one conversion, including its aliases. Real procedures have a few regions
// of a few operations. A state has at most 2 KiB of its own.
const (
	maxRegions = 1 << 14
	maxOps     = 1 << 14
	maxRows    = 1 << 16
	maxAliases = 16
)

// conversion converts one procedure.
type conversion struct {
	machine *arch.Machine
	unit    uint64
	entry   state
	among   []*Procedure
	known   map[*Procedure]*timeline

	seen  struct{ regions, ops, rows int }
	depth int // of aliases of aliases
}

// timeline contains the states of a procedure.
type timeline struct {
	rows []row  // by offset; the last of several at one offset counts
	end  uint64 // of the regions seen so far
	done bool
}

// row is the state from an offset of the procedure on, in bytes.
type row struct {
	offset uint64
	state
}

func newConversion(m *arch.Machine, among []*Procedure) *conversion {
	c := &conversion{machine: m, unit: Unit(m), among: among, known: make(map[*Procedure]*timeline)}
	c.entry.frame = -1
	if m.ReturnAddress == m.ProgramCounter { // pushed by the call
		word := int64(m.AddressSize)
		c.entry.sp = -word
		c.entry.saves = saves{{uint8(m.ReturnAddress), inMemory, 0, -word}}
	}
	return c
}

// timeline follows the regions of a procedure.
func (c *conversion) timeline(p *Procedure) (*timeline, error) {
	if t := c.known[p]; t != nil {
		return t, nil
	}
	t := new(timeline)
	c.known[p] = t
	if p.End <= p.Start || (p.End-p.Start)%c.unit != 0 {
		return nil, &Error{p, -1, -1, fault(ErrProcedure, "code [%#x, %#x), expected a multiple of %d bytes", p.Start, p.End, c.unit), Op{}}
	}
	w := walk{conversion: c, procedure: p, timeline: t, labels: make(map[uint64]state)}
	w.m, w.state = c.machine, c.entry
	w.mark(0)
	// At every doubling of the steps, the loop remembers the region. In a circular list it
	// finally meets that region again (Brent).
	var remembered *Region
	for r, n := p.Regions, 0; r != nil; r, n = r.Next, n+1 {
		if r == remembered {
			return nil, &Error{p, n, -1, fault(ErrRegion, "the list of regions is circular"), Op{}}
		}
		if n&(n-1) == 0 {
			remembered = r
		}
		if err := w.follow(r, n); err != nil {
			return nil, err
		}
	}
	t.end, t.done = p.End-p.Start, true
	return t, nil
}

// walk is a conversion at some place of a procedure.
type walk struct {
	*conversion
	procedure *Procedure
	*timeline
	effects
	labels map[uint64]state
	order  []ordered // reused
}

// ordered is an operation and the unit from which it counts.
type ordered struct {
	when  int32
	index int
}

// mark records the state from an offset on.
func (w *walk) mark(offset uint64) {
	w.rows = append(w.rows, row{offset, w.state})
}

// follow applies a region.
func (w *walk) follow(r *Region, index int) error {
	fail := func(op int, err error) error {
		e := &Error{Procedure: w.procedure, Region: index, Op: op, Err: err}
		if op >= 0 {
			e.op = r.Ops[op]
		}
		return e
	}
	if w.seen.regions++; w.seen.regions > maxRegions {
		return fail(-1, fault(ErrLimit, "more than %d regions", maxRegions))
	}
	size := w.procedure.End - w.procedure.Start
	start, units := w.end, uint64(r.Count)
	if r.Count < 0 {
		units = uint64(-int64(r.Count))
	}
	left := (size - w.end) / w.unit
	switch {
	case units > left:
		return fail(-1, fault(ErrRegion, "%d units of code, but the procedure has %d, of which %d are left", r.Count, size/w.unit, left))
	case r.Count < 0 && r.Next != nil:
		return fail(-1, fault(ErrRegion, "%d units of code in a region that is not the last", r.Count))
	case r.Count < 0:
		start = size - units*w.unit
	}
	end := start + units*w.unit
	w.region = w.seen.regions
	w.enter(w.region)
	if op, err := w.sort(r, units); err != nil {
		return fail(op, err)
	}
	for i := 0; i < len(w.order); {
		group := w.order[i].when
		at := start + uint64(int64(group)+1)*w.unit
		from := w.sp
		for ; i < len(w.order) && w.order[i].when == group; i++ {
			op := w.order[i].index
			o := &r.Ops[op]
			var err error
			switch o.Tag {
			case TagAlias:
				if i != len(w.order)-1 {
					return fail(op, fault(ErrAlias, "op %d takes effect after it", w.order[i+1].index))
				}
				err = w.alias(o.Value, start, at, end)
				from = w.sp
			case TagLabelState:
				w.labels[o.Value] = w.state
			case TagCopyState:
				s, ok := w.labels[o.Value]
				if !ok {
					return fail(op, fault(ErrLabel, "no earlier label_state with the label %d", o.Value))
				}
				s.enter(w.region)
				w.state, from = s, s.sp
			case TagPopFrames:
				err = w.apply(o)
				from = w.sp
			default:
				err = w.apply(o)
			}
			if err != nil {
				return fail(op, err)
			}
		}
		if w.reclaim(from, &w.entry); r.Ops[w.order[i-1].index].Tag != TagAlias {
			w.mark(at)
		}
	}
	w.end = end
	// This restores the registers that PopFrames kept until here.
	if w.held != 0 {
		w.enter(0)
		w.mark(end)
	}
	return nil
}

// sort sets w.order to a region's operations up to the first stop or alias, in the
// order of their units. An error belongs to the operation at the returned index.
func (w *walk) sort(r *Region, units uint64) (int, error) {
	w.order = w.order[:0]
	latest, sorted := int32(-1), true
	for i := range r.Ops {
		o := &r.Ops[i]
		if o.Tag == TagStop {
			break
		}
		if w.seen.ops++; w.seen.ops > maxOps {
			return i, fault(ErrLimit, "more than %d operations", maxOps)
		}
		when := o.When
		switch {
		case units == 0:
			when = -1
		case when < -1 || int64(when) >= int64(units):
			return i, fault(ErrOperation, "takes effect at unit %d of a region of %d", when, units)
		case o.Tag == TagLabelState && when == -1:
			when = latest
		}
		if n := len(w.order); n > 0 && w.order[n-1].when > when {
			sorted = false
		}
		latest = max(latest, when)
		w.order = append(w.order, ordered{when, i})
		if o.Tag == TagAlias {
			break
		}
	}
	if !sorted {
		slices.SortStableFunc(w.order, func(a, b ordered) int { return cmp.Compare(a.when, b.when) })
	}
	return -1, nil
}

// alias takes the states of [at, end) from the code that the region at start is a
// copy of.
func (w *walk) alias(address, start, at, end uint64) error {
	procedures := append(w.among[:len(w.among):len(w.among)], w.procedure)
	i := slices.IndexFunc(procedures, func(p *Procedure) bool { return p != nil && p.Start <= address && address < p.End })
	if i < 0 {
		return fault(ErrAlias, "no known procedure contains %#x", address)
	}
	of := procedures[i]
	offset := address - of.Start
	first, last := offset+(at-start), offset+(end-start)
	switch {
	case offset%w.unit != 0:
		return fault(ErrAlias, "%#x is not the start of an instruction", address)
	case last > of.End-of.Start:
		return fault(ErrAlias, "%#x bytes long, but the procedure ends %#x after %#x", end-start, of.End-address, address)
	case w.conversion.depth == maxAliases:
		return fault(ErrLimit, "more than %d aliases of aliases", maxAliases)
	}
	w.conversion.depth++
	t, err := w.conversion.timeline(of)
	w.conversion.depth--
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAlias, err)
	}
	if last > t.end {
		return fault(ErrAlias, "circular: the code at %#x is an alias of this one", address)
	}
	rows := t.rows // t may be w's own, which grows
	i = sort.Search(len(rows), func(i int) bool { return rows[i].offset > first })
	w.state = rows[i-1].state
	w.mark(at)
	for ; i < len(rows) && rows[i].offset <= last; i++ {
		if w.seen.rows++; w.seen.rows > maxRows {
			return fault(ErrLimit, "more than %d rows through aliases", maxRows)
		}
		w.state = rows[i].state
		w.mark(at + (rows[i].offset - first))
	}
	return nil
}
