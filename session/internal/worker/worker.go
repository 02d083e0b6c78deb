// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"errors"
	"fmt"
)

// ErrGone means that the worker's process has ended.
var ErrGone = errors.New("the worker has ended")

// EventKind is the kind of an Event.
type EventKind uint8

const (
	Stopped  EventKind = iota // by a signal, also of a trap; the worker does not receive it
	Exited                    // by exit_group or exit: Event.Code
	Killed                    // by Kill, or from outside
	Replaced                  // it called execve, and was killed for that
)

// Event is the reason why a worker no longer runs.
type Event struct {
	Kind   EventKind
	Signal int    // number
	Code   int    // si_code, or the exit code
	Addr   uint64 // si_addr
	PID    int    // si_pid of a signal that a process sent
}

// Options are the options of Start.
type Options struct {
	StackSize int // bytes
}

// Sizes in bytes of a worker's thread-local storage on both sides of the thread pointer.
const (
	TLSBelow = 64 << 10
	TLSAbove = 64 << 10
)

// ErrNoRegister means that there is no register with the name.
var ErrNoRegister = errors.New("no such register")

// Name describes a general register.
type Name struct {
	Name   string
	Offset uintptr // in General
	Size   int     // bytes, as gdb has it
	Column int     // DWARF column, or -1
}

// Class is the group that a register belongs to.
type Class uint8

const (
	FloatClass Class = 1 + iota // x87
	VectorClass
)

// VectorName describes a register that is not a general one.
type VectorName struct {
	Name   string
	Size   int // bytes
	Column int // DWARF column, or -1
	Class  Class

	offset int // in the kernel's data, bytes
}

// Watch is the setting of a debug register.
type Watch struct {
	Address uint64
	Size    int // bytes: 1, 2, 4 or 8; Address is a multiple of it
	Access  WatchAccess
}

// WatchAccess is the kind of access that matches.
type WatchAccess uint8

const (
	Execute WatchAccess = iota
	Write
	ReadWrite
)

// ErrWatches means that the machine has fewer debug registers.
var ErrWatches = errors.New("not enough debug registers")

// PermissionError is the error of a system call that a worker needs.
type PermissionError struct {
	Call string // clone, ptrace
	Err  error
}

func (e *PermissionError) Error() string { return fmt.Sprintf("%s: %v", e.Call, e.Err) }

func (e *PermissionError) Unwrap() error { return e.Err }
