// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"math"

	"github.com/clewdev/clew/jit"
)

// table stores the table of values of a function.
func (x *modules) table(s *steps, size uint64) (offset uint32, own int, err error) {
	if len(s.list) != 1 {
		b := s.encode(size)
		offset, err := x.steps.add(b)
		return offset, len(b), err
	}
	value := s.list[0].value
	if offset, ok := x.constants[value]; ok {
		return offset, 0, nil
	}
	// Long enough for every function.
	if offset, err = x.steps.add(s.encode(math.MaxInt32)); err == nil {
		x.constants[value] = offset
	}
	return offset, 0, err
}

// number returns the number of a file.
func (x *modules) number(name string) (int32, error) {
	if n, ok := x.numbers[name]; ok {
		return int32(n), nil
	}
	offset, err := x.files.add(name)
	if err != nil {
		return 0, err
	}
	at, err := x.units.extend(4)
	if err != nil {
		return 0, err
	}
	*(*uint32)(x.units.at(at)) = offset
	x.numbers[name] = uint32(at / 4)
	return int32(at / 4), nil
}

// function is a function of a batch.
type function struct {
	start, end uint64
	name       uint32
	gone       bool // withdrawn, or without code
	parts      []part
}

// part is a part of a function with its own record: all of it, or the code up to where the
// runtime starts or ceases to find the caller, or to the end of a block.
type part struct {
	start, end uint64
	block      *block
	record     uint64 // offset in block.records; 0 if there is none

	own [3]table
}

// table is a table that only one function has.
type table struct {
	offset uint32
	size   int
}

// describe writes the name, the tables and the records of a function.
func (x *modules) describe(f *function, c *jit.Function, depths, scratch *steps) (err error) {
	if f.name, err = x.names.add(goName(c.Name)); err != nil {
		return err
	}
	stops := func(i int) bool { return depths.list[i].value == noDepth }
	for i, start := 0, uint64(0); start < c.Size; {
		next, end := i+1, c.Size
		for next < len(depths.list) && stops(next) == stops(i) {
			next++
		}
		if next < len(depths.list) {
			end = depths.list[next].offset
		}
		stop := stops(i)
		if boundary := (f.start+start)&^(blockSize-1) + blockSize; f.start+end > boundary {
			end = boundary - f.start
		} else {
			i = next
		}
		b, err := x.blockAt(f.start + start)
		if err != nil {
			return err
		}
		f.parts = append(f.parts, part{start: f.start + start, end: f.start + end, block: b})
		p := &f.parts[len(f.parts)-1]
		r := record{entry: uint32(p.start - b.base), name: int32(f.name), tables: 1, flag: flagAsm, data: 2, arguments: noData, locals: emptyMap}
		if stop {
			r.flag |= flagSPWrite
		}
		// The return address of a call at the end is the address after it.
		d := describer{x, p, &r, c.Lines, start, end + uint64(quantum()), scratch}
		if err := d.describe(depths.list); err != nil {
			return err
		}
		if p.record, err = b.records.alloc(recordSize); err != nil {
			return err
		}
		*b.record(p.record) = r
		start = end
	}
	return nil
}

// describer writes the tables of a part of a function, from start to end.
type describer struct {
	modules    *modules
	part       *part
	record     *record
	lines      []jit.Line
	start, end uint64 // offsets in the function
	steps      *steps
}

func (d *describer) describe(depths []valueFrom) (err error) {
	d.steps.reset(uint64(quantum()))
	for i, v := range depths {
		if v.offset >= d.end {
			break
		}
		if i+1 == len(depths) || depths[i+1].offset > d.start {
			d.steps.add(max(v.offset, d.start)-d.start, max(v.value, 0))
		}
	}
	if err := d.add(&d.record.depths, 0); err != nil {
		return err
	}
	d.steps.reset(uint64(quantum()))
	d.steps.add(0, unsafePoint)
	if d.record.unsafePoint, _, err = d.modules.table(d.steps, d.end-d.start); err != nil || len(d.lines) == 0 {
		return err
	}
	if err := d.values(&d.record.files, 1, func(l *jit.Line) (int32, error) { return d.modules.number(l.File) }); err != nil {
		return err
	}
	return d.values(&d.record.lines, 2, func(l *jit.Line) (int32, error) {
		if d.record.startLine == 0 {
			d.record.startLine = int32(l.Line)
		}
		return int32(l.Line), nil
	})
}

// values adds the table of a value of the lines.
func (d *describer) values(to *uint32, own int, value func(l *jit.Line) (int32, error)) error {
	d.steps.reset(uint64(quantum()))
	d.steps.add(0, -1)
	for i := range d.lines {
		l, v := &d.lines[i], int32(-1)
		if l.Offset >= d.end {
			break
		}
		if i+1 < len(d.lines) && d.lines[i+1].Offset <= d.start {
			continue
		}
		if l.File != "" && l.Line != 0 {
			var err error
			if v, err = value(l); err != nil {
				return err
			}
		}
		d.steps.add(max(l.Offset, d.start)-d.start, v)
	}
	return d.add(to, own)
}

func (d *describer) add(to *uint32, own int) error {
	offset, n, err := d.modules.table(d.steps, d.end-d.start)
	*to, d.part.own[own] = offset, table{offset, n}
	return err
}

// unsafePoint forbids the preemption of a function (abi.UnsafePointUnsafe).
const unsafePoint = -2

// drop frees the tables and records of a function, which was never linked or is retired.
func (x *modules) drop(f *function, now bool) {
	for i := range f.parts {
		p := &f.parts[i]
		for _, t := range p.own {
			switch {
			case t.size == 0:
			case now:
				x.steps.remove(t.offset, t.size)
			default:
				x.retired = append(x.retired, retired{offset: uint64(t.offset), size: uint64(t.size)})
			}
		}
		switch {
		case p.record == 0:
		case now:
			p.block.records.put(p.record, recordSize)
		default:
			x.retired = append(x.retired, retired{space: p.block.records, offset: p.record, size: recordSize})
		}
	}
	f.parts = nil
}
