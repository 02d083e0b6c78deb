// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"golang.org/x/sys/unix"
)

// kindsArgument is the argument of the function.
const kindsArgument = 3

// kindsOf has the differences between the machines.
var kindsOf = map[string]struct {
	source  string
	refused int    // instructions that a breakpoint without a debug register cannot be at
	flags   string // the register, and its bit, by which the kernel steps
	stepBit uint64
	caller  string // where gdb finds the return address
}{
	"amd64": {"kinds-amd64.s", 0, "eflags", 1 << 8, "*(long*)$sp"},
	// Seven instructions are in the middle of exclusive sequences, and a call is through x30. Loads
	// from a label to other than general registers depend on the distance.
	// Only debuggers, gdb too, see this bit in cpsr. Code cannot read it.
	"arm64": {"kinds-arm64.s", 8, "cpsr", 0, "$x30"},
}[runtime.GOARCH]

// breakable returns the addresses that breakpoints can be at.
func breakable(t *testing.T, s *Session, addresses []uint64) (list []uint64) {
	t.Helper()
	var refused []string
	for _, address := range addresses {
		b, err := s.Break(address, nil)
		if err != nil && !strings.Contains(err.Error(), "out of reach of the slot") {
			refused = append(refused, err.Error())
		}
		if err == nil {
			list = append(list, address)
			err = s.Remove(b.ID)
		}
		if err != nil && !errors.Is(err, ErrAddress) {
			t.Fatal(err)
		}
	}
	if len(refused) != kindsOf.refused {
		t.Fatalf("%d addresses are refused, not %d:\n%s", len(refused), kindsOf.refused, strings.Join(refused, "\n"))
	}
	return list
}

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
	if out, err := exec.Command("gcc", "-o", program, source, filepath.Join("testdata", kindsOf.source)).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return program
}

// With a trap at one instruction, or at all, the function has the same effects as without, and
// each trap is hit as often as in gdb.
func TestKindsOfInstructions(t *testing.T) {
	i := load(t, kindsOf.source)
	s := newSession(t, i)
	stop := call(t, s, "kinds", kindsArgument)
	check(t, stop, nil, Returned)
	want := stop.Result
	addresses := breakable(t, s, addressesOf(t, s, i))
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

	// gdb: the breakpoints that the program hits, with the largest ignore count.
	start := symbol(t, s, "kinds")
	// Off, because gdb 13 displaces arm64's tbz of bits above 31 incorrectly.
	commands := []string{"set displaced-stepping off", "break main", "run", "delete"}
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
		case strings.HasPrefix(before, "svc") && counts[address] == 2*hits[address]:
			counts[address] /= 2 // gdb stops twice after a system call, as its steps do
			before = text
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
		if flags := register(t, s, kindsOf.flags); flags&kindsOf.stepBit != 0 {
			t.Fatalf("at kinds+%d: %s %#x", stop.PC-start, kindsOf.flags, flags)
		}
		stop, err = s.StepInstruction()
	}
	if check(t, stop, err, Returned).Result != want {
		t.Errorf("%v, want %#x", stop, want)
	}
	return list
}

// Steps visit the same instructions as gdb's, with and without traps, and change nothing.
func TestStepsOfKinds(t *testing.T) {
	i := load(t, kindsOf.source)
	s := newSession(t, i)
	want := call(t, s, "kinds", kindsArgument).Result
	plain := stepsOfKinds(t, s, want)
	addresses := addressesOf(t, s, i)
	free := breakable(t, s, addresses)
	for _, address := range free {
		if _, err := s.Break(address, nil); err != nil {
			t.Fatal(err)
		}
	}
	if trapped := stepsOfKinds(t, s, want); !slices.Equal(trapped, plain) {
		t.Errorf("with breakpoints\n%v, without\n%v", trapped, plain)
	}
	start := symbol(t, s, "kinds")
	out := gdb(t, kindsProgram(t), "break *(char*)kinds", "run", "set $from = (long)kinds", "set $to = "+kindsOf.caller,
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
	if runtime.GOARCH == "amd64" {
		// After a move to ss the processor takes no trap. A step of gdb then executes two instructions,
		// a step of a session one.
		n := slices.IndexFunc(plain, func(at uint64) bool {
			code, err := s.Disassemble(start+at, 1)
			return err == nil && strings.HasSuffix(code[0].Text, ",%ss")
		})
		if n < 0 {
			t.Fatal("no move to ss")
		}
		plain = slices.Delete(slices.Clone(plain), n+1, n+2)
	}
	if runtime.GOARCH == "arm64" {
		// gdb needs two steps for the instruction after a system call, because the kernel stops it
		// again. gdb's step over an exclusive sequence ends before the branch that repeats it.
		steps = slices.Compact(steps)
		steps = slices.DeleteFunc(steps, func(at uint64) bool {
			code, err := s.Disassemble(start+at, 1)
			return err == nil && strings.HasPrefix(code[0].Text, "cbnz w5,") && !slices.Contains(plain, at)
		})
	}
	if !slices.Equal(plain, steps) {
		t.Errorf("steps\n%v, gdb's\n%v", plain, steps)
	}
}

// A trap and a trap instruction of the code at the same address.
func TestBreakpointAtTrap(t *testing.T) {
	i := newFunction(t, "trap")
	s := newSession(t, i)
	at := start(i)
	// The address of the stop, and the distance from there to the next instruction.
	after := at + map[string]uint64{"amd64": 1, "arm64": 0}[runtime.GOARCH]
	pass := map[string]uint64{"amd64": 0, "arm64": 4}[runtime.GOARCH]
	for range 3 {
		b, err := s.Break(at, nil)
		if err != nil {
			t.Fatal(err)
		}
		stop, err := s.Call(at)
		if check(t, stop, err, AtBreakpoint).PC != at {
			t.Error(stop)
		}
		stop, err = s.Continue()
		if check(t, stop, err, Trapped).PC != after {
			t.Error(stop)
		}
		if err := s.Remove(b.ID); err != nil {
			t.Fatal(err)
		}
		// Also if the session has had a trap there.
		stop, err = s.Abort()
		check(t, stop, err, Aborted)
		stop, err = s.Call(at)
		if check(t, stop, err, Trapped).PC != after || stop.Signal.Number != int(unix.SIGTRAP) {
			t.Error(stop)
		}
		setRegister(t, s, "pc", stop.PC+pass)
		stop, err = s.Continue()
		check(t, stop, err, Returned)
	}
}
