// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/cfi"
)

// Goroutine is the contents of the runtime's structure of a goroutine. Addresses are
// run-time addresses.
type Goroutine struct {
	Address uint64 // of the structure, a g
	ID      uint64

	State  State
	Name   string // of the state, as in the runtime's dumps: "chan receive"
	Reason string // why it waits, "" if unknown
	Scan   bool   // the garbage collector is scanning its stack

	// Since is when the garbage collector first noticed that it waits: nanoseconds of the
	// target's monotonic clock, 0 if it has not.
	Since int64

	Thread   uint64 // the m that runs it, 0 if none does
	Locked   bool   // it is locked to its thread
	LockedTo uint64 // the m of that thread, 0 for none
	Parent   uint64 // the ID of the goroutine that created it, 0 if unknown
	Creation uint64 // return address of the go statement's call
	Function uint64 // the function that it started with

	StackLow, StackHigh uint64 // its stack: [StackLow, StackHigh)

	// Runs counts how often it ran until it waited or yielded, modulo 256 and from an
	// arbitrary start. Two values show whether a goroutine ran in between.
	Runs uint8

	// Labels is the address of its profiler labels (runtime/pprof.Do), 0 for none.
	Labels uint64

	// The place where it continues when it runs again, and, during a system call, the place
	// where it left Go code; otherwise zero.
	Sched, Syscall Context
}

// Context contains the registers that the runtime saves.
type Context struct{ PC, SP, FP, LR uint64 }

// State is the state of a goroutine.
type State uint8

// The states (runtime/runtime2.go). States have the same numbers in all versions.
const (
	Idle          State = 0 // it was just made
	Runnable      State = 1
	Running       State = 2
	InSyscall     State = 3
	Waiting       State = 4
	Dead          State = 6
	CopyingStack  State = 8
	Preempted     State = 9
	Leaked        State = 10
	WaitingForCgo State = 11 // reserved for threads that C makes
)

const (
	scanning    = 0x1000 // a bit of the state
	pointerSize = 8

	maxStack      = 1 << 31 // bytes; the runtime's limit is 1 GB
	maxGoroutines = 1 << 20
	maxThreads    = 1 << 14
	listChunk     = 1 << 13 // goroutines
)

// errNoGoroutine means that a goroutine's structure is invalid.
var errNoGoroutine = errors.New("not a valid goroutine")

// size returns the number of bytes of a g that are read.
func (l *Layout) size() int {
	n := l.Sched + max(l.LR, l.BP)
	for _, at := range []uint16{l.Status, l.ID, l.WaitSince, l.WaitReason, l.LockedM, l.Parent, l.Creation, l.Function, l.Runs, l.Labels, l.SyscallBP, l.SyscallPC} {
		n = max(n, at)
	}
	return int(n) + pointerSize
}

// threadSize returns the number of bytes of an m that are read.
func (l *Layout) threadSize() int {
	return int(max(l.Signal, l.Thread, l.Current, l.Next)) + pointerSize
}

// decode reads a g.
func (l *Layout) decode(b []byte, address uint64) (g Goroutine, err error) {
	word := func(at uint16) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	known := func(at uint16) uint64 {
		if at == 0 {
			return 0
		}
		return word(at)
	}
	status := binary.LittleEndian.Uint32(b[l.Status:])
	g = Goroutine{
		Address: address, ID: word(l.ID), State: State(status &^ scanning), Scan: status&scanning != 0,
		Since: int64(word(l.WaitSince)), Thread: word(l.M), Locked: word(l.LockedM) != 0, LockedTo: word(l.LockedM),
		Parent: known(l.Parent), Creation: word(l.Creation), Function: word(l.Function),
		StackLow: word(0), StackHigh: word(8), Runs: b[l.Runs], Labels: known(l.Labels),
		Sched:   Context{PC: word(l.Sched + 8), SP: word(l.Sched), FP: word(l.Sched + l.BP), LR: word(l.Sched + l.LR)},
		Syscall: Context{PC: word(l.SyscallPC), SP: word(l.SyscallSP), FP: known(l.SyscallBP)},
	}
	if status &^= scanning; uint64(status) >= uint64(len(l.States)) || l.States[status] == "" {
		return g, fmt.Errorf("%w: %#x, in state %d", errNoGoroutine, address, status)
	}
	g.Name = l.States[status]
	if g.State == Waiting || g.State == Leaked {
		if reason := int(b[l.WaitReason]); reason < len(l.Reasons) && l.Reasons[reason] != "" {
			g.Reason, g.Name = l.Reasons[reason], l.Reasons[reason]
		}
	}
	if g.State != Dead && g.State != Idle && (g.StackLow >= g.StackHigh || g.StackHigh-g.StackLow > maxStack) {
		return g, fmt.Errorf("%w: %#x, with a stack from %#x to %#x", errNoGoroutine, address, g.StackLow, g.StackHigh)
	}
	return g, nil
}

