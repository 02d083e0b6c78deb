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
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapping is memory with a protection.
func mapping(t testing.TB, size, protection int) (address uint64, p []byte) {
	t.Helper()
	p, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(p) })
	if err := unix.Mprotect(p, protection); err != nil {
		t.Fatal(err)
	}
	return uint64(uintptr(unsafe.Pointer(&p[0]))), p
}

// truncated is the address of a page of a mapped file after the file's end.
func truncated(t testing.TB) uint64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := unix.Mmap(int(f.Fd()), 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(p) })
	if err := f.Truncate(4096); err != nil {
		t.Fatal(err)
	}
	return uint64(uintptr(unsafe.Pointer(&p[4096])))
}

// Codes of signals (asm-generic/siginfo.h).
const (
	mapError, accessError    = 1, 2 // SEGV_MAPERR, SEGV_ACCERR
	busAlignment, busAddress = 1, 2 // BUS_ADRALN, BUS_ADRERR
	intDivide, floatDivide   = 1, 3 // FPE_INTDIV, FPE_FLTDIV
	illegalOperand           = 2    // ILL_ILLOPN
	trapStep                 = 2    // TRAP_TRACE
	fromKernel               = 0x80 // SI_KERNEL
)

// A processorFault is a function that faults at its label "at", and the way to continue.
type processorFault struct {
	name   string
	words  []uint64
	signal Signal
	length uint64            // bytes of the instruction, which are passed on repair
	repair map[string]uint64 // registers; nil for the length
}

// here stands for the address of the instruction.
const here = 1

// faultMemories are addresses of memory: accessible, read-only, inaccessible, after the end of a
// mapped file, and code.
type faultMemories struct{ good, readOnly, none, gone, code uint64 }

// faultCall calls the function of a fault in a session.
type faultCall struct {
	processorFault
	session *Session
	at      uint64 // the instruction that faults
	pc      uint64 // the program counter of the stop
	reason  Reason
}

func newFaultCall(t *testing.T, i *Image, fault processorFault) *faultCall {
	t.Helper()
	f := &faultCall{processorFault: fault, session: newSession(t, i)}
	f.at = symbol(t, f.session, f.name+".at")
	f.pc, f.reason = f.at, Signalled
	if f.signal.Number == int(unix.SIGTRAP) {
		f.pc, f.reason = f.at+trapLength(f.length), Trapped
	}
	if f.signal.Address == here {
		f.signal.Address = f.pc
	}
	return f
}

// call calls the function.
func (f *faultCall) call(t *testing.T) (*Stop, error) {
	t.Helper()
	return f.session.Call(symbol(t, f.session, f.name), f.words...)
}

// faults checks a stop at the fault.
func (f *faultCall) faults(t *testing.T, stop *Stop, err error) {
	t.Helper()
	check(t, stop, err, f.reason)
	if stop.PC != f.pc || stop.Signal != f.signal || stop.Reason.Kind() != KindSignal {
		t.Fatalf("%+v, want %+v at %#x", stop, f.signal, f.pc)
	}
	if r := register(t, f.session, "pc"); r != f.pc {
		t.Fatalf("the program counter is %#x, not %#x", r, f.pc)
	}
	stack, err := f.session.Stack(0)
	if err != nil || len(stack.Frames) != 1 || stack.Err != nil {
		t.Fatalf("%+v, %v", stack, err)
	}
	if runtime.GOARCH == "amd64" {
		if v := register(t, f.session, "eflags"); v&0x100 != 0 {
			t.Fatalf("the trap flag is set: %#x", v)
		}
	}
}

// fix repairs the cause, or passes the instruction.
func (f *faultCall) fix(t *testing.T) {
	t.Helper()
	if f.pc != f.at {
		return // after it
	}
	if f.repair == nil {
		setRegister(t, f.session, "pc", f.pc+f.length)
	}
	for name, v := range f.repair {
		setRegister(t, f.session, name, v)
	}
}

