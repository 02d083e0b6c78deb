// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A waitingCall is a system call that waits until end is called, or until its time is over.
type waitingCall struct {
	name   string
	words  []uint64
	end    func()
	result int64
}

// A waiting system call can be interrupted several times and continues each time, with
// breakpoints at it and after it, and in a single step.
func TestInterruptedSystemCalls(t *testing.T) {
	i := load(t, "system.c")
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	memory, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	const span = 100_000_000 // ns
	binary.LittleEndian.PutUint64(memory[8:], span)
	const poll = 1 // POLLIN
	binary.LittleEndian.PutUint32(memory[512:], uint32(pipe[0]))
	memory[516] = poll
	for _, tt := range []waitingCall{
		{"read", []uint64{unix.SYS_READ, uint64(pipe[0]), address + 1024, 8}, func() { unix.Write(pipe[1], []byte("hello")) }, 5},
		{"nanosleep", []uint64{unix.SYS_NANOSLEEP, address, 0}, func() {}, 0},
		{"clock_nanosleep", []uint64{unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, address, 0}, func() {}, 0},
		{"futex", []uint64{unix.SYS_FUTEX, address + 2048, 0, 0, 0}, func() {
			unix.Syscall6(unix.SYS_FUTEX, uintptr(address+2048), 1, 1, 0, 0, 0)
		}, 0},
		{"ppoll", []uint64{unix.SYS_PPOLL, address + 512, 1, 0, 0, 0}, func() { unix.Write(pipe[1], []byte("x")) }, 1},
	} {
		for n := range 12 {
			how, nested := n%6, n >= 6
			t.Run(fmt.Sprintf("%s/%d nested %v", tt.name, how, nested), func(t *testing.T) {
				interruptedCall(t, newSession(t, i), tt, how, nested)
				if tt.name == "ppoll" {
					unix.Read(pipe[0], make([]byte, 8))
				}
			})
		}
	}
}

// interruptedCall makes a system call and interrupts it: in ways 1 to 3 and 5 with breakpoints, and
// in ways 4 and 5 in a single step. With nested it makes a nested call at each interrupt.
func interruptedCall(t *testing.T, s *Session, tt waitingCall, how int, nested bool) {
	t.Helper()
	at := map[int][]string{1: {"call"}, 2: {"after"}, 3: {"call", "after"}, 5: {"call"}}[how]
	hits := map[string]*Breakpoint{}
	for _, name := range at {
		b, err := s.Break(symbol(t, s, name), &BreakpointOptions{Log: func(*Frame) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		hits[name] = b
	}
	step := how >= 4
	stop, err := s.CallWith(symbol(t, s, "raw"), Arguments{Words: tt.words, StopAtEntry: true})
	for err == nil && step && stop.PC != symbol(t, s, "call") {
		stop, err = s.StepInstruction()
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan *Stop, 1)
	resume := func() {
		stop, err := s.Continue, error(nil)
		if step {
			stop = s.StepInstruction
		}
		result, err := stop()
		if err != nil {
			t.Error(err)
		}
		done <- result
	}
	interrupts := 4
	if strings.Contains(tt.name, "sleep") {
		interrupts = 1 // it may be over any time
	}
	for range interrupts {
		go resume()
		eventually(t, "it waits", func() bool { return processState(s.PID()) == 'S' || s.State() != Running && len(done) > 0 })
		s.Interrupt()
		stop := <-done
		if stop.Reason != Interrupted {
			if strings.Contains(tt.name, "sleep") {
				return // too slow a machine
			}
			t.Fatal(stop)
		}
		if v, _ := s.Register("eflags"); len(v) > 1 && v[1]&1 != 0 {
			t.Errorf("eflags %x", v)
		}
		if nested {
			before := allRegisters(t, s)
			inner, err := s.CallNested(symbol(t, s, "recurse"), Arguments{Words: []uint64{3}})
			if check(t, inner, err, Returned); inner.Outer != stop {
				t.Errorf("%+v", inner)
			}
			same(t, s, before)
		}
	}
	go resume()
	if tt.name == "futex" {
		eventually(t, "it waits", func() bool { return processState(s.PID()) == 'S' })
	}
	tt.end()
	stop = <-done
	if step {
		if stop.Reason != SteppedInstruction || stop.PC != symbol(t, s, "after") {
			t.Fatalf("%v, want %#x", stop, symbol(t, s, "after"))
		}
		stop, err = s.Continue()
	}
	if check(t, stop, err, Returned); int64(stop.Result) != tt.result {
		t.Errorf("%v, want %d", stop, tt.result)
	}
	for name, b := range hits {
		// If the kernel has moved the program counter back, the code executes the
		// call again.
		if n := b.Hits(); n < 1 || name == "after" && n != 1 {
			t.Errorf("%d hits of %s", n, name)
		}
	}
}
