// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"debug/dwarf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
)

// ErrDamaged means that debugging information is invalid.
var ErrDamaged = errors.New("invalid debugging information")

// Reader reads the entries of one object. It must not be used by several goroutines at once.
type Reader struct {
	Machine   *arch.Machine
	Addresses []byte   // .debug_addr
	Units     []*Unit  // that were met, by start
	Using     Language // of the root that was read last and states one

	object     *object.File
	reader     *object.DebugReader
	spent      int         // of the budget of the call in progress
	retained   int         // names, types and their parts that are kept
	linked     []*Unit     // the units of the file itself, nil before they are read
	shared     []*Unit     // the units that dwz moved to another file
	sought     bool        // shared was looked for
	ranges     []unitRange // by low; nil before they are read
	longDouble longDouble  // that the object's attributes choose; unknown before they are read
}

// NewReader returns a reader of the debugging information of an object.
func NewReader(f *object.File, reader *object.DebugReader) Reader {
	return Reader{Machine: f.Machine(), Addresses: reader.Addresses(), object: f, reader: reader}
}

// Restart gives the calls that follow a budget of their own.
func (r *Reader) Restart() {
	r.spent = 0
	if r.reader != nil {
		r.reader.Restart()
	}
}

// Cut returns an error for the first string read that its section cuts off, or nil.
func (r *Reader) Cut() error {
	if r.reader == nil {
		return nil
	}
	return r.reader.Cut()
}

// Reference returns the entry at an offset of the section of entries that a unit is in.
func (r *Reader) Reference(u *Unit, n uint64) object.DebugOffset {
	if u == nil || u.Header == nil {
		return object.DebugOffset(n)
	}
	return r.reader.Reference(u.Header, n)
}

// Spend takes n entries or attributes from the budget of a call. Entries overlap only in
// damaged files, and a cache keeps the entries that are read often.
func (r *Reader) Spend(n int) error {
	if r.spent += n; r.spent > 1<<22+4*r.Size() {
		return fmt.Errorf("%w: more attributes than %#x bytes can hold", ErrDamaged, r.Size())
	}
	return nil
}

// MostRetained returns how much may be kept of the entries, counted in attributes.
func (r *Reader) MostRetained() int { return 1<<20 + r.Size()/4 }

// Retain counts n attributes that are to be kept, and reports whether that many may be.
func (r *Reader) Retain(n int) bool {
	r.retained += n
	return r.retained <= r.MostRetained()
}

// Size returns the size in bytes of the sections of entries that are open.
func (r *Reader) Size() int {
	if r.reader == nil {
		return 0
	}
	return r.reader.Size()
}

// Read reads the entry at an offset of .debug_info, and leaves the reader after it.
func (r *Reader) Read(off object.DebugOffset) (*object.DebugEntry, error) {
	if r.UnitOf(off) == nil && r.reader == nil {
		return nil, fmt.Errorf("%w: %v is in no unit", ErrDamaged, off)
	}
	if err := r.reader.Seek(off); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	e := new(struct {
		object.DebugEntry
		buffer [8]object.DebugField // most entries have fewer
	})
	_, ok, err := r.nextIn(&e.DebugEntry, e.buffer[:0])
	if err == nil && (!ok || e.Tag == 0) {
		err = fmt.Errorf("%w: %v: no entry", ErrDamaged, off)
	}
	if err != nil {
		return nil, err
	}
	return &e.DebugEntry, nil
}

// nextIn reads the next entry to e, appends its attributes to fields, and returns fields. ok
// is false at the end of the section.
func (r *Reader) nextIn(e *object.DebugEntry, fields []object.DebugField) (_ []object.DebugField, ok bool, err error) {
	if fields, ok, err = r.reader.NextIn(e, fields); err != nil {
		return fields, ok, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fields, ok, r.Spend(1 + e.Len())
}

// NextTo reads the next entry to e, and overwrites its attributes. ok is false at the end of
// the section.
func (r *Reader) NextTo(e *object.DebugEntry) (ok bool, err error) {
	if ok, err = r.reader.NextTo(e); err != nil {
		return ok, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return ok, r.Spend(1 + e.Len())
}

// Skip skips the children of e, the entry that was read last, without recursion.
func (r *Reader) Skip(e *object.DebugEntry, u *Unit) error {
	if !e.Children {
		return nil
	}
	if sibling, ok := e.Reference(dwarf.AttrSibling); ok && sibling > e.Offset && sibling < u.End {
		return r.reader.Seek(sibling)
	}
	var passed object.DebugEntry
	for depth := 1; depth > 0; {
		e := &passed
		n, ok, err := r.reader.Pass(e)
		if err == nil {
			err = r.Spend(1 + n)
		} else {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		switch {
		case err != nil:
			return err
		case !ok || e.Offset >= u.End && e.Tag != 0:
			return nil
		case e.Tag == 0:
			depth--
		case e.Children:
			depth++
		}
	}
	return nil
}

// Children reads the entries directly below an entry.
func (r *Reader) Children(off object.DebugOffset) ([]object.DebugEntry, error) {
	u := r.UnitOf(off)
	e, err := r.Read(off)
	if err != nil || !e.Children {
		return nil, err
	}
	var list []object.DebugEntry
	var fields []object.DebugField
	for {
		var e object.DebugEntry
		var ok bool
		if fields, ok, err = r.nextIn(&e, fields); err != nil {
			return list, err
		}
		if !ok || e.Tag == 0 || e.Offset >= u.End {
			return list, nil
		}
		list = append(list, e)
		if err := r.Skip(&e, u); err != nil {
			return list, err
		}
	}
}

// TypeReference returns the entry of the type of an entry.
func (r *Reader) TypeReference(e *object.DebugEntry) (object.DebugOffset, bool) {
	if off, ok := e.Reference(dwarf.AttrType); ok {
		return off, true
	}
	if signature, ok := e.Signature(dwarf.AttrType); ok {
		return r.Signed(signature)
	}
	return 0, false
}

// Signed returns the entry of the type with a signature (DWARF 5 §7.32).
func (r *Reader) Signed(signature uint64) (object.DebugOffset, bool) {
	if r.reader == nil {
		return 0, false
	}
	return r.reader.Signed(signature)
}
