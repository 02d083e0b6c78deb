// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session/internal/displace"
	"golang.org/x/sys/unix"
)

// newWritableCode is code that its program changes by itself.
func newWritableCode(t *testing.T, text string) (code []byte, i *Image) {
	t.Helper()
	code, address := page(t, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC)
	code = code[:copy(code, text)]
	unwind, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).Program()
	if err != nil {
		t.Fatal(err)
	}
	i, err = NewImage(&jit.Code{Address: address, Text: code,
		Functions: []jit.Function{{Name: "writable", Size: uint64(len(code)), Unwind: unwind}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	})
	return code, i
}

// A program that changes its own code where a breakpoint has been, or is, finds
// it as it has written it: neither what was there runs, nor is it put back.
func TestCodeThatItsProgramChanges(t *testing.T) {
	const first, second = "\xb8\x01\x00\x00\x00\xc3", "\x6a\x07\x58\x90\x90\xc3" // mov eax, 1; push 7, pop rax
	for _, trapped := range []bool{false, true} {
		code, i := newWritableCode(t, first)
		s := newSession(t, i)
		b, err := s.Break(start(i), nil)
		if err != nil {
			t.Fatal(err)
		}
		if trapped {
			copy(code, second)
		}
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
		if !trapped {
			copy(code, second)
		}
		for range 2 {
			if b, err = s.Break(start(i), nil); err != nil {
				t.Fatal(err)
			}
			stop, err := s.Call(start(i))
			check(t, stop, err, AtBreakpoint)
			stop, err = s.Continue()
			if check(t, stop, err, Returned).Result != 7 {
				t.Error(stop)
			}
			if err := s.Remove(b.ID); err != nil {
				t.Fatal(err)
			}
		}
		if string(code) != second {
			t.Errorf("% x", code)
		}
	}
}

// To write what is there already costs no slot.
func TestSlotsAreKept(t *testing.T) {
	code, i := newWritableCode(t, "\x90\x90\xc3")
	s := newSession(t, i)
	if _, err := s.Break(start(i), nil); err != nil {
		t.Fatal(err)
	}
	for n := range 2 * slotAreaSize / displace.MaxSlot {
		if err := s.WriteMemory([]byte{0x90, 0xc3}, start(i)+1); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			if err := s.WriteMemory([]byte{0x66}, start(i)); err != nil { // a longer nop
				t.Fatal(err)
			}
		}
	}
	if len(i.traps.areas) != 1 || i.traps.areas[0].slots != 2 || code[0] != 0xcc {
		t.Errorf("%d areas, % x", len(i.traps.areas), code)
	}
	stop, err := s.Call(start(i))
	check(t, stop, err, AtBreakpoint)
	stop, err = s.StepInstruction()
	if check(t, stop, err, SteppedInstruction).PC != start(i)+2 {
		t.Error(stop)
	}
}

// A trap that the program puts where a breakpoint was is its own.
func TestOwnTrapWhereABreakpointWas(t *testing.T) {
	code, i := newWritableCode(t, "\x90\xc3")
	s := newSession(t, i)
	b, err := s.Break(start(i), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(b.ID); err != nil {
		t.Fatal(err)
	}
	code[0] = 0xcc
	stop, err := s.Call(start(i))
	check(t, stop, err, Trapped)
	stop, err = s.Continue()
	check(t, stop, err, Returned)
}

// Code that takes its own text or stack away stops, or fails, as others do: what
// the session reads and writes itself never faults in the program.
func TestCodeTakesItsMemoryAway(t *testing.T) {
	code, i := newWritableCode(t, "\x90\x90\xc3")
	system := newFunction(t, "syscall")
	s := newSession(t, i, system)
	stop, err := s.CallWith(start(i), Arguments{StopAtEntry: true})
	check(t, stop, err, AtEntry)
	if err := unix.Mprotect(code[:1], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		stop, err = s.StepInstruction()
		if check(t, stop, err, Signalled).Signal.Address != start(i) {
			t.Error(stop)
		}
	}
	if _, err := s.Break(start(i)+1, nil); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
	if err := unix.Mprotect(code[:1], unix.PROT_READ|unix.PROT_EXEC); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)

	low, high := s.worker.Stack()
	stop, err = s.Call(start(system), unix.SYS_MPROTECT, low, high-low, unix.PROT_NONE)
	check(t, stop, err, Signalled)
	if _, err := s.Abort(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Call(start(i)); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
	stop, err = s.Call(start(i))
	check(t, stop, err, Returned)
}

// Registers that the system refuses are an error, after which the session is
// where it was.
func TestRefusedRegister(t *testing.T) {
	i := newFunction(t, "sum")
	s := newSession(t, i)
	if _, err := s.Break(start(i), nil); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(start(i), 5)
	check(t, stop, err, AtBreakpoint)
	before, _ := s.Registers()
	if err := s.SetRegister("fs_base", []byte{7: 0x80}); err != nil { // not canonical
		t.Fatal(err)
	}
	if stop, err := s.Continue(); err == nil {
		t.Fatal(stop)
	}
	if now, err := s.Registers(); err != nil || now.PC() != before.PC() || s.State() != Stopped {
		t.Errorf("%#x, %v; was %#x", now.PC(), err, before.PC())
	}
	if err := s.SetRegisters(before); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Continue()
	if check(t, stop, err, Returned).Result != 15 {
		t.Error(stop)
	}
}
