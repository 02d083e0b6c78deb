// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import "time"

// Header is what a recording says of itself and the machine it was made on. What
// it does not say is zero.
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

	// Features are the bits of all that the recording has, also of what is not
	// decoded here: HEADER_* of tools/perf/util/header.h.
	Features [4]uint64

	// Damage says which list of the header is longer than what is read of it; nil for none.
	Damage error
}

// PMU is a unit of counters of the recorded machine.
type PMU struct {
	Kind uint32 // Attribute.Kind
	Name string
}

// Group is a group of events that were counted together.
type Group struct {
	Name    string
	Leader  int // index into Reader.Attributes
	Members int // how many from Leader on
}

// Clock tells what the times of records are.
type Clock struct {
	// ID is the clock as clock_gettime(2) has it (1: CLOCK_MONOTONIC, what jitdumps
	// are to have), -1 where perf's own was used, which perf record does without -k.
	ID         int32
	Resolution time.Duration

	// Wall and Time are one moment, by the wall clock and by ID. Wall is zero where
	// the recording does not tell.
	Wall time.Time
	Time uint64 // nanoseconds
}

// BuildID is the build ID of a file that samples hit, or that was mapped.
type BuildID struct {
	PID  int32  // -1: of the host
	Mode Mode   // ModeKernel: of the kernel or of a module
	Path string // "[kernel.kallsyms]", "[vdso]" and kin where it is no file
	ID   []byte
}
