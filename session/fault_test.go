// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A fault is a stop with the signal, its code and its address, at the instruction that caused
// it. The session can then be used as before.
func TestFaults(t *testing.T) {
	add := newFunction(t, "add")
	_, readOnly := page(t, unix.PROT_READ)
	path := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(path, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := unix.Mmap(int(f.Fd()), 0, 8192, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped)
	beyond := uint64(uintptr(unsafe.Pointer(&mapped[4096])))
	const here = ^uint64(0)
	illegal := map[string]int{"amd64": 2, "arm64": 1}[runtime.GOARCH] // ILL_ILLOPN, ILL_ILLOPC
	for _, test := range []struct {
		function string
		words    []uint64
		at       int // the instruction
		signal   Signal
		reason   Reason
	}{
		{"load", []uint64{0x10}, 0, Signal{int(unix.SIGSEGV), 1, 0x10}, Signalled},
		{"store", []uint64{readOnly, 1}, 0, Signal{int(unix.SIGSEGV), 2, readOnly}, Signalled},
		{"load", []uint64{beyond}, 0, Signal{int(unix.SIGBUS), 2, beyond}, Signalled},
		{"illegal", nil, 0, Signal{int(unix.SIGILL), illegal, here}, Signalled},
		{"divide", []uint64{1, 0}, 2, Signal{int(unix.SIGFPE), 1, here}, Signalled},
		{"trap", nil, 1, Signal{int(unix.SIGTRAP), 0, 0}, Trapped},
	} {
		t.Run(test.function, func(t *testing.T) {
			if test.function == "divide" && runtime.GOARCH == "arm64" {
				return // divides by zero without a fault
			}
			if test.function == "trap" && runtime.GOARCH == "arm64" {
				test.at = 0
			}
			i := newFunction(t, test.function)
			s := newSession(t, i, add)
			for range 2 {
				stop, err := s.Call(start(i), test.words...)
				check(t, stop, err, test.reason)
				pc := start(i) + functionOf(test.function).at[test.at]
				want := test.signal
				if want.Address == here {
					want.Address = pc
				}
				if test.reason == Trapped {
					want.Code, want.Address = stop.Signal.Code, stop.Signal.Address
				}
				if stop.PC != pc || stop.Signal != want {
					t.Errorf("%+v, want %+v at %#x", stop, want, pc)
				}
				if _, err := s.Abort(); err != nil {
					t.Fatal(err)
				}
				stop, err = s.Call(start(add), 1, 2)
				if check(t, stop, err, Returned).Result != 3 {
					t.Error(stop)
				}
			}
		})
	}
}

// A breakpoint at an instruction that faults is hit once, and not again after the cause is
// repaired.
func TestFaultUnderBreakpoint(t *testing.T) {
	i := newFunction(t, "load")
	_, address := page(t, unix.PROT_READ)
	s := newSession(t, i)
	b, err := s.Break(start(i), nil)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(start(i), 0x10)
	check(t, stop, err, AtBreakpoint)
	for range 2 {
		stop, err = s.Continue()
		if check(t, stop, err, Signalled).PC != start(i) {
			t.Fatal(stop)
		}
	}
	r, err := s.Registers()
	if err != nil {
		t.Fatal(err)
	}
	r.Set(argument, address)
	if err := s.SetRegisters(r); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)
	if b.Hits() != 1 {
		t.Errorf("%d hits", b.Hits())
	}
}

// A stack overflow is a fault in the guard below the stack.
func TestStackOverflow(t *testing.T) {
	i, add := newFunction(t, "recurse"), newFunction(t, "add")
	s := newSession(t, i, add)
	stop, err := s.Call(start(i))
	check(t, stop, err, Signalled)
	r, err := s.Registers()
	if err != nil {
		t.Fatal(err)
	}
	if stop.Signal.Number != int(unix.SIGSEGV) || r.SP()-stop.Signal.Address > 64 {
		t.Errorf("%+v with the stack pointer %#x", stop, r.SP())
	}
	if _, err := s.Abort(); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Call(start(add), 1, 2)
	if check(t, stop, err, Returned).Result != 3 {
		t.Error(stop)
	}
}

