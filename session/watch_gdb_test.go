// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"golang.org/x/sys/unix"
)

// Watchpoints are hit as often as gdb's hardware watchpoints in the same code: "watch" stops
// when the value changes, "awatch" and "rwatch" at accesses.
func TestWatchpointsMeetWhatGDBMeets(t *testing.T) {
	testprogram.RequireTool(t, "gcc")
	program := filepath.Join(t.TempDir(), "program")
	main := filepath.Join(t.TempDir(), "main.c")
	if err := os.WriteFile(main, []byte("long store(long), count(long); int main(void) { store(20); return count(1); }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O1", "-o", program, main, "testdata/loops.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	commands := []string{"break main", "run", "delete", "watch cell", "ignore 2 100000", "awatch cells[3]", "ignore 3 100000", "watch cells[5]", "ignore 4 100000"}
	// A breakpoint stops gdb before the counts of the watchpoints are lost.
	out := gdb(t, program, append(commands, "break count", "continue", "info breakpoints")...)
	want := map[int]int{}
	number := 0
	for _, line := range bytes.Split([]byte(out), []byte("\n")) {
		if m := regexp.MustCompile(`^(\d+) +.*(watchpoint|breakpoint) `).FindSubmatch(line); m != nil {
			number, _ = strconv.Atoi(string(m[1]))
		}
		if m := regexp.MustCompile(`already hit (\d+) time`).FindSubmatch(line); m != nil {
			want[number], _ = strconv.Atoi(string(m[1]))
		}
	}
	i := load(t, "loops.c")
	s := newSession(t, i)
	cell, cells := symbol(t, s, "cell"), symbol(t, s, "cells")
	var watches []*Watchpoint
	for _, w := range []struct {
		address uint64
		access  Access
	}{{cell, Change}, {cells + 3*8, ReadWrite}, {cells + 5*8, Change}} {
		set, err := s.Watch(w.address, 8, w.access, &BreakpointOptions{Skip: 100000})
		if err != nil {
			t.Fatal(err)
		}
		watches = append(watches, set)
	}
	returns(t, s, 9, "store", 20)
	for n, w := range watches {
		if w.Hits() == 0 || w.Hits() != want[n+2] {
			t.Errorf("watchpoint %d: %d hits, gdb has %d\n%s", n, w.Hits(), want[n+2], out)
		}
	}
}

// If a displaced instruction accesses memory with several instructions, the session stops once,
// after all of them.
func TestWatchInSlot(t *testing.T) {
	s := newSession(t, load(t, "loops.c", "-O2"))
	calls, through := symbol(t, s, "calls"), symbol(t, s, "through")
	f, _ := s.images()[0].Function(calls)
	code, err := s.Disassemble(calls, 40)
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range code {
		if c.Address < f.Start+f.Size {
			if _, err := s.Break(c.Address, &BreakpointOptions{Log: func(*Frame) error { return nil }}); err != nil && n == 0 {
				t.Fatal(err)
			}
		}
	}
	// The words below the frame of calls, to which it pushes.
	stop, err := s.CallWith(calls, Arguments{Words: []uint64{4}, StopAtEntry: true})
	check(t, stop, err, AtEntry)
	r, _ := s.Registers()
	for n := range uint64(3) {
		if _, err := s.Watch(r.SP()-8*(n+2), 8, Write, nil); err != nil {
			t.Fatal(err)
		}
	}
	w, err := s.Watch(through, 8, ReadWrite, nil)
	if err != nil {
		t.Fatal(err)
	}
	step := false
	for {
		before := register(t, s, "pc")
		if step = !step; step {
			stop, err = s.Continue()
		} else {
			stop, err = s.StepInstruction()
		}
		if err != nil {
			t.Fatal(err)
		}
		if stop.Reason == Returned {
			break
		}
		if stop.Reason == SteppedInstruction {
			continue
		}
		if check(t, stop, nil, AtWatchpoint).PC == before {
			t.Fatalf("%v: nothing was executed", stop)
		}
		if _, err := s.Stack(0); err != nil {
			t.Fatal(err)
		}
	}
	writes := 0
	for _, pushed := range s.Watchpoints() {
		if pushed != w {
			writes += pushed.Hits()
		}
	}
	// Each call reads, and pushes on amd64 with that instruction.
	if stop.Result != 10 || w.Hits() != 4 || writes < 5 && runtime.GOARCH == "amd64" || writes > 12 {
		t.Errorf("%v, %d reads, %d writes", stop, w.Hits(), writes)
	}
}

// A step with an access that the watchpoint ignores is still one instruction.
func TestStepOverIgnoredWatch(t *testing.T) {
	i := newFunction(t, "store") // the first instruction stores
	s := newSession(t, i)
	_, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	for _, o := range []*BreakpointOptions{{Skip: 100}, {Log: func(*Frame) error { return nil }}, {Condition: func(*Frame) (bool, error) { return false, nil }}} {
		w, err := s.Watch(address, 8, Write, o)
		if err != nil {
			t.Fatal(err)
		}
		stop, err := s.CallWith(start(i), Arguments{Words: []uint64{address, 5}, StopAtEntry: true})
		check(t, stop, err, AtEntry)
		stop, err = s.StepInstruction()
		if check(t, stop, err, SteppedInstruction).PC != start(i)+functionOf("store").at[1] {
			t.Error(stop)
		}
		stop, err = s.Continue()
		check(t, stop, err, Returned)
		if err := s.Remove(w.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// Values are compared with the memory at the time when the session continued, whatever wrote
// it. A write by the kernel is not an access.
func TestWatchValues(t *testing.T) {
	i := load(t, "system.c")
	store := newFunction(t, "store")
	s := newSession(t, i, store)
	memory, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	w, err := s.Watch(address, 8, Change, nil)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(memory, 77)
	stop, err := s.Call(start(store), address, 77)
	check(t, stop, err, Returned)
	stop, err = s.Call(start(store), address, 78)
	check(t, stop, err, AtWatchpoint)
	old, now := w.Values()
	if binary.LittleEndian.Uint64(old) != 77 || binary.LittleEndian.Uint64(now) != 78 {
		t.Errorf("%x, %x", old, now)
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)
	name := cString(t, "")
	returns(t, s, 0, "raw", unix.SYS_UNAME, name)
	if err := s.Remove(w.ID); err != nil {
		t.Fatal(err)
	}
	const never = 1<<63 - 1 // seconds; a machine can have run for 78
	binary.LittleEndian.PutUint64(memory, never)
	if w, err = s.Watch(address, 8, Write, nil); err != nil {
		t.Fatal(err)
	}
	// timespec of the clock, written by the kernel or not at all
	returns(t, s, 0, "raw", unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, address)
	if w.Hits() != 0 || binary.LittleEndian.Uint64(memory) == never {
		t.Errorf("%d hits, %x", w.Hits(), memory[:16])
	}
}

// A watchpoint without a free register, or in memory that cannot be watched, is refused. The
// others remain.
func TestRefusedWatchpoint(t *testing.T) {
	store := newFunction(t, "store")
	s := newSession(t, store)
	_, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	w, err := s.Watch(address, 8, Write, nil)
	if err != nil {
		t.Fatal(err)
	}
	var memory *MemoryError
	if _, err := s.Watch(8, 8, Write, nil); !errors.As(err, &memory) {
		t.Error(err)
	}
	if _, err := s.Break(1<<63, &BreakpointOptions{Hardware: true}); err == nil {
		t.Error("a hardware breakpoint in the kernel")
	}
	stop, err := s.Call(start(store), address, 3)
	if check(t, stop, err, AtWatchpoint).Watchpoint != w {
		t.Error(stop)
	}
	stop, err = s.Abort()
	check(t, stop, err, Aborted)
	for n := 1; ; n++ {
		more, err := s.Watch(address+8*uint64(n), 8, Write, nil)
		if errors.Is(err, ErrInUse) {
			break
		}
		if err != nil || n > 16 {
			t.Fatal(fmt.Errorf("watchpoint %d: %w", n, err))
		}
		if err := s.Enable(more.ID, false); err != nil {
			t.Fatal(err)
		}
		if err := s.Enable(more.ID, true); err != nil {
			t.Fatal(err)
		}
	}
	stop, err = s.Call(start(store), address, 3)
	if check(t, stop, err, AtWatchpoint).Watchpoint != w {
		t.Error(stop)
	}
	if err := s.Remove(w.ID); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)
}
