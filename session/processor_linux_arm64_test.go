// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import "golang.org/x/sys/unix"

// illegalOpcode is ILL_ILLOPC, trapBreakpoint TRAP_BRKPT (asm-generic/siginfo.h).
const illegalOpcode, trapBreakpoint = 1, 1

// trapLength is the distance from a trap instruction to its stop: the stop is at it.
func trapLength(uint64) uint64 { return 0 }

func processorFaults(m faultMemories) []processorFault {
	const segv, bus, ill, trap = int(unix.SIGSEGV), int(unix.SIGBUS), int(unix.SIGILL), int(unix.SIGTRAP)
	good := map[string]uint64{"x0": m.good}
	return []processorFault{
		{"read", []uint64{0x10}, Signal{segv, mapError, 0x10}, 0, good},
		{"read", []uint64{m.none + 8}, Signal{segv, accessError, m.none + 8}, 0, good},
		{"read", []uint64{m.none - 4}, Signal{segv, accessError, m.none}, 0, good},
		{"read", []uint64{1 << 52}, Signal{segv, mapError, 1 << 52}, 0, good},
		{"read", []uint64{m.gone + 16}, Signal{bus, busAddress, m.gone + 16}, 0, good},
		{"write", []uint64{m.readOnly, 3}, Signal{segv, accessError, m.readOnly}, 0, good},
		{"write", []uint64{0, 3}, Signal{segv, mapError, 0}, 0, good},
		{"write", []uint64{m.code, 3}, Signal{segv, accessError, m.code}, 0, good},
		{"illegal", nil, Signal{ill, illegalOpcode, here}, 4, nil},
		{"privileged", nil, Signal{ill, illegalOpcode, here}, 4, nil},
		{"acquire", []uint64{m.good + 12}, Signal{bus, busAlignment, m.good + 12}, 0, good},
		{"breakpoint", nil, Signal{trap, trapBreakpoint, here}, 4, nil},
		{"other", nil, Signal{trap, trapBreakpoint, here}, 4, nil},
	}
}
