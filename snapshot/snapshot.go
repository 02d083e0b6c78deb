// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"os"
	"sort"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/unwind"
)

// Snapshot is the state of some threads at one time: of a live process that was stopped and
// runs again, of a core, or of a sample. Its creator does not change it afterwards, so
// several goroutines may read it. [process.Watch] is an exception: it changes its snapshot.
type Snapshot struct {
	PID      int
	Machine  *arch.Machine
	Threads  []Thread  // by ascending ID
	Mappings []Mapping // by ascending Start, not overlapping

	// Signal is the signal that ended a core's target, nil if there was none.
	Signal *Signal
	// Command is the target's command line, "" if unknown. It may be truncated.
	Command string

	// Pause is how long the target stood still: from the first thread's stop to the
	// last thread's release. It is zero if nothing was stopped.
	Pause time.Duration

	// Copies are copies of memory other than stacks, made while the threads stood still: the
	// Go runtime's data about goroutines. They are in ascending order of addresses.
	Copies []Copy

	// Clock is the time of the target's monotonic clock (clock_gettime(2)) while it stood
	// still, 0 if unknown.
	Clock time.Duration

	// Memory reads memory that was not copied. For a live process, that is the current
	// content.
	Memory cfi.Memory

	// Search is where to search for the files of the target's modules and their debug files.
	// Its Root is "" if the target and this process have the same file system. It must not be
	// changed while stack.Objects of the snapshot are in use.
	Search debugfile.Search

	// Open opens the mapped file for reading, and no other file at its path. The error says
	// why it is not available. Open may be nil.
	Open func(*Mapping) (*os.File, error)

	// Process gives access to files that the target itself has written: perf maps, and
	// jitdumps that Open cannot open. It is nil if none are available. For a core, the files
	// come from the machine on which the core is read, and may belong to another process:
	// their reader must check that they match.
	Process *Process

	// Live says that the target has continued to run: the content of writable memory
	// that Memory reads is newer than the registers and the copied stacks.
	Live bool
}

// Thread is one thread of a Snapshot.
type Thread struct {
	ID        int // the kernel's thread ID
	Name      string
	Registers unwind.Registers

	// Stack is the copy of the thread's stack, from StackAddress upward, as it
	// was when the thread stood still. It may begin below the stack pointer
	// (amd64's red zone) and end before the stack does.
	Stack        []byte
	StackAddress uint64

	// Copies are copies of memory other than its stack, made while this thread stood still,
	// if threads were stopped one by one. Copies of two threads can contain the same place at
	// different times. They are in ascending order of addresses.
	Copies []Copy

	// Vectors are the floating-point and vector registers in the kernel's layout
	// (register set NT_PRFPREG), nil if they were not requested: see VectorRegister.
	Vectors []byte

	// Err says why there are no registers, or why the stack was not copied.
	Err error

	// Late says that the registers are newer than the copies.
	Late bool

	// Override replaces the content of memory for this thread. For a parked goroutine, it
	// contains the thread to which the goroutine is locked.
	Override Word
}

// Word is a word of memory: 8 bytes, little-endian. Address 0 means that there is no
// word.
type Word struct{ Address, Value uint64 }

// Mapping is one mapped range of a target's address space.
type Mapping struct {
	Start, End uint64 // [Start, End)
	Offset     uint64 // of Start in the file, bytes
	Readable   bool
	Writable   bool
	Executable bool
	Device     uint64 // as stat(2) gives it; 0 for anonymous memory
	Inode      uint64
	Path       string // as the target sees it, without " (deleted)"; "[vdso]" and similar names for the kernel's mappings; "" for anonymous memory
	Deleted    bool   // the file no longer had a name
}

// Mapping returns the mapping that contains addr, or nil. It points into s.Mappings.
func (s *Snapshot) Mapping(addr uint64) *Mapping { return FindMapping(s.Mappings, addr) }

// FindMapping returns the mapping that contains addr, or nil. The mappings must be in
// the order of Snapshot.Mappings. The result points into mappings.
func FindMapping(mappings []Mapping, addr uint64) *Mapping {
	i := sort.Search(len(mappings), func(i int) bool { return mappings[i].End > addr })
	if i == len(mappings) || mappings[i].Start > addr {
		return nil
	}
	return &mappings[i]
}
