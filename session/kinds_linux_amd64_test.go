// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"golang.org/x/sys/unix"
)

// kinds is the argument that tests call the function with.
const kindsArgument = 3

// addressesOf returns where the instructions of kinds.s are, from its start.
func addressesOf(t testing.TB, s *Session, i *Image) (list []uint64) {
	t.Helper()
	r := i.Ranges()[0]
	for address := r.Start; address < r.End; {
		code, err := s.Disassemble(address, 1)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, address)
		address += uint64(len(code[0].Bytes))
	}
	return list
}

// kindsProgram links kinds.s into a program that prints what the function returns.
func kindsProgram(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "main.c")
	text := fmt.Sprintf("#include <stdio.h>\nunsigned long kinds(long);\nint main(void) { printf(\"%%lu\\n\", kinds(%d)); return 0; }\n", kindsArgument)
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "kinds")
	testprogram.RequireTool(t, "gcc")
	if out, err := exec.Command("gcc", "-o", program, source, "testdata/kinds-amd64.s").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return program
}

// With a trap at each instruction, one at a time or at all of them, the function
// does what it does without, and each is met as often as gdb meets it.
func TestKindsOfInstructions(t *testing.T) {
	i := load(t, "kinds-amd64.s")
	s := newSession(t, i)
	stop := call(t, s, "kinds", kindsArgument)
	check(t, stop, nil, Returned)
	want := stop.Result
	addresses := addressesOf(t, s, i)
	hits := map[uint64]int{}
	for _, address := range addresses {
		b, err := s.Break(address, &BreakpointOptions{Log: func(*Frame) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		returns(t, s, want, "kinds", kindsArgument)
		hits[address] = b.Hits()
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
	}
	var all []*Breakpoint
	for _, address := range addresses {
		b, err := s.Break(address, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	stop = call(t, s, "kinds", kindsArgument)
	for stop.Reason == AtBreakpoint {
		if stop.PC != stop.Breakpoint.Addresses[0] || stop.PC != register(t, s, "pc") {
			t.Fatal(stop)
		}
		var err error
		if stop, err = s.Continue(); err != nil {
			t.Fatal(err)
		}
	}
	if check(t, stop, nil, Returned).Result != want {
		t.Errorf("%v, want %#x", stop, want)
	}
	for _, b := range all {
		if b.Hits() != hits[b.Addresses[0]] {
			t.Errorf("%#x is met %d times, and %d times among others", b.Addresses[0], hits[b.Addresses[0]], b.Hits())
		}
	}

	// gdb: those that the program meets, with as many to ignore as there can be.
	start := symbol(t, s, "kinds")
	commands := []string{"break main", "run", "delete"}
	for n, address := range addresses {
		commands = append(commands, fmt.Sprintf("break *((char*)kinds + %d)", address-start), fmt.Sprintf("ignore %d 1000000", n+2))
	}
	program := kindsProgram(t)
	if out, err := exec.Command(program).Output(); err != nil || string(out) != fmt.Sprintln(want) {
		t.Errorf("the session returns %d, a program prints %s, %v", want, out, err)
	}
	out := gdb(t, program, append(commands, "continue", "info breakpoints")...)
	_, table, _ := strings.Cut(out, "Num ")
	number, before := -1, ""
	counts := map[uint64]int{}
	for line := range strings.Lines(table) {
		if m := regexp.MustCompile(`^(\d+) +breakpoint`).FindStringSubmatch(line); m != nil {
			number, _ = strconv.Atoi(m[1])
		}
		if m := regexp.MustCompile(`already hit (\d+) time`).FindStringSubmatch(line); m != nil {
			counts[addresses[number-2]], _ = strconv.Atoi(m[1])
		}
	}
	if len(counts) < 100 {
		t.Fatalf("gdb met %d:\n%s", len(counts), out)
	}
	for n, address := range addresses {
		code, err := s.Disassemble(address, 1)
		if err != nil {
			t.Fatal(err)
		}
		switch text := code[0].Text; {
		case strings.HasPrefix(text, "rep"):
			counts[address] = 1 // gdb counts repetitions
		case n > 0 && counts[address] == 0 && hits[address] == 1 && strings.HasSuffix(before, ",%ss"):
			counts[address] = 1 // gdb steps over it: see TestStepsOfKinds
		default:
			before = text
		}
		if hits[address] != counts[address] {
			t.Errorf("instruction %d at kinds+%d: %d hits, gdb has %d", n, address-start, hits[address], counts[address])
		}
	}
}

// steps calls kinds and executes all of it instruction by instruction.
func stepsOfKinds(t *testing.T, s *Session, want uint64) (list []uint64) {
	t.Helper()
	start := symbol(t, s, "kinds")
	stop, err := s.CallWith(start, Arguments{Words: []uint64{kindsArgument}, StopAtEntry: true})
	for err == nil && stop.Reason.Kind() == KindBreakpoint {
		list = append(list, stop.PC-start)
		if flags := register(t, s, "eflags"); flags&0x100 != 0 {
			t.Fatalf("at kinds+%d: eflags %#x", stop.PC-start, flags)
		}
		stop, err = s.StepInstruction()
	}
	if check(t, stop, err, Returned).Result != want {
		t.Errorf("%v, want %#x", stop, want)
	}
	return list
}

// Steps visit the instructions that gdb's visit, with traps on their way or not,
// and change nothing.
func TestStepsOfKinds(t *testing.T) {
	i := load(t, "kinds-amd64.s")
	s := newSession(t, i)
	want := call(t, s, "kinds", kindsArgument).Result
	plain := stepsOfKinds(t, s, want)
	addresses := addressesOf(t, s, i)
	for _, address := range addresses {
		if _, err := s.Break(address, nil); err != nil {
			t.Fatal(err)
		}
	}
	if trapped := stepsOfKinds(t, s, want); !slices.Equal(trapped, plain) {
		t.Errorf("with breakpoints\n%v, without\n%v", trapped, plain)
	}
	out := gdb(t, kindsProgram(t), "break *(char*)kinds", "run", "set $from = (long)kinds", "set $to = *(long*)$sp",
		"while $pc != $to", `printf "at %ld\n", (long)$pc - $from`, "stepi", "end")
	var steps []uint64
	for line := range strings.Lines(out) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "at "); ok {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			steps = append(steps, n)
		}
	}
	// Behind a move to ss the processor takes no trap: gdb's step is two
	// instructions, a session's one.
	n := slices.IndexFunc(plain, func(at uint64) bool {
		code, err := s.Disassemble(symbol(t, s, "kinds")+at, 1)
		return err == nil && strings.HasSuffix(code[0].Text, ",%ss")
	})
	if n < 0 {
		t.Fatal("no move to ss")
	}
	if !slices.Equal(slices.Delete(slices.Clone(plain), n+1, n+2), steps) {
		t.Errorf("steps\n%v, gdb's\n%v", plain, steps)
	}
}

// Instructions that Linux executes for a program, as the processor does not, are
// steps of one instruction too.
func TestStepOverEmulated(t *testing.T) {
	i := load(t, `
	.globl tables, tables.end
tables:
	sgdt -16(%rsp)
	nop
	sidt -16(%rsp)
	nop
	smsw %eax
	nop
	sldt %eax
	nop
	str -16(%rsp)
	nop
	ret
tables.end:
`)
	s := newSession(t, i)
	addresses := addressesOf(t, s, i)
	for range 2 {
		stop, err := s.CallWith(addresses[0], Arguments{StopAtEntry: true})
		for n, address := range addresses {
			if err != nil {
				t.Fatal(err)
			}
			if stop.PC != address {
				t.Fatalf("step %d ends at %#x, not at %#x", n, stop.PC, address)
			}
			if stop, err = s.StepInstruction(); err == nil && stop.Reason == Signalled {
				return // a kernel that does not
			}
		}
		check(t, stop, err, Returned)
		for _, address := range addresses {
			if _, err := s.Break(address, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Traps and what traps by itself, at one place.
func TestBreakpointAtTrap(t *testing.T) {
	i := load(t, "faults-amd64.s")
	s := newSession(t, i)
	at := symbol(t, s, "breakpoint.at")
	for range 3 {
		b, err := s.Break(at, nil)
		if err != nil {
			t.Fatal(err)
		}
		stop := call(t, s, "breakpoint")
		if check(t, stop, nil, AtBreakpoint).PC != at {
			t.Error(stop)
		}
		stop, err = s.Continue()
		if check(t, stop, err, Trapped).PC != at+1 {
			t.Error(stop)
		}
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
		// Also when it is known that one of ours was there.
		stop, err = s.Abort()
		check(t, stop, err, Aborted)
		stop = call(t, s, "breakpoint")
		if check(t, stop, nil, Trapped).PC != at+1 || stop.Signal.Number != int(unix.SIGTRAP) {
			t.Error(stop)
		}
		stop, err = s.Continue()
		check(t, stop, err, Returned)
	}
}

// What cannot be displaced is refused, with the way out, which works.
func TestRefusedInstructions(t *testing.T) {
	i := load(t, `
	.globl refused, refused.at
refused:
	mov %rsp, %rax
	lea 1f(%rip), %rdx
	mov %rdx, -8(%rsp)
refused.at:
	call *-8(%rsp)
	ret
1:	mov %rsp, %rdx
	sub %rdx, %rax
	ret
`)
	s := newSession(t, i)
	at := symbol(t, s, "refused.at")
	_, err := s.Break(at, nil)
	if !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), "hardware") {
		t.Fatal(err)
	}
	b, err := s.Break(at, &BreakpointOptions{Hardware: true})
	if err != nil {
		t.Fatal(err)
	}
	stop := call(t, s, "refused")
	if check(t, stop, nil, AtBreakpoint).PC != at || stop.Breakpoint != b {
		t.Error(stop)
	}
	stop, err = s.StepInstruction()
	check(t, stop, err, SteppedInstruction)
	stop, err = s.Continue()
	if check(t, stop, err, Returned).Result != 8 {
		t.Error(stop)
	}
	end := i.Ranges()[0].End
	for _, address := range []uint64{end, end + 4096, 0, start(i) - 1} {
		if _, err := s.Break(address, nil); !errors.Is(err, ErrAddress) {
			t.Errorf("%#x: %v", address, err)
		}
	}
}
