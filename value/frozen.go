// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import "errors"

// ReadError returns why a value cannot be shown, nil where it can be, or is
// optimized out: what a list of variables has in its place.
func (v Value) ReadError() error {
	_, err := v.Frozen()
	if IsState(err) {
		return nil
	}
	return err
}

// IsState reports whether an error says what has become of a value: it is shown in the
// value's place.
func IsState(err error) bool {
	return errors.Is(err, ErrOptimizedOut) || errors.Is(err, ErrNotAllocated) || errors.Is(err, ErrNotAssociated)
}

// snapshot is a frame in which some memory was read already.
type snapshot struct {
	Frame
	start uint64
	bytes []byte
}

func (s *snapshot) ReadMemory(p []byte, address uint64) error {
	if at := address - s.start; at < uint64(len(s.bytes)) && uint64(len(p)) <= uint64(len(s.bytes))-at {
		copy(p, s.bytes[at:])
		return nil
	}
	return s.Frame.ReadMemory(p, address)
}

// ThreadAddress asks the frame behind the snapshot.
func (s *snapshot) ThreadAddress(offset uint64) (uint64, error) {
	if storage, ok := s.Frame.(ThreadStorage); ok {
		return storage.ThreadAddress(offset)
	}
	return 0, refuse("the frame does not know its thread-local storage")
}

// Frozen returns a value whose parts are read from a copy of its memory, which is read now.
// A value that is too large is not copied if its parts can be read.
func (v Value) Frozen() (Value, error) {
	if err := v.Err(); err != nil {
		if v.isInParts() {
			err = nil
		}
		return v, err
	}
	address, ok := v.Address()
	if !ok || v.frame == nil || v.typ.Strip().kind == Func {
		return v, nil
	}
	if _, done := v.frame.(*snapshot); done {
		return v, nil
	}
	if v.typ.isSpread() {
		return v, nil
	}
	b, err := v.Bytes()
	if err != nil {
		return v, err
	}
	v.frame = &snapshot{v.frame, address, b}
	return v, nil
}

// isInParts reports whether a value is too large to be read as a whole, and its parts are
// not.
func (v Value) isInParts() bool {
	if v.err != nil || v.typ == nil || v.typ.Size() <= MaxSize {
		return false
	}
	switch v.typ.Strip().kind {
	case Struct, Class, Union:
		_, ok := v.Address()
		return ok
	}
	_, ok := v.Beginning()
	return ok
}

// Beginning returns the first elements of an array in memory that is too large to be read as
// a whole, as many as can be read; false for other values.
func (v Value) Beginning() (Value, bool) {
	if v.err != nil || v.typ == nil || v.typ.Size() <= MaxSize {
		return Value{}, false
	}
	t := v.typ.Strip()
	size := t.Elem().Size()
	if _, ok := v.Address(); !ok || t.kind != Array || size == 0 || t.Size()/size > 1<<32 {
		return Value{}, false // no array is as large
	}
	short := ArrayIn(t.language, t.Elem(), max(1, MaxSize/size))
	short.lower, short.stride, short.vector, short.index = t.lower, t.stride, t.vector, t.index
	return v.part(short, 0), true
}

// element returns element i of an array, from 0.
func (v Value) element(t *Type, i uint64) Value { return v.Index(int64(i) + t.lower) }
