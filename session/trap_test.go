// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session/internal/displace"
	"golang.org/x/sys/unix"
)

// newWritableCode returns code that the program changes.
func newWritableCode(t *testing.T, f function) (code []byte, i *Image) {
	t.Helper()
	code, address := page(t, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC)
	code = code[:len(f.text)]
	change(t, code, f.text)
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

// change writes code as its program would. It writes through the kernel, because a processor of
// arm64 must be notified.
func change(t *testing.T, code, text []byte) {
	t.Helper()
	if err := writeText(text, uint64(uintptr(unsafe.Pointer(&code[0])))); err != nil {
		t.Fatal(err)
	}
}

// writable is code that these tests change.
var writable = map[string]struct {
	first, second function // functions that return 1 and 7, as long as each other
	nops          function // two instructions that do nothing, and a return
	other         string   // does nothing either, written over the first one and part of the second
}{
	"amd64": {instructions("b801000000", "c3"), instructions("6a07", "58", "90", "90", "c3"), instructions("90", "90", "c3"), "\x66\x90"},
	"arm64": {words(0x52800020, ret64, ret64), words(0xd503201f, 0x528000e0, ret64), words(0xd503201f, 0xd503201f, ret64), "\xe9\x03\x09\xaa"}, // mov x9, x9
}[runtime.GOARCH]

// A program can change its own code at a current or former breakpoint: the old code neither
// runs nor is restored.
func TestCodeThatItsProgramChanges(t *testing.T) {
	first, second := writable.first, writable.second.text
	for _, trapped := range []bool{false, true} {
		code, i := newWritableCode(t, first)
		s := newSession(t, i)
		b, err := s.Break(start(i), nil)
		if err != nil {
			t.Fatal(err)
		}
		if trapped {
			change(t, code, second)
		}
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
		if !trapped {
			change(t, code, second)
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
		if !bytes.Equal(code, second) {
			t.Errorf("% x", code)
		}
	}
}

// Writing equal bytes uses no slot.
func TestSlotsAreKept(t *testing.T) {
	code, i := newWritableCode(t, writable.nops)
	s := newSession(t, i)
	if _, err := s.Break(start(i), nil); err != nil {
		t.Fatal(err)
	}
	second := writable.nops.at[1]
	for n := range 2 * slotAreaSize / displace.MaxSlot {
		if err := s.WriteMemory(writable.nops.text[second:], start(i)+second); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			if err := s.WriteMemory([]byte(writable.other), start(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(i.traps.areas) != 1 || i.traps.areas[0].slots != 2 || !bytes.HasPrefix(code, i.machine.Processor.Trap) {
		t.Errorf("%d areas, % x", len(i.traps.areas), code)
	}
	stop, err := s.Call(start(i))
	check(t, stop, err, AtBreakpoint)
	stop, err = s.StepInstruction()
	if check(t, stop, err, SteppedInstruction).PC != start(i)+uint64(len(writable.other)) {
		t.Error(stop)
	}
}

// A trap instruction that the program writes at a former breakpoint is the program's own. On
// arm64 it stops again after each resume: the processor stops at it, not after it.
func TestOwnTrapWhereABreakpointWas(t *testing.T) {
	trap := functionOf("trap")
	after := start
	if runtime.GOARCH == "amd64" {
		after = func(i *Image) uint64 { return start(i) + 1 }
	}
	for _, text := range [][]byte{trap.text[:trap.at[1]], jit.Host().Processor.Trap} {
		code, i := newWritableCode(t, writable.nops)
		s := newSession(t, i)
		b, err := s.Break(start(i), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
		change(t, code, text)
		stop, err := s.Call(start(i))
		if check(t, stop, err, Trapped).PC != after(i) {
			t.Error(stop)
		}
		if runtime.GOARCH == "arm64" {
			stop, err = s.Continue()
			check(t, stop, err, Trapped)
			setRegister(t, s, "pc", start(i)+trap.at[1])
		}
		stop, err = s.Continue()
		check(t, stop, err, Returned)
	}
}

// Code that unmaps its text or stack stops or fails like other code. Reads and writes of the
// session never fault in the program.
func TestCodeTakesItsMemoryAway(t *testing.T) {
	code, i := newWritableCode(t, writable.nops)
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
	if _, err := s.Break(start(i)+writable.nops.at[1], nil); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
	if err := unix.Mprotect(code[:1], unix.PROT_READ|unix.PROT_EXEC); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)

	low, high := s.worker.Stack()
	stop, err = s.Call(start(system), unix.SYS_MPROTECT, low, high-low, unix.PROT_NONE)
	if runtime.GOARCH == "amd64" { // ret reads the stack there
		check(t, stop, err, Signalled)
		if _, err := s.Abort(); err != nil {
			t.Fatal(err)
		}
	} else {
		check(t, stop, err, Returned)
	}
	if _, err := s.Call(start(i)); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
	stop, err = s.Call(start(i))
	check(t, stop, err, Returned)
}

// If the system refuses registers, the error leaves the session where it was.
func TestRefusedRegister(t *testing.T) {
	i := newFunction(t, "sum")
	s := newSession(t, i)
	if _, err := s.Break(start(i), nil); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(start(i), 5)
	check(t, stop, err, AtBreakpoint)
	before, _ := s.Registers()
	refused := map[string]struct {
		name  string
		value []byte
	}{
		"amd64": {"fs_base", []byte{7: 0x80}},    // not canonical
		"arm64": {"cpsr", []byte{0xc5, 3, 0, 0}}, // the kernel's mode, with interrupts masked
	}[runtime.GOARCH]
	if err := s.SetRegister(refused.name, refused.value); err != nil {
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