// Read reads the goroutine at an address from List.
func (r *Runtime) Read(mem cfi.Memory, address uint64) (Goroutine, error) {
	b := make([]byte, r.Layout.size())
	if err := mem.ReadMemory(b, address); err != nil {
		return Goroutine{Address: address}, fmt.Errorf("goroutine at %#x: %w", address, err)
	}
	return r.Layout.decode(b, address)
}

// List returns the addresses of all goroutines, including ended ones, in the order of
// their creation; addresses are reused. If the list cannot be read to its end, List
// returns its start and an error. There are at most 2^20.
func (r *Runtime) List(mem cfi.Memory) (list []uint64, err error) {
	start, n, err := r.extent(mem)
	if err != nil {
		return nil, err
	}
	claimed := n
	if n > maxGoroutines {
		n = maxGoroutines
		err = fmt.Errorf("the list of goroutines at %#x claims %d of them: only the first %d are read", start, claimed, n)
	}
	list = make([]uint64, 0, n)
	chunk := make([]byte, min(n, listChunk)*pointerSize)
	for n > 0 {
		b := chunk[:min(uint64(len(chunk)), n*pointerSize)]
		if failed := mem.ReadMemory(b, start); failed != nil {
			err = fmt.Errorf("the list of %d goroutines, after %d: %w", claimed, len(list), failed)
			break
		}
		start, n = start+uint64(len(b)), n-uint64(len(b)/pointerSize)
		for ; len(b) > 0; b = b[pointerSize:] {
			if at := binary.LittleEndian.Uint64(b); at != 0 {
				list = append(list, at)
			}
		}
	}
	return distinct(list), err
}

// distinct returns a list without duplicates. The runtime's list has no duplicates, which
// sorting proves faster than a map.
func distinct(list []uint64) []uint64 {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) == len(list) {
		return list
	}
	seen := make(map[uint64]bool)
	return slices.DeleteFunc(list, func(at uint64) bool {
		duplicate := seen[at]
		seen[at] = true
		return duplicate
	})
}

// extent returns the address and length of the list.
func (r *Runtime) extent(mem cfi.Memory) (start, n uint64, err error) {
	var word [pointerSize]byte
	for at, to := range map[uint64]*uint64{r.list: &start, r.length: &n} {
		if err := mem.ReadMemory(word[:], at); err != nil {
			return 0, 0, fmt.Errorf("the list of goroutines: %w", err)
		}
		*to = binary.LittleEndian.Uint64(word[:])
	}
	return start, n, nil
}

// Thread is the contents of the runtime's structure of a thread, an m.
type Thread struct {
	Address uint64
	ID      uint64 // in the thread's own PID namespace, as gettid returns it
	System  uint64 // its g0, on whose stack the scheduler and C code run
	Signal  uint64 // its gsignal, 0 if it does not exist
	Current uint64 // the goroutine that it runs, 0 for none
	next    uint64
}

// Thread reads the m at an address.
func (r *Runtime) Thread(mem cfi.Memory, address uint64) (Thread, error) {
	b := make([]byte, r.Layout.threadSize())
	if err := mem.ReadMemory(b, address); err != nil {
		return Thread{}, fmt.Errorf("thread of the runtime at %#x: %w", address, err)
	}
	return r.Layout.decodeThread(b, address), nil
}

func (l *Layout) decodeThread(b []byte, address uint64) Thread {
	word := func(at uint16) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	return Thread{Address: address, ID: word(l.Thread), System: word(0), Signal: word(l.Signal), Current: word(l.Current), next: word(l.Next)}
}

// Threads returns the runtime's threads. If the program has no symbols, these are the
// threads that run one of some goroutines, and all older ones.
func (r *Runtime) Threads(mem cfi.Memory, goroutines []uint64) (list []Thread) {
	var word [pointerSize]byte
	var known []uint64
	if r.threads != 0 && mem.ReadMemory(word[:], r.threads) == nil {
		known = append(known, binary.LittleEndian.Uint64(word[:]))
	} else {
		for m := range words(mem, goroutines, uint64(r.Layout.M)) {
			if m != 0 {
				known = append(known, m)
			}
		}
	}
	seen := make(map[uint64]bool)
	for _, at := range known {
		for at != 0 && !seen[at] && len(seen) < maxThreads {
			seen[at] = true
			t, err := r.Thread(mem, at)
			if err != nil {
				break
			}
			list = append(list, t)
			at = t.next
		}
	}
	return list
}
