// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android && (amd64 || arm64)

package cgotraceback

// #cgo CFLAGS: -O2 -fno-stack-protector -fno-builtin-memcpy -fno-builtin-memset
// #include "tables.h"
// #include "objects.h"
import "C"

import (
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cgosymbolizer is another package that calls runtime.SetCgoTraceback.
const cgosymbolizer = "github.com/ianlancetaylor/cgosymbolizer"

// active means that the runtime calls the functions of this package.
var active bool

func init() {
	// The other package panics too if it comes second, but its message names no package.
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == cgosymbolizer {
				panic("cgotraceback: the program also imports " + cgosymbolizer + ", and only one package can set the C traceback of a program: remove one of the two imports")
			}
		}
	}
	if !canCheckMemory() {
		return
	}
	set()
	active = true
	go keepPrepared()
}

// canCheckMemory reports whether handlers can check memory, and chooses how: an emulator may not look at it
// in rt_sigprocmask.
func canCheckMemory() bool {
	closed, err := unix.Mmap(-1, 0, 1<<16, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(closed) }()
	readable := func(p unsafe.Pointer) bool { return C.clew_readable(C.uint64_t(uintptr(p))) != 0 }
	for C.clew_by_copy = 0; C.clew_by_copy < 2; C.clew_by_copy++ {
		if readable(unsafe.Pointer(new(uint64))) && !readable(unsafe.Pointer(unsafe.SliceData(closed))) && !readable(nil) {
			return true
		}
	}
	return false
}

// set calls runtime.SetCgoTraceback, which panics if it was called with other functions.
func set() {
	defer func() {
		if recover() != nil {
			panic("cgotraceback: another package has already called runtime.SetCgoTraceback, and only one can: remove one of the two imports")
		}
	}()
	runtime.SetCgoTraceback(0, unsafe.Pointer(C.clew_traceback), unsafe.Pointer(C.clew_context), unsafe.Pointer(C.clew_symbolizer))
}

// interval is the time between two looks at the list of libraries.
const interval = 200 * time.Millisecond

func keepPrepared() {
	for {
		_ = tables.update()
		time.Sleep(interval)
	}
}

// Active reports whether the package does anything in this program.
func Active() bool { return active }

// Configure sets the limits. They apply to tables that are made later: call it at the start of
// main, when no lines have been read yet. It may be called from several goroutines.
func Configure(o Options) {
	most := uint32(math.MaxUint32)
	if o.MaxFrames > 0 {
		most = uint32(min(o.MaxFrames, math.MaxInt32))
	}
	atomic.StoreUint32((*uint32)(&C.clew_most_frames), most)
	tables.options.Store(&o)
}

// Prepare brings the tables up to date, and returns when that is done. A program can call it
// before it starts a profile, or after it has loaded a library. The error joins those of the
// files that could not be read. They do not affect other files.
func Prepare() error {
	if !active {
		return nil
	}
	tables.waiting.Add(1)
	defer tables.waiting.Add(-1)
	return tables.update()
}

// ReadCounters returns the counters. They are read one after the other, while others change.
func ReadCounters() Counters {
	read := func(n *C.uint64_t) uint64 { return atomic.LoadUint64((*uint64)(n)) }
	var e [C.CLEW_REASONS]uint64
	walks := uint64(0)
	for i := range e {
		e[i] = read(&C.clew_counts.ended[i])
		walks += e[i]
	}
	return Counters{
		Walks: walks, Frames: uint64(C.clew_frames()), ByFramePointer: read(&C.clew_counts.by_pointer),
		Complete: e[C.CLEW_COMPLETE], Full: e[C.CLEW_FULL], NoTables: e[C.CLEW_NO_TABLES],
		NoModule: e[C.CLEW_NO_MODULE], NoRule: e[C.CLEW_NO_RULE], Unreadable: e[C.CLEW_UNREADABLE],
		NoProgress: e[C.CLEW_NO_PROGRESS], Unloaded: e[C.CLEW_STALE], NoContext: e[C.CLEW_NO_CONTEXT],
		TableMemory: uint64(tables.used.Load()),
	}
}
