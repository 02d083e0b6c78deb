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

// describe writes the name and the tables of a function. The next one, or the end of its
// module, starts at most spread bytes after its own end.
func (x *modules) describe(f *function, c *jit.Function, depths, scratch *steps) (err error) {
	if f.name, err = x.names.add(goName(c.Name)); err != nil {
		return err
	}
	for i := 0; i < len(depths.list); {
		next := i + 1
		for next < len(depths.list) && (depths.list[next].value == noDepth) == (depths.list[i].value == noDepth) {
			next++
		}
		start, end := depths.list[i].offset, c.Size+spread
		if next < len(depths.list) {
			end = depths.list[next].offset
		}
		f.parts = append(f.parts, part{start: f.start + start, stop: depths.list[i].value == noDepth})
		d := describer{x, &f.parts[len(f.parts)-1], c.Lines, start, end, scratch}
		if err := d.describe(depths.list[i:next]); err != nil {
			return err
		}
		i = next
	}
	return nil
}

// describer writes the tables of a part of a function, from start to end.
type describer struct {
	modules    *modules
	part       *part
	lines      []jit.Line
	start, end uint64 // offsets in the function
	steps      *steps
}

func (d *describer) describe(depths []valueFrom) (err error) {
	d.steps.reset(uint64(quantum()))
	for _, v := range depths {
		d.steps.add(v.offset-d.start, max(v.value, 0))
	}
	if err := d.add(&d.part.depths, 0); err != nil {
		return err
	}
	d.steps.reset(uint64(quantum()))
	d.steps.add(0, unsafePoint)
	if d.part.unsafe, _, err = d.modules.table(d.steps, d.end-d.start); err != nil || len(d.lines) == 0 {
		return err
	}
	if err := d.values(&d.part.files, 1, func(l *jit.Line) (int32, error) { return d.modules.number(l.File) }); err != nil {
		return err
	}
	return d.values(&d.part.lines, 2, func(l *jit.Line) (int32, error) {
		if d.part.startLine == 0 {
			d.part.startLine = int32(l.Line)
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

// spread is the size of the gap at which two functions are not in one module. Go's tables have
// no ends of functions: each function covers the gap after it.
const spread = 256

// drop frees the tables of a function, which was never linked or is retired.
func (x *modules) drop(f *function, now bool) {
	for i := range f.parts {
		for _, t := range f.parts[i].own {
			switch {
			case t.size == 0:
			case now:
				x.steps.remove(t.offset, t.size)
			default:
				x.retired = append(x.retired, retired{table: t.offset, size: t.size})
			}
		}
	}
	f.parts = nil
}
