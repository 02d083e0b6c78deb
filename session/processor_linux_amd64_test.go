// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"testing"

	"golang.org/x/sys/unix"
)

// trapLength is the distance from a trap instruction to its stop.
func trapLength(length uint64) uint64 { return length }

func processorFaults(m faultMemories) []processorFault {
	const segv, bus, fpe, ill, trap = int(unix.SIGSEGV), int(unix.SIGBUS), int(unix.SIGFPE), int(unix.SIGILL), int(unix.SIGTRAP)
	return []processorFault{
		{"read", []uint64{0x10}, Signal{segv, mapError, 0x10}, 0, map[string]uint64{"rdi": m.good}},
		{"read", []uint64{m.none + 8}, Signal{segv, accessError, m.none + 8}, 0, map[string]uint64{"rdi": m.good}},
		{"read", []uint64{m.none - 4}, Signal{segv, accessError, m.none}, 0, map[string]uint64{"rdi": m.good}},
		{"read", []uint64{1 << 47}, Signal{segv, fromKernel, 0}, 0, map[string]uint64{"rdi": m.good}},
		{"read", []uint64{1 << 63}, Signal{segv, fromKernel, 0}, 0, map[string]uint64{"rdi": m.good}},
		{"read", []uint64{m.gone + 16}, Signal{bus, busAddress, m.gone + 16}, 0, map[string]uint64{"rdi": m.good}},
		{"write", []uint64{m.readOnly, 3}, Signal{segv, accessError, m.readOnly}, 0, map[string]uint64{"rdi": m.good}},
		{"write", []uint64{0, 3}, Signal{segv, mapError, 0}, 0, map[string]uint64{"rdi": m.good}},
		{"write", []uint64{m.code, 3}, Signal{segv, accessError, m.code}, 0, map[string]uint64{"rdi": m.good}},
		{"divide", []uint64{7, 0}, Signal{fpe, intDivide, here}, 0, map[string]uint64{"rsi": 7}},
		{"overflow", []uint64{1 << 31, 1<<64 - 1, 1<<64 - 1}, Signal{fpe, intDivide, here}, 2, nil},
		{"illegal", nil, Signal{ill, illegalOperand, here}, 2, nil},
		{"halt", nil, Signal{segv, fromKernel, 0}, 1, nil},
		{"privileged", nil, Signal{segv, fromKernel, 0}, 3, nil},
		{"into", nil, Signal{segv, fromKernel, 0}, 2, nil},
		{"vector", []uint64{m.good + 8}, Signal{segv, fromKernel, 0}, 0, map[string]uint64{"rdi": m.good}},
		{"unaligned", []uint64{m.good + 1}, Signal{bus, busAlignment, 0}, 0, map[string]uint64{"rdi": m.good}},
		{"sse", []uint64{0, 4 << 7}, Signal{fpe, floatDivide, here}, 4, nil},
		{"breakpoint", nil, Signal{trap, fromKernel, 0}, 1, nil},
		{"software", nil, Signal{trap, fromKernel, 0}, 2, nil},
	}
}

// int1 is a trap with PC after it. On some virtual machines PC is at it.
func TestInt1(t *testing.T) {
	i := load(t, "faults-amd64.s")
	s := newSession(t, i)
	at := symbol(t, s, "icebp.at")
	for _, step := range []bool{false, true} {
		stop, err := s.CallWith(symbol(t, s, "icebp"), Arguments{StopAtEntry: true})
		check(t, stop, err, AtEntry)
		stop, err = s.StepInstruction()
		check(t, stop, err, SteppedInstruction)
		if step {
			stop, err = s.StepInstruction()
		} else {
			stop, err = s.Continue()
		}
		check(t, stop, err, Trapped)
		if stop.Signal.Number != int(unix.SIGTRAP) || stop.PC != at && stop.PC != at+1 {
			t.Errorf("%+v, int1 at %#x", stop, at)
		}
		setRegister(t, s, "pc", at+1)
		stop, err = s.Continue()
		check(t, stop, err, Returned)
	}
}

// A session keeps a trap flag that the code itself sets.
func TestOwnTrapFlag(t *testing.T) {
	i := load(t, "faults-amd64.s")
	s := newSession(t, i)
	stop := call(t, s, "ownflag")
	for n := 0; stop.Reason == Trapped; n++ {
		if stop.Signal.Code != trapStep || n == 0 && stop.PC != symbol(t, s, "ownflag.at") || n > 10 {
			t.Fatalf("%d: %+v", n, stop)
		}
		var err error
		if stop, err = s.Continue(); err != nil {
			t.Fatal(err)
		}
	}
	check(t, stop, nil, Returned)
	if stop.Result != 5 {
		t.Error(stop)
	}
}
