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

// Snapshot is a set of threads at one moment: of a live process that was
// stopped for it and runs again, of a core, or of a sample. Who made it sets
// its fields and changes none of them after; it may then be read from several
// goroutines. process.Watch is the exception: see there.
type Snapshot struct {
	PID      int
	Machine  *arch.Machine
	Threads  []Thread  // by ascending ID
	Mappings []Mapping // by ascending Start, not overlapping

	// Signal is what a core's target was ended by, nil where it was none.
	Signal *Signal
	// Command is the target's command line, as far as it is known without
	// asking a live process.
	Command string

	// Pause is how long the target stood still: from the first thread's stop
	// to the last thread's release. Zero where nothing was stopped.
	Pause time.Duration

	// Copies are parts of memory that were copied while the threads stood still,
	// besides their stacks: what tells of goroutines. By ascending address.
	Copies []Copy

	// Clock is what the target's monotonic clock (clock_gettime(2)) said when it stood
	// still; 0 where that is not known.
	Clock time.Duration

	// Memory reads what was not copied; of a live process, as it is now.
	Memory cfi.Memory

	// Search is where the files of the target's modules are, and their separate
	// debug files. Its Root is "" where the target sees the file system as this
	// process does. Objects use it from several goroutines, from Walk until Close: it
	// must not be changed meanwhile.
	Search debugfile.Search

	// Open opens the very file that is mapped, for reading, and says why where
	// it is not to be had. It may be nil.
	Open func(*Mapping) (*os.File, error)

	// Process leads to the files that the target itself has written: jitdumps that
	// are not to be had by Open, and perf maps. Nil where none are to be had. A
	// core's is of the machine where the core is read, and what lies there may be
	// another process's: who reads it checks that it fits.
	Process *Process

	// Live says that the target has run on since: what Memory reads of
	// writable memory is newer than the registers and the copied stacks.
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

	// Copies are parts of memory that were copied while this thread stood still, besides
	// its stack, where each stood still by itself: those of two threads can be of the
	// same place at two moments. By ascending address.
	Copies []Copy

	// Vectors are the floating-point and vector registers as the kernel gives them
	// (register set NT_PRFPREG), nil where they were not asked for: see VectorRegister.
	Vectors []byte

	// Err says why there are no registers, or why the stack was not copied.
	Err error

	// Late says that the registers are newer than the copies.
	Late bool

	// Override is a word that the thread sees in place of what memory holds: of a
	// goroutine that no thread runs, the thread that it is locked to.
	Override Word
}

// Word is a word of memory: 8 bytes, little-endian. Address 0 stands for no word.
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
	Path       string // as the target sees it, without " (deleted)"; "[vdso]" and kin for the kernel's own; "" for anonymous memory
	Deleted    bool   // the file had no name any more
}

// Mapping returns the mapping that holds addr, or nil. It points into
// s.Mappings.
func (s *Snapshot) Mapping(addr uint64) *Mapping {
	return FindMapping(s.Mappings, addr)
}

// FindMapping returns the mapping that holds addr, or nil, of mappings in the
// order of Snapshot.Mappings. It points into mappings.
func FindMapping(mappings []Mapping, addr uint64) *Mapping {
	i := sort.Search(len(mappings), func(i int) bool { return mappings[i].End > addr })
	if i == len(mappings) || mappings[i].Start > addr {
		return nil
	}
	return &mappings[i]
}
