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
	"runtime"
	"runtime/debug"
	"time"
	"unsafe"
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
	if C.clew_start() == 0 {
		return // the kernel offers no way to check memory
	}
	set()
	active = true
	go keepPrepared()
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
	C.clew_limit(C.uint32_t(max(0, min(o.MaxFrames, 1<<20))))
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
	var c C.struct_clew_counts
	C.clew_read_counts(&c)
	e := &c.ended
	walks := uint64(0)
	for _, n := range e {
		walks += uint64(n)
	}
	return Counters{
		Walks: walks, Frames: uint64(c.frames), ByFramePointer: uint64(c.by_pointer),
		Complete: uint64(e[C.CLEW_COMPLETE]), Full: uint64(e[C.CLEW_FULL]), NoTables: uint64(e[C.CLEW_NO_TABLES]),
		NoModule: uint64(e[C.CLEW_NO_MODULE]), NoRule: uint64(e[C.CLEW_NO_RULE]), Unreadable: uint64(e[C.CLEW_UNREADABLE]),
		NoProgress: uint64(e[C.CLEW_NO_PROGRESS]), Unloaded: uint64(e[C.CLEW_STALE]), NoContext: uint64(e[C.CLEW_NO_CONTEXT]),
		TableMemory: uint64(tables.used.Load()),
	}
}
