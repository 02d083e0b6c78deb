// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package worker

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"
)

// IsStop reports whether Interrupt or another SIGSTOP stopped the worker.
func (e *Event) IsStop() bool { return e.Signal == int(unix.SIGSTOP) }

// Watches reports whether any debug register is set.
func (w *Worker) Watches() bool { return w.watches > 0 }

// Matches returns the watches that have matched since the last call of Matches, as indexes of the
// list of SetWatches.
func (w *Worker) Matches() []int {
	var list []int
	for matched := w.matched; matched != 0; matched &= matched - 1 {
		list = append(list, bits.TrailingZeros32(matched))
	}
	w.matched = 0
	return list
}

// getSet reads a register set and returns its size in bytes.
func (w *Worker) getSet(set uintptr, p unsafe.Pointer, size uintptr) (uint64, error) {
	v := unix.Iovec{Base: (*byte)(p), Len: uint64(size)}
	err := w.ptracePointer(unix.PTRACE_GETREGSET, set, unsafe.Pointer(&v))
	return v.Len, err
}

func (w *Worker) setSet(set uintptr, p unsafe.Pointer, size uintptr) error {
	v := unix.Iovec{Base: (*byte)(p), Len: uint64(size)}
	return w.ptracePointer(unix.PTRACE_SETREGSET, set, unsafe.Pointer(&v))
}

// indexVectors returns the registers by name.
func indexVectors(list []VectorName) map[string]*VectorName {
	byName := make(map[string]*VectorName, len(list))
	for n := range list {
		byName[list[n].Name] = &list[n]
	}
	return byName
}

func (r *General) field(n *Name) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(r), n.Offset) }

// byName and byColumn index Names.
var byName, byColumn = func() (map[string]*Name, [64]*Name) {
	names, columns := map[string]*Name{}, [64]*Name{}
	for i := range Names {
		n := &Names[i]
		names[n.Name] = n
		if n.Column >= 0 && n.Column < len(columns) {
			columns[n.Column] = n
		}
	}
	return names, columns
}()

// Get returns a register by gdb's name.
func (r *General) Get(name string) (uint64, bool) {
	n := byName[name]
	if n == nil {
		return 0, false
	}
	return *(*uint64)(r.field(n)), true
}

// Set sets a register by gdb's name.
func (r *General) Set(name string, v uint64) bool {
	n := byName[name]
	if n == nil {
		return false
	}
	*(*uint64)(r.field(n)) = v
	return true
}

// Column returns a register by its DWARF column.
func (r *General) Column(column uint64) (uint64, bool) {
	if column >= uint64(len(byColumn)) || byColumn[column] == nil {
		return 0, false
	}
	return *(*uint64)(r.field(byColumn[column])), true
}

// SetColumn sets a register by its DWARF column.
func (r *General) SetColumn(column, v uint64) bool {
	if column >= uint64(len(byColumn)) || byColumn[column] == nil {
		return false
	}
	*(*uint64)(r.field(byColumn[column])) = v
	return true
}