// interrupted calls a function and interrupts it once it has slept for a while.
func interrupted(t *testing.T, s *Session, function uint64, words ...uint64) *Stop {
	t.Helper()
	go func() {
		eventually(t, "it sleeps", func() bool { return s.State() == Running && processState(s.PID()) == 'S' })
		s.Interrupt()
	}()
	stop, err := s.Call(function, words...)
	return check(t, stop, err, Interrupted)
}

// A blocking system call can be interrupted and continued, or abandoned for another call, which
// it does not affect.
func TestBlockedSystemCall(t *testing.T) {
	i, add := newFunction(t, "syscall"), newFunction(t, "add")
	call := start(i) + functionOf("syscall").at[4]
	next := start(i) + functionOf("syscall").at[5]
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	memory, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	read := []uint64{unix.SYS_READ, uint64(fds[0]), address, 1}
	for _, test := range []string{"plain", "with a breakpoint"} {
		t.Run(test, func(t *testing.T) {
			s := newSession(t, i, add)
			hits := func() int { return 0 }
			if test != "plain" {
				b, err := s.Break(call, &BreakpointOptions{Condition: func(*Frame) (bool, error) { return true, nil }, Log: func(*Frame) error { return nil }})
				if err != nil {
					t.Fatal(err)
				}
				hits = b.Hits
			}
			stop := interrupted(t, s, start(i), read...)
			if stop.PC != call && stop.PC != next {
				t.Fatal(stop)
			}
			before := hits()
			go func() {
				eventually(t, "it sleeps", func() bool { return s.State() == Running && processState(s.PID()) == 'S' })
				s.Interrupt()
			}()
			stop, err := s.Continue()
			check(t, stop, err, Interrupted)
			time.AfterFunc(20*time.Millisecond, func() { unix.Write(fds[1], []byte{7}) })
			stop, err = s.Continue()
			if check(t, stop, err, Returned).Result != 1 || memory[0] != 7 {
				t.Errorf("%v, read %d", stop, memory[0])
			}
			if hits() != before {
				t.Errorf("%d more hits after the resume", hits()-before)
			}
			memory[0] = 0

			interrupted(t, s, start(i), read...)
			if _, err := s.Abort(); err != nil {
				t.Fatal(err)
			}
			stop, err = s.Call(start(add), 1<<40, 2)
			if check(t, stop, err, Returned).Result != 1<<40+2 {
				t.Error(stop)
			}
			// The same system call with other arguments starts again.
			unix.Write(fds[1], []byte{8})
			stop, err = s.Call(start(i), read...)
			if check(t, stop, err, Returned).Result != 1 || memory[0] != 8 {
				t.Errorf("%v, read %d", stop, memory[0])
			}
		})
	}
}

// An interrupted sleep continues for the rest of its time. It is long enough to be interrupted on a busy machine.
func TestInterruptedSleep(t *testing.T) {
	i := newFunction(t, "syscall")
	_, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	*(*unix.Timespec)(unsafe.Pointer(*(**byte)(unsafe.Pointer(&address)))) = unix.NsecToTimespec(int64(time.Second))
	s := newSession(t, i)
	began := time.Now()
	interrupted(t, s, start(i), unix.SYS_NANOSLEEP, address, 0)
	stop, err := s.Continue()
	if check(t, stop, err, Returned).Result != 0 {
		t.Error(stop)
	}
	if slept := time.Since(began); slept < time.Second {
		t.Errorf("slept for %v", slept)
	}
}

// Steps execute a system call, also if it has a breakpoint.
func TestStepSystemCall(t *testing.T) {
	i := newFunction(t, "syscall")
	at := functionOf("syscall").at
	s := newSession(t, i)
	for range 2 {
		stop, err := s.CallWith(start(i), Arguments{Words: []uint64{unix.SYS_GETPID}, StopAtEntry: true})
		check(t, stop, err, AtEntry)
		for _, want := range at[1:] {
			if stop, err = s.StepInstruction(); err != nil || stop.PC != start(i)+want {
				t.Fatalf("%v, %v, want offset %d", stop, err, want)
			}
		}
		stop, err = s.StepInstruction()
		if check(t, stop, err, Returned).Result != uint64(s.PID()) {
			t.Errorf("%v, the worker is %d", stop, s.PID())
		}
		if _, err := s.Break(start(i)+at[4], nil); err != nil {
			t.Fatal(err)
		}
	}
}
