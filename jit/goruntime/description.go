// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"unsafe"

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
	size       uint64 // of the record

	own   [ownTables]table
	calls table // in modules.lists
	words table // the pointer map, in modules.lists
}

// The tables of a part.
const (
	ownDepths = iota
	ownFiles
	ownLines
	ownCalls
	ownTables
)

// table is a table that only one function has.
type table struct {
	offset uint32
	size   int
}

// describe writes the name, the tables and the records of a function.
func (x *modules) describe(f *function, c *jit.Function, code []byte, depths, scratch *steps) (err error) {
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
		r := record{entry: uint32(p.start - b.base), name: int32(f.name), flag: flagAsm}
		if stop {
			r.flag |= flagSPWrite
		}
		// The return address of a call at the end is the address after it.
		d := describer{modules: x, part: p, record: &r, function: c, code: code, lines: c.Lines, start: start, end: end + uint64(quantum()), steps: scratch}
		if err := d.describe(depths.list); err != nil {
			return err
		}
		offset, err := b.records.alloc(p.size)
		if err != nil {
			return err
		}
		p.record = offset
		copy(b.records.bytes(offset, p.size), unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r))) // as much as fits
		start = end
	}
	return nil
}

// describer writes the tables of a part of a function, from start to end.
type describer struct {
	modules    *modules
	part       *part
	record     *record
	function   *jit.Function
	code       []byte
	lines      []jit.Line // of the function, and of inlined calls
	start, end uint64     // offsets in the function
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
	if d.record.depths, err = d.add(ownDepths); err != nil {
		return err
	}
	d.steps.reset(uint64(quantum()))
	d.steps.add(0, unsafePoint)
	neverStop, _, err := d.modules.table(d.steps, d.end-d.start)
	if err != nil {
		return err
	}
	words, err := d.pointers()
	if err != nil {
		return err
	}
	calls := d.inlined()
	if len(calls) == 0 {
		d.part.size, d.record.tables, d.record.data = recordSize, tablesPlain, dataPlain
		d.record.numbers = [recordNumbers]uint32{neverStop, noData, words}
	} else {
		index, tree, err := d.tree(calls)
		if err != nil {
			return err
		}
		d.part.size, d.record.tables, d.record.data = inlinedSize, tablesInlined, dataCalls
		d.record.numbers = [recordNumbers]uint32{neverStop, 0, index, noData, words, noData, tree}
	}
	if len(d.lines) == 0 {
		return nil
	}
	if d.record.files, err = d.values(ownFiles, func(l *jit.Line) (int32, error) {
		if l.File == "" || l.Line == 0 {
			return -1, nil
		}
		return d.modules.number(l.File)
	}); err != nil {
		return err
	}
	d.record.lines, err = d.values(ownLines, func(l *jit.Line) (int32, error) {
		if l.File == "" || l.Line == 0 {
			return -1, nil
		}
		if d.record.startLine == 0 && l.Inlined == nil {
			d.record.startLine = int32(l.Line)
		}
		return int32(l.Line), nil
	})
	return err
}

// pointers writes the pointer map (runtime.stackmap). It has a bit for each word up to the saved
// frame pointer, and is the same at all instructions.
func (d *describer) pointers() (offset uint32, err error) {
	list := d.function.Pointers
	if len(list) == 0 || d.record.flag&flagSPWrite != 0 {
		return emptyMap, nil
	}
	end := int64(savedFPAMD64)
	if runtime.GOARCH == "arm64" {
		end = savedFPARM64
	}
	first := slices.Min(list)
	bits := (end - first) / wordSize
	size := int(8 + (bits+7)/8)
	at, err := d.modules.lists.alloc(uint64(size))
	if err != nil {
		return 0, err
	}
	d.part.words = table{uint32(at), size}
	b := d.modules.lists.bytes(at, uint64(size))
	clear(b)
	binary.NativeEndian.PutUint32(b, 1)
	binary.NativeEndian.PutUint32(b[4:], uint32(bits))
	for _, word := range list {
		bit := (word - first) / wordSize
		b[8+bit/8] |= 1 << (bit % 8)
	}
	return uint32(at), nil
}

const wordSize = 8

// values adds the table of a value of the lines.
func (d *describer) values(own int, value func(l *jit.Line) (int32, error)) (offset uint32, err error) {
	d.steps.reset(uint64(quantum()))
	d.steps.add(0, -1)
	for i := range d.lines {
		l := &d.lines[i]
		if l.Offset >= d.end {
			break
		}
		if i+1 < len(d.lines) && d.lines[i+1].Offset <= d.start {
			continue
		}
		v, err := value(l)
		if err != nil {
			return 0, err
		}
		d.steps.add(max(l.Offset, d.start)-d.start, v)
	}
	return d.add(own)
}

func (d *describer) add(own int) (offset uint32, err error) {
	offset, n, err := d.modules.table(d.steps, d.end-d.start)
	d.part.own[own] = table{offset, n}
	return offset, err
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
			p.block.records.put(p.record, p.size)
		default:
			x.retired = append(x.retired, retired{space: p.block.records, offset: p.record, size: p.size})
		}
		for _, t := range []table{p.calls, p.words} {
			switch {
			case t.size == 0:
			case now:
				x.lists.put(uint64(t.offset), uint64(t.size))
			default:
				x.retired = append(x.retired, retired{space: x.lists, offset: uint64(t.offset), size: uint64(t.size)})
			}
		}
	}
	f.parts = nil
}
