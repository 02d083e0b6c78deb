// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cgotraceback

// Options are the limits of the package. The zero value is the default.
type Options struct {
	// MaxFrames is the largest number of C frames in one traceback. 0 means what Go's runtime
	// asks for, which is 32.
	MaxFrames int

	// NamesOnly leaves out source lines and inlined calls, which need most of the memory.
	NamesOnly bool

	// MaxMemory is the memory that all tables may take, in bytes. 0 means 5% of what is
	// loaded, and at least 8 MiB. Unwind information comes first, then functions, then lines.
	MaxMemory int64
}

// Counters count the tracebacks of C code since the start of the program. A walk that was cut has
// ended early: frames between its last one and Go's are missing.
type Counters struct {
	Walks          uint64 // tracebacks
	Frames         uint64 // of C code, in all tracebacks
	ByFramePointer uint64 // frames whose callee has no unwind information

	Complete    uint64 // walks that ended at Go code, or at the outermost frame
	Full        uint64 // walks with more frames than MaxFrames, or than the runtime asked for
	NoTables    uint64 // cut, because no tables were made yet
	NoModule    uint64 // cut at an address outside of the program and its libraries
	NoRule      uint64 // cut at code without unwind information
	Unreadable  uint64 // cut at memory that cannot be read
	NoProgress  uint64 // cut, because the stack pointer did not move up
	Unloaded    uint64 // cut at a library that was unloaded
	NoContext   uint64 // cut, because too many calls from C to Go were active, or a handler's stack was too small
	TableMemory uint64 // bytes of all tables
}

// Cut returns the number of walks that ended early.
func (c *Counters) Cut() uint64 {
	return c.NoTables + c.NoModule + c.NoRule + c.Unreadable + c.NoProgress + c.Unloaded + c.NoContext
}
