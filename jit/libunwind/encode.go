// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/region"
)

// ErrInfo means that an [Info] cannot be written in libunwind's format.
var ErrInfo = errors.New("cannot be written in libunwind's format")

// Encoder writes descriptions to memory in libunwind's format. It is not safe for
// concurrent use.
type Encoder struct {
	Machine *arch.Machine
	Address uint64 // of Data[0], where the memory will be; a multiple of 8
	Data    []byte // the written memory

	regions map[*region.Region]uint64
}

// Info appends an [Info] and all data that it points to, and returns its address. Region
// lists, and tails of lists, that were written before are shared. The entries of a Table
// with Address 0 are appended; otherwise the Info refers to that address.
func (e *Encoder) Info(i *Info) (uint64, error) {
	w, err := e.describe(i)
	if err != nil {
		return 0, err
	}
	address := e.zeroes(layoutOf(e.Machine).infoSize)
	put(e.Machine, e.Data[address-e.Address:], i, w)
	return address, nil
}

// describe appends the data that an Info points to.
func (e *Encoder) describe(i *Info) (w info, err error) {
	start := len(e.Data)
	w.name, err = e.name(i)
	switch {
	case err != nil:
	case i.Format == Dynamic && i.Procedure != nil:
		w.regions, err = e.list(i.Procedure.Regions)
	case i.Format != Dynamic && i.Table != nil:
		w.table, w.words = e.table(i.Table)
	default:
		err = fmt.Errorf("%w: format %v without a Procedure or Table", ErrInfo, i.Format)
	}
	if err != nil {
		e.Data = e.Data[:start]
		e.regions = nil
	}
	return w, err
}

// put writes an Info to its memory.
func put(m *arch.Machine, b []byte, i *Info, w info) {
	l, f := layoutOf(m), fields{m, b}
	f.put(l.start, l.word, i.Start)
	f.put(l.end, l.word, i.End)
	f.put(l.gp, l.word, i.GP)
	f.put(l.format, 4, uint64(uint32(i.Format)))
	f.put(l.loadOffset, l.word, i.LoadOffset)
	u := fields{m, b[l.union:]}
	u.put(l.name, l.word, w.name)
	if p := i.Procedure; i.Format == Dynamic {
		u.put(l.handler, l.word, p.Handler)
		u.put(l.flags, 4, uint64(p.Flags))
		u.put(l.regions, l.word, w.regions)
	} else {
		u.put(l.segbase, l.word, i.Table.SegmentBase)
		u.put(l.tableLen, l.word, w.words)
		u.put(l.tableData, l.word, w.table)
	}
}

// info contains the pointers of an Info.
type info struct {
	name, regions, table, words uint64
}

// List links Infos at addresses returned by [Encoder.Info], in this order, and appends a
// list of them, as in the memory of libunwind. It returns the list's address.
func (e *Encoder) List(version, generation uint32, infos ...uint64) uint64 {
	l := layoutOf(e.Machine)
	var previous uint64
	for n, at := range infos {
		f := fields{e.Machine, e.Data[at-e.Address:]}
		f.put(l.prev, l.word, previous)
		if n+1 < len(infos) {
			f.put(l.next, l.word, infos[n+1])
		}
		previous = at
	}
	address := e.zeroes(l.listSize)
	f := fields{e.Machine, e.Data[address-e.Address:]}
	f.put(l.version, 4, uint64(version))
	f.put(l.generation, 4, uint64(generation))
	if len(infos) > 0 {
		f.put(l.first, l.word, infos[0])
	}
	return address
}

// zeroes appends n zero bytes, aligned, and returns their address.
func (e *Encoder) zeroes(n int64) uint64 {
	for len(e.Data)%8 != 0 {
		e.Data = append(e.Data, 0)
	}
	address := e.Address + uint64(len(e.Data))
	e.Data = append(e.Data, make([]byte, n)...)
	return address
}

func (e *Encoder) name(i *Info) (uint64, error) {
	var name string
	switch {
	case i.Procedure != nil:
		name = i.Procedure.Name
	case i.Table != nil:
		name = i.Table.Name
	}
	if name == "" {
		return 0, nil
	}
	if strings.IndexByte(name, 0) >= 0 {
		return 0, fmt.Errorf("%w: the name %q contains a NUL", ErrInfo, name)
	}
	address := e.zeroes(int64(len(name)) + 1)
	copy(e.Data[address-e.Address:], name)
	return address, nil
}

// list appends regions, the last first, and returns the address of the first.
func (e *Encoder) list(first *region.Region) (uint64, error) {
	l := layoutOf(e.Machine)
	if e.regions == nil {
		e.regions = make(map[*region.Region]uint64)
	}
	var todo []*region.Region
	var next uint64
	here := make(map[*region.Region]bool)
	for r := first; r != nil; r = r.Next {
		if known, ok := e.regions[r]; ok {
			next = known
			break
		}
		if here[r] {
			return 0, fmt.Errorf("%w: the list of regions is circular", ErrInfo)
		}
		here[r] = true
		todo = append(todo, r)
	}
	for n := len(todo) - 1; n >= 0; n-- {
		r := todo[n]
		if len(r.Ops) > math.MaxInt32 {
			return 0, fmt.Errorf("%w: a region of %d operations", ErrInfo, len(r.Ops))
		}
		address := e.zeroes(l.ops + int64(len(r.Ops))*l.opSize)
		f := fields{e.Machine, e.Data[address-e.Address:]}
		f.put(l.regionNext, l.word, next)
		f.put(l.insnCount, 4, uint64(uint32(r.Count)))
		f.put(l.opCount, 4, uint64(len(r.Ops)))
		for i := range r.Ops {
			o := &r.Ops[i]
			g := fields{e.Machine, f.b[l.ops+int64(i)*l.opSize:]}
			g.put(l.tag, 1, uint64(uint8(o.Tag)))
			g.put(l.qp, 1, uint64(uint8(o.Predicate)))
			g.put(l.reg, 2, uint64(uint16(o.Register)))
			g.put(l.when, 4, uint64(uint32(o.When)))
			g.put(l.val, l.word, o.Value)
		}
		e.regions[r], next = address, address
	}
	return next, nil
}

func (e *Encoder) table(t *region.Table) (address, words uint64) {
	if t.Address != 0 {
		return t.Address, t.Words
	}
	size := int64(len(t.Entries)) * entrySize
	address = e.zeroes(size)
	f := fields{e.Machine, e.Data[address-e.Address:]}
	for i, entry := range t.Entries {
		f.put(int64(i)*entrySize, 4, uint64(uint32(entry.Start)))
		f.put(int64(i)*entrySize+4, 4, uint64(uint32(entry.FDE)))
	}
	return address, uint64(size / layoutOf(e.Machine).word)
}

// fields are the fields of a structure.
type fields struct {
	m *arch.Machine
	b []byte
}

func (f fields) put(offset, size int64, v uint64) {
	b := f.b[offset:]
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		f.m.Order.PutUint16(b, uint16(v))
	case 4:
		f.m.Order.PutUint32(b, uint32(v))
	case 8:
		f.m.Order.PutUint64(b, v)
	}
}

func (f fields) get(offset, size int64) uint64 { return f.m.Uint(f.b[offset:][:size]) }
