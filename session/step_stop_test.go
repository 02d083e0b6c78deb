// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/object"
)

// stopped returns a session that is stopped at the start of a function of testdata/stops.c.
func stoppedIn(t testing.TB, function string, words ...uint64) *Session {
	t.Helper()
	testprogram.RequireTool(t, "gcc")
	path := filepath.Join(t.TempDir(), "stops.o")
	if out, err := exec.Command("gcc", "-g", "-O0", "-c", "-o", path, "testdata/stops.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	file, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	i, err := LoadImage(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close() })
	s := newSession(t, i)
	b, err := s.BreakAt(function, nil)
	if err != nil {
		t.Fatal(err)
	}
	address, _ := s.Symbol(function)
	stop, err := s.Call(address, words...)
	check(t, stop, err, AtBreakpoint)
	if err := s.Remove(b.ID); err != nil {
		t.Fatal(err)
	}
	return s
}

// at fails the test unless the session is stopped at a line of a function.
func at(t *testing.T, s *Session, function string, line int) {
	t.Helper()
	f, err := s.Frame()
	if err != nil {
		t.Fatal(err)
	}
	if l := f.Locations[0]; l.Function != function || l.Line != line {
		t.Fatalf("in %s, line %d; want %s, line %d", l.Function, l.Line, function, line)
	}
}

func TestFaultEndsAStep(t *testing.T) {
	s := stoppedIn(t, "fault", 0x10)
	stop, err := s.NextLine()
	check(t, stop, err, SteppedOver)
	stop, err = s.NextLine()
	if check(t, stop, err, Signalled).Signal.Address != 0x10 {
		t.Error(stop)
	}
	at(t, s, "load", 7)
	// A resume faults again.
	stop, err = s.StepLine()
	check(t, stop, err, Signalled)
	at(t, s, "load", 7)
}

func TestBreakpointEndsAStep(t *testing.T) {
	s := stoppedIn(t, "depth", 3)
	b, err := s.BreakAt("load", nil)
	if err != nil {
		t.Fatal(err)
	}
	at(t, s, "depth", 54)
	stop, err := s.NextLine()
	check(t, stop, err, SteppedOver)
	at(t, s, "depth", 56)
	stop, err = s.NextLine()
	if check(t, stop, err, AtBreakpoint).Breakpoint != b {
		t.Error(stop)
	}
	at(t, s, "load", 7)
	// Out of a frame in the middle: returns of the same function before it do not count.
	stop, err = s.StepOut(3)
	check(t, stop, err, SteppedOut)
	stack, err := s.Stack(0)
	if err != nil || len(stack.Frames) != 1 {
		t.Errorf("%d frames, %v", len(stack.Frames), err)
	}
	if _, err := s.StepOut(1); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	stop, err = s.StepOut(0)
	if check(t, stop, err, Returned).Result != 3 {
		t.Error(stop)
	}
	if _, err := s.NextLine(); !errors.Is(err, ErrNotStopped) {
		t.Error(err)
	}
}

// The code has not hit a breakpoint that is set where Pop has put it.
func TestBreakpointAfterPop(t *testing.T) {
	s := stoppedIn(t, "depth", 1)
	if _, err := s.BreakAt("load", nil); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Continue()
	check(t, stop, err, AtBreakpoint)
	if err := s.Pop(0); err != nil {
		t.Fatal(err)
	}
	r, err := s.Registers()
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Break(r.PC(), nil)
	if err != nil {
		t.Fatal(err)
	}
	stop, err = s.Continue()
	if check(t, stop, err, AtBreakpoint); stop.Breakpoint != b || stop.PC != r.PC() {
		t.Errorf("%+v, want breakpoint %d at %#x", stop, b.ID, r.PC())
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)
}

// Finish leaves the function around an inlined call, StepOut the call.
func TestFinishAroundAnInlinedCall(t *testing.T) {
	for _, test := range []struct {
		leave func(*Session, int) (*Stop, error)
		want  []string
	}{
		{(*Session).StepOut, []string{"around", "inlining"}},
		{(*Session).Finish, []string{"inlining"}},
	} {
		s := stoppedIn(t, "inlining", 3)
		if _, err := s.BreakAt("stops.c:73", nil); err != nil {
			t.Fatal(err)
		}
		stop, err := s.Continue()
		check(t, stop, err, AtBreakpoint)
		if f, err := s.Frame(); err != nil || len(f.Locations) != 2 || f.Locations[0].Function != "twice" {
			t.Fatal(f, err)
		}
		stop, err = test.leave(s, 0)
		check(t, stop, err, SteppedOut)
		if f, err := s.Frame(); err != nil || len(f.Locations) != 1 || !slices.Equal(names(t, s), test.want) {
			t.Errorf("%+v, %v; %q, want %q", f, err, names(t, s), test.want)
		}
	}
}

func TestInterruptEndsAStep(t *testing.T) {
	for _, tt := range []struct {
		name, function string
		step           func(*Session) (*Stop, error)
	}{
		{"next", "stuck", (*Session).NextLine},
		{"out", "forever", func(s *Session) (*Stop, error) { return s.StepOut(0) }},
	} {
		s := stoppedIn(t, tt.function, 1)
		go func() {
			for s.Interrupt() != nil {
				time.Sleep(time.Millisecond)
			}
		}()
		stop, err := tt.step(s)
		check(t, stop, err, Interrupted)
		f, err := s.Frame()
		if err != nil || f.Locations[0].Function != tt.function && f.Locations[0].Function != "forever" {
			t.Errorf("%s: %+v, %v", tt.name, f, err)
		}
	}
}

// TestJumpOutOfAStep steps over a function that does not return.
func TestJumpOutOfAStep(t *testing.T) {
	s := stoppedIn(t, "jumps", 2)
	for {
		stop, err := s.NextLine()
		if err != nil {
			t.Fatal(err)
		}
		if stop.Reason == Returned {
			if stop.Result != 42 {
				t.Error(stop)
			}
			return
		}
		if stop.Reason != SteppedOver {
			t.Fatal(stop)
		}
	}
}

// TestStepWithoutLines leaves the function.
func TestStepWithoutLines(t *testing.T) {
	code := map[string]struct {
		text       string
		call, back uint64 // offsets of the call and of the instruction after it
	}{
		"amd64": {back: 5, text: `
	.globl bare
	.type bare, @function
bare:	.cfi_startproc
	call 1f
	nop
	ret
	.cfi_endproc
	.size bare, . - bare
1:	.cfi_startproc
	nop
	nop
	ret
	.cfi_endproc
`},
		"arm64": {call: 4, back: 8, text: `
	.globl bare
	.type bare, @function
bare:	.cfi_startproc
	stp x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	bl 1f
	nop
	ldp x29, x30, [sp], 16
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size bare, . - bare
1:	.cfi_startproc
	nop
	nop
	ret
	.cfi_endproc
`},
	}[runtime.GOARCH]
	s := newSession(t, load(t, code.text, "-g0"))
	start := symbol(t, s, "bare")
	stop, err := s.CallWith(start, Arguments{StopAtEntry: true})
	check(t, stop, err, AtEntry)
	for stop.PC != start+code.call {
		stop, err = s.StepInstruction()
		check(t, stop, err, SteppedInstruction)
	}
	stop, err = s.NextInstruction()
	if check(t, stop, err, SteppedOver).PC != start+code.back {
		t.Fatal(stop)
	}
	stop, err = s.StepLine()
	check(t, stop, err, Returned)
}

// generated is a function that calls two others. It has the offsets of its lines 1 to 4 (the
// first instruction, the calls, the rest) and of lines 7 and 8 of inner.
type generated struct {
	text         []byte
	lines        [4]uint64
	inner, bare  uint64
	second, size uint64 // of inner: its second instruction, its end
	// A step enters inner at this line. gdb finds no prologue in the code of some machines, and uses
	// the first line as the prologue on others.
	entry int
	frame func(*cfi.Builder)
}

var generatedCode = map[string]generated{
	"amd64": {
		text: []byte{
			0x90, 0xe8, 0x0a, 0, 0, 0, // outer: nop; call inner
			0xe8, 0x09, 0, 0, 0, // call bare
			0x31, 0xc0, 0xc3, 0xcc, 0xcc, // xor eax, eax; ret
			0x90, 0x90, 0xc3, 0xcc, // inner: nop; nop; ret
			0x90, 0xc3, // bare: nop; ret
		},
		lines: [4]uint64{0, 1, 6, 11}, inner: 16, second: 1, size: 3, bare: 20, entry: 7,
		frame: func(*cfi.Builder) {},
	},
	"arm64": {
		text: words(
			0xa9bf7bfd, 0x94000004, 0x94000006, // outer: stp x29, x30, [sp, -16]!; bl inner; bl bare
			0xa8c17bfd, ret64, // ldp x29, x30, [sp], 16; ret
			0xd503201f, 0xd503201f, ret64, // inner: nop; nop; ret
			0xd503201f, ret64, // bare: nop; ret
		).text,
		lines: [4]uint64{0, 4, 8, 12}, inner: 20, second: 4, size: 12, bare: 32, entry: 8,
		frame: func(b *cfi.Builder) {
			b.At(4).DefCFAOffset(16).Offset(29, -16).Offset(30, -8).At(16).Restore(29).Restore(30).DefCFAOffset(0)
		},
	},
}

// TestStepThroughGeneratedCode steps through lines of a batch of package jit.
func TestStepThroughGeneratedCode(t *testing.T) {
	code := generatedCode[runtime.GOARCH]
	memory, err := jit.NewMemory(len(code.text))
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	copy(memory.Bytes(), code.text)
	if err := memory.Seal(); err != nil {
		t.Fatal(err)
	}
	unwind, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).Program()
	if err != nil {
		t.Fatal(err)
	}
	b := cfi.NewBuilder(cfi.EntryCIE(jit.Host()))
	code.frame(b)
	outer, err := b.Program()
	if err != nil {
		t.Fatal(err)
	}
	line := func(offset uint64, n int) jit.Line { return jit.Line{Offset: offset, File: "words.w", Line: n} }
	i, err := NewImage(&jit.Code{Address: memory.Address(), Text: memory.Bytes()[:len(code.text)], Functions: []jit.Function{
		{Name: "outer", Size: code.inner, Unwind: outer,
			Lines: []jit.Line{line(code.lines[0], 1), line(code.lines[1], 2), line(code.lines[2], 3), line(code.lines[3], 4)}},
		{Name: "inner", Offset: code.inner, Size: code.size, Unwind: unwind, Lines: []jit.Line{line(0, 7), line(code.second, 8)}},
		{Name: "bare", Offset: code.bare, Size: uint64(len(code.text)) - code.bare, Unwind: unwind},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	s, err := New(&Options{Images: []*Image{i}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tt := range []struct {
		step   func(*Session) (*Stop, error)
		reason Reason
		lines  []int
	}{
		{(*Session).StepLine, SteppedLine, slices.Compact([]int{2, code.entry, 8, 3, 4})},
		{(*Session).NextLine, SteppedOver, []int{2, 3, 4}},
	} {
		stop, err := s.CallWith(i.Ranges()[0].Start, Arguments{StopAtEntry: true})
		check(t, stop, err, AtEntry)
		at(t, s, "outer", 1)
		for _, line := range tt.lines {
			stop, err := tt.step(s)
			check(t, stop, err, tt.reason)
			function := "outer"
			if line > 4 {
				function = "inner"
			}
			at(t, s, function, line)
		}
		stop, err = tt.step(s)
		check(t, stop, err, Returned)
	}
}

func BenchmarkStepLine(b *testing.B) {
	s := stoppedIn(b, "calling", 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.StepLine(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNextLine steps over calls too.
func BenchmarkNextLine(b *testing.B) {
	s := stoppedIn(b, "calling", 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.NextLine(); err != nil {
			b.Fatal(err)
		}
	}
}
