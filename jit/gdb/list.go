// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/jit/gdb/registry"
)

// change stores a value, by which an entry is linked or unlinked, and calls
// __jit_debug_register_code, where debuggers stop the program. It returns the code of that function
// before the store and after the call.
func change(place *uintptr, value uintptr) (before, after uint32)

// ownDescriptor returns the descriptor that debuggers find by its symbol.
func ownDescriptor() *nativeDescriptor

// ownRegister returns the address of __jit_debug_register_code.
func ownRegister() uintptr

// list is this program's list of symbol files. The protocol allows one writer at a
// time, from the first change of the list to the return from
// __jit_debug_register_code. The same lock guards the publishers' records of their
// images.
var list struct {
	sync.Mutex
	first *image
}

// changes counts the changes of the list.
var changes atomic.Uint64

// Changes returns the number of changes of this program's list so far. As long as it stays
// the same, a result of registry.Read is current.
func Changes() uint64 { return changes.Load() }

// register puts an image into the list and notifies the debugger. The caller holds
// the lock.
func register(i *image) {
	e := i.entry()
	i.previous, i.next = nil, list.first
	e.previous, e.next = 0, 0
	if i.next != nil {
		i.next.previous = i
		e.next = i.next.address()
		atomic.StoreUintptr(&i.next.entry().previous, i.address())
	}
	list.first = i
	i.registered = true
	d := ownDescriptor()
	// Link the entry last: readers that do not stop the program see only complete entries.
	before, after := notify(d, i, registry.ActionRegister, &d.first, i.address())
	if isBreakpoint(before) || !isBreakpoint(after) {
		return
	}
	// A debugger has attached meanwhile. It has read the entry in the list, or been notified, or
	// both, and then gdb 13 has two copies of the symbol file, one of which it would keep for
	// ever. Make it forget one or two, and tell it again.
	var none uintptr
	for _, action := range [...]registry.Action{registry.ActionUnregister, registry.ActionUnregister, registry.ActionRegister} {
		notify(d, i, action, &none, 0)
	}
}

// unregister takes an image out of the list and notifies the debugger. The caller
// holds the lock.
func unregister(i *image) {
	d := ownDescriptor()
	place, next := &d.first, uintptr(0)
	if i.next != nil {
		next = i.next.address()
		i.next.previous = i.previous
		atomic.StoreUintptr(&i.next.entry().previous, i.entry().previous)
	}
	if i.previous != nil {
		i.previous.next = i.next
		place = &i.previous.entry().next
	} else {
		list.first = i.next
	}
	i.previous, i.next = nil, nil
	i.registered = false
	notify(d, i, registry.ActionUnregister, place, next)
}

// notify changes the list and calls the function in which the debugger reads the descriptor.
func notify(d *nativeDescriptor, i *image, action registry.Action, place *uintptr, value uintptr) (before, after uint32) {
	d.relevant = i.address()
	d.action = action
	before, after = change(place, value)
	changes.Add(1)
	d.action = registry.ActionNone
	d.relevant = 0
	return before, after
}
