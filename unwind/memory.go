// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// Stack is a copy of the memory of a stack. The walker reads addresses in it from the
// copy and not through Memory.
type Stack struct {
	Address uint64 // of Bytes[0], a run-time address
	Bytes   []byte // the walker neither copies nor changes them
}

// read fills p with the bytes at an address, and returns false if not all of them are
// in the copy.
func (s *Stack) read(p []byte, addr uint64) bool {
	at := addr - s.Address
	if at > uint64(len(s.Bytes)) || uint64(len(s.Bytes))-at < uint64(len(p)) {
		return false
	}
	copy(p, s.Bytes[at:])
	return true
}

// StackMemory is memory that contains copies of other stacks than the one that a walk starts on.
type StackMemory interface {
	cfi.Memory

	// StackAt returns the copy that contains an address, if there is one.
	StackAt(addr uint64) (Stack, bool)
}

// otherStacks is the state of a walk that has left the stack that it started on.
type otherStacks struct {
	started Stack
	left    bool // Stack is another one
}

// enter makes the copy that contains a stack pointer the Stack of the rest of the walk, if the
// memory has one. Frames in it are read as fast as those of the first stack.
func (w *Walker) enter(sp uint64) {
	if sp-w.Stack.Address < uint64(len(w.Stack.Bytes)) {
		return
	}
	next, ok := w.others.started, w.others.left && sp-w.others.started.Address < uint64(len(w.others.started.Bytes))
	if m, has := w.Memory.(StackMemory); !ok && has {
		next, ok = m.StackAt(sp)
	}
	if ok {
		if !w.others.left {
			w.others = otherStacks{w.Stack, true}
		}
		w.Stack = next
	}
}

// comeBack makes Stack the one with which the walk started.
func (w *Walker) comeBack() {
	if w.others.left {
		w.Stack, w.others = w.others.started, otherStacks{}
	}
}

// unreadable is an error of the walked memory.
type unreadable struct {
	address uint64
	err     error
}

func (e *unreadable) Error() string { return fmt.Sprintf("cannot read %#x: %v", e.address, e.err) }
func (e *unreadable) Unwrap() error { return e.err }

var errNoMemory = errors.New("not in the copied stack, and there is no other memory")

func reasonOf(err error) Reason {
	if e := (*unreadable)(nil); errors.As(err, &e) {
		return UnreadableMemory
	}
	return NoRule
}

// ReadMemory implements cfi.Frame.
func (w *Walker) ReadMemory(p []byte, addr uint64) error {
	if err := w.readMemory(p, addr); err != nil {
		return &unreadable{addr, err}
	}
	if w.records {
		w.recorder.record(p, addr, w.Machine)
	}
	return nil
}

func (w *Walker) readMemory(p []byte, addr uint64) error {
	if w.Stack.read(p, addr) || w.others.left && w.others.started.read(p, addr) {
		return nil
	}
	if w.Memory == nil {
		return errNoMemory
	}
	return w.Memory.ReadMemory(p, addr)
}

// word8 reads a word of 8 bytes, least significant first.
func (w *Walker) word8(addr uint64) (uint64, error) {
	b := w.word[:8]
	err := w.readMemory(b, addr)
	return binary.LittleEndian.Uint64(b), err
}

// read reads a saved register.
func (w *Walker) read(addr uint64) (uint64, error) {
	w.reads++
	// Nearly all slots are in the copied stack.
	if at, n := addr-w.Stack.Address, uint64(len(w.Stack.Bytes)); w.wide && at < n && n-at >= 8 {
		v := binary.LittleEndian.Uint64(w.Stack.Bytes[at:])
		if w.records {
			w.recorder.slots = append(w.recorder.slots, slot{addr, v})
		}
		return v, nil
	}
	b := w.word[:w.Machine.RegisterSize]
	if err := w.ReadMemory(b, addr); err != nil {
		return 0, err
	}
	return w.uint(b), nil
}

// uint decodes a word of 4 or 8 bytes.
func (w *Walker) uint(b []byte) uint64 {
	if len(b) == 4 {
		return uint64(w.Machine.Order.Uint32(b))
	}
	return w.Machine.Order.Uint64(b)
}
