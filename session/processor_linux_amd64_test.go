// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"os"
	"path/filepath"
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

// truncated is the address of a page of a mapped file behind the file's end.
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

// Each fault is the stop that it is; it is repaired, and the call returns; or the
// call is given up, and the session used again.
func TestFaultsOfProcessor(t *testing.T) {
	i := load(t, "faults-amd64.s")
	good, memory := mapping(t, 4096, unix.PROT_READ|unix.PROT_WRITE)
	copy(memory[64:], []byte{0xc3}) // ret, not executable
	readOnly, _ := mapping(t, 4096, unix.PROT_READ)
	none, pages := mapping(t, 8192, unix.PROT_READ|unix.PROT_WRITE)
	none += 4096
	if err := unix.Mprotect(pages[4096:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	gone := truncated(t)
	const here = 1 // as an address: that of the instruction
	segv, bus, fpe, ill, trap := int(unix.SIGSEGV), int(unix.SIGBUS), int(unix.SIGFPE), int(unix.SIGILL), int(unix.SIGTRAP)
	for _, tt := range []struct {
		name   string
		words  []uint64
		signal Signal
		length uint64            // of what is passed on repair, and where a trap's PC is
		repair map[string]uint64 // registers; nil for the length
	}{
		{"read", []uint64{0x10}, Signal{segv, mapError, 0x10}, 0, map[string]uint64{"rdi": good}},
		{"read", []uint64{none + 8}, Signal{segv, accessError, none + 8}, 0, map[string]uint64{"rdi": good}},
		{"read", []uint64{none - 4}, Signal{segv, accessError, none}, 0, map[string]uint64{"rdi": good}},
		{"read", []uint64{1 << 47}, Signal{segv, fromKernel, 0}, 0, map[string]uint64{"rdi": good}},
		{"read", []uint64{1 << 63}, Signal{segv, fromKernel, 0}, 0, map[string]uint64{"rdi": good}},
		{"read", []uint64{gone + 16}, Signal{bus, busAddress, gone + 16}, 0, map[string]uint64{"rdi": good}},
		{"write", []uint64{readOnly, 3}, Signal{segv, accessError, readOnly}, 0, map[string]uint64{"rdi": good}},
		{"write", []uint64{0, 3}, Signal{segv, mapError, 0}, 0, map[string]uint64{"rdi": good}},
		{"write", []uint64{symbolOf(t, i, "read"), 3}, Signal{segv, accessError, symbolOf(t, i, "read")}, 0, map[string]uint64{"rdi": good}},
		{"divide", []uint64{7, 0}, Signal{fpe, intDivide, here}, 0, map[string]uint64{"rsi": 7}},
		{"overflow", []uint64{1 << 31, 1<<64 - 1, 1<<64 - 1}, Signal{fpe, intDivide, here}, 2, nil},
		{"illegal", nil, Signal{ill, illegalOperand, here}, 2, nil},
		{"halt", nil, Signal{segv, fromKernel, 0}, 1, nil},
		{"privileged", nil, Signal{segv, fromKernel, 0}, 3, nil},
		{"into", nil, Signal{segv, fromKernel, 0}, 2, nil},
		{"vector", []uint64{good + 8}, Signal{segv, fromKernel, 0}, 0, map[string]uint64{"rdi": good}},
		{"unaligned", []uint64{good + 1}, Signal{bus, busAlignment, 0}, 0, map[string]uint64{"rdi": good}},
		{"sse", []uint64{0, 4 << 7}, Signal{fpe, floatDivide, here}, 4, nil},
		{"breakpoint", nil, Signal{trap, fromKernel, 0}, 1, nil},
		{"software", nil, Signal{trap, fromKernel, 0}, 2, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSession(t, i)
			at := symbol(t, s, tt.name+".at")
			want := tt.signal
			pc, reason := at, Signalled
			if want.Number == trap {
				pc, reason = at+tt.length, Trapped
			}
			if want.Address == here {
				want.Address = pc
			}
			faults := func(stop *Stop, err error) {
				t.Helper()
				check(t, stop, err, reason)
				if stop.PC != pc || stop.Signal != want || stop.Reason.Kind() != KindSignal {
					t.Fatalf("%+v, want %+v at %#x", stop, want, pc)
				}
				if r := register(t, s, "pc"); r != pc {
					t.Fatalf("the program counter is %#x, not %#x", r, pc)
				}
				stack, err := s.Stack(0)
				if err != nil || len(stack.Frames) != 1 || stack.Err != nil {
					t.Fatalf("%+v, %v", stack, err)
				}
				if v := register(t, s, "eflags"); v&0x100 != 0 {
					t.Fatalf("the trap flag is set: %#x", v)
				}
			}
			repair := func() {
				t.Helper()
				if reason == Trapped {
					return
				}
				if tt.repair == nil {
					setRegister(t, s, "pc", pc+tt.length)
				}
				for name, v := range tt.repair {
					setRegister(t, s, name, v)
				}
			}
			for range 2 {
				faults(s.Call(symbol(t, s, tt.name), tt.words...))
				if reason == Signalled {
					faults(s.Continue()) // it is as it was
				}
				repair()
				stop, err := s.Continue()
				check(t, stop, err, Returned)
				faults(s.Call(symbol(t, s, tt.name), tt.words...))
				stop, err = s.Abort()
				check(t, stop, err, Aborted)
			}
			// So under a breakpoint, which is met once.
			b, err := s.Break(at, nil)
			if err != nil {
				t.Fatal(err)
			}
			stop, err := s.Call(symbol(t, s, tt.name), tt.words...)
			if check(t, stop, err, AtBreakpoint).PC != at {
				t.Fatal(stop)
			}
			faults(s.Continue())
			repair()
			stop, err = s.Continue()
			check(t, stop, err, Returned)
			if b.Hits() != 1 {
				t.Errorf("%d hits", b.Hits())
			}
			// And in single steps, with and without it.
			for n := range 2 {
				if n == 1 {
					s.Remove(b.ID)
				}
				stop, err = s.CallWith(symbol(t, s, tt.name), Arguments{Words: tt.words, StopAtEntry: true})
				check(t, stop, err, AtEntry)
				for stop.PC != at {
					stop, err = s.StepInstruction()
					if err != nil || stop.Reason != SteppedInstruction && stop.Reason != AtBreakpoint {
						t.Fatal(stop, err)
					}
				}
				faults(s.StepInstruction())
				repair()
				for stop.Reason != Returned {
					if stop, err = s.StepInstruction(); err != nil || stop.Reason != SteppedInstruction && stop.Reason != Returned {
						t.Fatal(stop, err)
					}
				}
			}
		})
	}
}

// A call or jump to where nothing is stops there, and the stack shows who called.
func TestJumpToNowhere(t *testing.T) {
	i := load(t, "faults-amd64.s")
	s := newSession(t, i)
	data, _ := mapping(t, 4096, unix.PROT_READ|unix.PROT_WRITE)
	for _, tt := range []struct {
		target uint64
		signal Signal
		pc     uint64
	}{
		{0, Signal{int(unix.SIGSEGV), mapError, 0}, 0},
		{0x1234, Signal{int(unix.SIGSEGV), mapError, 0x1234}, 0x1234},
		{data + 5, Signal{int(unix.SIGSEGV), accessError, data + 5}, data + 5},
		{1 << 63, Signal{int(unix.SIGSEGV), fromKernel, 0}, symbol(t, s, "jump")},
	} {
		for _, broken := range []bool{false, true} {
			var b *Breakpoint
			if broken {
				var err error
				if b, err = s.Break(symbol(t, s, "caller")+1, nil); err != nil {
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
					pc = symbol(t, s, "caller") + 1
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
				setRegister(t, s, "rdi", data)
				if pc != tt.target {
					setRegister(t, s, "rdi", symbol(t, s, "illegal")+5) // its ret
				}
				if name == "jump" && pc == tt.target {
					setRegister(t, s, "pc", symbol(t, s, "illegal")+5)
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

// int1 is a trap, and PC behind it; some virtual machines leave that on it.
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

// A trap flag that the code sets itself is its own affair.
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