// Each fault is a stop. Either the cause is repaired and the call returns, or the call is aborted
// and the session used again.
func TestFaultsOfProcessor(t *testing.T) {
	i := load(t, "faults-"+runtime.GOARCH+".s")
	good, _ := mapping(t, 4096, unix.PROT_READ|unix.PROT_WRITE)
	readOnly, _ := mapping(t, 4096, unix.PROT_READ)
	none, pages := mapping(t, 8192, unix.PROT_READ|unix.PROT_WRITE)
	none += 4096
	if err := unix.Mprotect(pages[4096:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	gone := truncated(t)
	memories := faultMemories{good, readOnly, none, gone, symbolOf(t, i, "read")}
	for _, tt := range processorFaults(memories) {
		t.Run(tt.name, func(t *testing.T) {
			f := newFaultCall(t, i, tt)
			for range 2 {
				stop, err := f.call(t)
				f.faults(t, stop, err)
				if f.pc == f.at {
					stop, err = f.session.Continue()
					f.faults(t, stop, err) // it is as it was
				}
				f.fix(t)
				stop, err = f.session.Continue()
				check(t, stop, err, Returned)
				stop, err = f.call(t)
				f.faults(t, stop, err)
				stop, err = f.session.Abort()
				check(t, stop, err, Aborted)
			}
			f.checkAtBreakpoint(t)
		})
	}
}

// checkAtBreakpoint sets a breakpoint at the instruction that faults. It is hit once.
func (f *faultCall) checkAtBreakpoint(t *testing.T) {
	t.Helper()
	b, err := f.session.Break(f.at, nil)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := f.call(t)
	if check(t, stop, err, AtBreakpoint).PC != f.at {
		t.Fatal(stop)
	}
	stop, err = f.session.Continue()
	f.faults(t, stop, err)
	f.fix(t)
	stop, err = f.session.Continue()
	check(t, stop, err, Returned)
	if b.Hits() != 1 {
		t.Errorf("%d hits", b.Hits())
	}
	// The same in single steps, with and without it.
	f.checkSteps(t)
	f.session.Remove(b.ID)
	f.checkSteps(t)
}

// checkSteps executes the function in single steps.
func (f *faultCall) checkSteps(t *testing.T) {
	t.Helper()
	stop, err := f.session.CallWith(symbol(t, f.session, f.name), Arguments{Words: f.words, StopAtEntry: true})
	check(t, stop, err, AtEntry)
	for stop.PC != f.at {
		stop, err = f.session.StepInstruction()
		if err != nil || stop.Reason != SteppedInstruction && stop.Reason != AtBreakpoint {
			t.Fatal(stop, err)
		}
	}
	fault, err := f.session.StepInstruction()
	f.faults(t, fault, err)
	f.fix(t)
	for stop.Reason != Returned {
		if stop, err = f.session.StepInstruction(); err != nil || stop.Reason != SteppedInstruction && stop.Reason != Returned {
			t.Fatal(stop, err)
		}
	}
}

// A call or jump to unmapped memory stops there, and the stack shows the caller.
func TestJumpToNowhere(t *testing.T) {
	i := load(t, "faults-"+runtime.GOARCH+".s")
	s := newSession(t, i)
	data, _ := mapping(t, 4096, unix.PROT_READ|unix.PROT_WRITE)
	type nowhere struct {
		target uint64
		signal Signal
		pc     uint64
	}
	tests := []nowhere{
		{0, Signal{int(unix.SIGSEGV), mapError, 0}, 0},
		{0x1234, Signal{int(unix.SIGSEGV), mapError, 0x1234}, 0x1234},
		{data + 4, Signal{int(unix.SIGSEGV), accessError, data + 4}, data + 4},
	}
	if runtime.GOARCH == "amd64" {
		tests = append(tests, nowhere{data + 5, Signal{int(unix.SIGSEGV), accessError, data + 5}, data + 5},
			nowhere{1 << 63, Signal{int(unix.SIGSEGV), fromKernel, 0}, symbol(t, s, "jump")})
	}
	// After a caller's first instruction, and a return.
	second, returns := symbol(t, s, "caller")+1, symbol(t, s, "illegal")+5
	if runtime.GOARCH == "arm64" {
		second, returns = symbol(t, s, "caller")+4, symbol(t, s, "illegal")+8
	}
	for _, tt := range tests {
		for _, broken := range []bool{false, true} {
			var b *Breakpoint
			if broken {
				var err error
				if b, err = s.Break(second, nil); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"jump", "caller"} {
				stop := call(t, s, name, tt.target)
				if stop.Reason == AtBreakpoint {
					var err error
					if stop, err = s.Continue(); err != nil {
						t.Fatal(err)
					}
				}
				pc := tt.pc
				if name == "caller" && tt.signal.Code == fromKernel {
					pc = second
				}
				if stop.Reason != Signalled || stop.Signal != tt.signal || stop.PC != pc {
					t.Errorf("%s %#x: %+v, want %+v at %#x", name, tt.target, stop, tt.signal, pc)
				}
				stack, err := s.Stack(0)
				if err != nil {
					t.Fatal(err)
				}
				last := stack.Frames[len(stack.Frames)-1]
				if pc != tt.target {
					if len(stack.Frames) != 1 || last.Function.Name != name {
						t.Errorf("%s %#x: %+v", name, tt.target, stack)
					}
				} else if name == "caller" && (len(stack.Frames) != 2 || last.Function.Name != name || last.PC != symbol(t, s, "caller.next")) {
					t.Errorf("%s %#x: %+v", name, tt.target, stack)
				}
				// Into a function all the same.
				if pc == tt.target && name == "caller" {
					setRegister(t, s, "pc", symbol(t, s, "read"))
				}
				setRegister(t, s, argument, data)
				if pc != tt.target {
					setRegister(t, s, argument, returns)
				}
				if name == "jump" && pc == tt.target {
					setRegister(t, s, "pc", returns)
				}
				stop, err = s.Continue()
				check(t, stop, err, Returned)
			}
			if b != nil {
				s.Remove(b.ID)
			}
		}
	}
}
