// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import "time"

// Header describes a recording and the machine that it was made on. A field is zero if
// the recording lacks it.
type Header struct {
	Hostname       string
	OSRelease      string // of the kernel: uname -r
	Version        string // of perf
	Arch           string // uname -m; see Reader.Machine
	CPUsOnline     int
	CPUsAvailable  int
	CPUDescription string
	CPUID          string
	TotalMemory    uint64   // bytes
	CommandLine    []string // of perf record
	FirstSample    uint64   // nanoseconds of Header.Clock
	LastSample     uint64   // nanoseconds of Header.Clock
	PMUs           []PMU
	Groups         []Group
	Clock          Clock

	// Features has the bits of all sections of the header, also of those that are not
	// decoded here: HEADER_* of tools/perf/util/header.h.
	Features [4]uint64

	// Damage names a list of the header that is longer than the part that was read. It is
	// nil if all lists are complete.
	Damage error
}

// PMU is a performance monitoring unit of the recorded machine.
type PMU struct {
	Kind uint32 // Attribute.Kind
	Name string
}

// Group is a group of events that are counted together.
type Group struct {
	Name    string
	Leader  int // index into Reader.Attributes
	Members int // number of events from Leader on
}

// Clock is the clock of the times of records.
type Clock struct {
	// ID is the clock's number for clock_gettime(2). It is 1 for CLOCK_MONOTONIC, which
	// jitdumps need, and -1 for perf's own, which perf record uses without -k.
	ID         int32
	Resolution time.Duration

	// Wall and Time are the same moment, by the wall clock and by ID. Wall is zero if it is
	// not known.
	Wall time.Time
	Time uint64 // nanoseconds
}

// BuildID is the build ID of a file that was mapped or contains addresses of samples.
type BuildID struct {
	PID  int32  // -1: of the host
	Mode Mode   // ModeKernel: of the kernel or of a module
	Path string // "[kernel.kallsyms]" or "[vdso]" if it is not a file
	ID   []byte
}
