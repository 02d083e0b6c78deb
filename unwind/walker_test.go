// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// The code of the tests is [0x1000, 0x9000) of one module with bias 0, the
// stack is at 0x70000.
const stackAt = 0x70000

type walkTest struct {
	name      string
	machine   *arch.Machine
	section   func(t *testing.T) *cfi.Section
	memory    memory
	pc        uint64
	registers map[uint64]uint64
	frames    []string
	reason    unwind.Reason
	message   string            // of Err; "": nil
	last      map[uint64]uint64 // registers of the last frame
	unknown   []uint64          // registers that the last frame does not know
}

// ruleTests follow the rules of call frame information.
var ruleTests = []walkTest{
	{
		name: "x86-64: three functions to the outermost", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", // CFA = rsp+8, rip at CFA-8
				function{0x1000, 0x1100, "0e20 8302"},      // rbx at CFA-16
				function{0x2000, 0x2100, "0e10 8602 0d06"}, // rbp at CFA-16, CFA = rbp+16
				function{0x3000, 0x3100, "0710"})           // rip undefined
		},
		memory: memory{stackAt: words(x86, 0, 0, 0x33, 0x2050, 1, 2, 0x77000, 0x3050)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x30, 3: 0xbad, 12: 12, 0: 0xaa},
		frames: []string{"1050 registers", "2050 CFI", "3050 CFI"}, reason: unwind.EndOfStack,
		last:    map[uint64]uint64{7: stackAt + 0x40, 6: 0x77000, 3: 0x33, 12: 12, 16: 0x3050},
		unknown: []uint64{0, 1, 2},
	},
	{
		// The copy of the stack begins at the stack pointer.
		name: "x86-64: the frame pointer was popped, and its slot cannot be read", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001 8602", // CFA = rsp+8, rip at CFA-8, rbp at CFA-16
				function{0x1000, 0x1100, ""},
				function{0x2000, 0x2100, "0d06 0e10"}, // CFA = rbp+16
				function{0x3000, 0x3100, "0710"})
		},
		memory: memory{stackAt: words(x86, 0x2050, 0, 0x77000, 0x3050), 0x1050: []byte{0xc3, 0, 0, 0, 0, 0, 0, 0}}, // ret
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x10},
		frames: []string{"1050 registers", "2050 CFI", "3050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{7: stackAt + 0x20, 6: 0x77000},
	},
	{
		name: "x86-64: the frame pointer was changed, and its slot cannot be read", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001 8602",
				function{0x1000, 0x1100, ""},
				function{0x2000, 0x2100, "0d06 0e10"})
		},
		memory: memory{stackAt: words(x86, 0x2050, 0, 0x77000, 0x3050), 0x1050: []byte{0x31, 0xed, 0xc3, 0, 0, 0, 0, 0}}, // xor %ebp,%ebp; ret
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x10},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.NoRule, message: "rbp",
	},
	{
		name: "a return address of zero is the end", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}) },
		memory:  memory{stackAt: words(x86, 0)},
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.EndOfStack,
	},
	{
		name: "the look-up of a call uses its last byte", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""},
				function{0x2000, 0x2100, "0e10"}, // ends with the call
				function{0x2100, 0x2200, "0e80 01"})
		},
		memory: memory{stackAt: words(x86, 0x2100, 0, 0)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers", "2100 CFI"}, reason: unwind.EndOfStack,
	},
	{
		name: "gcc's realigned stack: CFA = *(rbp-16)", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001",
				function{0x1000, 0x1100, "0f03 7670 06 1006 02 7600"}, // rbp at rbp+0
				function{0x2000, 0x2100, "0710"})
		},
		memory: memory{stackAt: words(x86, 0, 0, 0, 0, stackAt+0x70, 0, 0x55, 0, 0, 0, 0, 0, 0, 0x2050)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 0x30},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
		last: map[uint64]uint64{6: 0x55, 7: stackAt + 0x70},
	},
	{
		name: "every kind of rule", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001",
				// r3 = r12, r6 = CFA-16, r12 = *(CFA+8), r13 same, r14 undefined, r15 = CFA+1
				function{0x1000, 0x1100, "09030c 140602 100c022308 080d 070e 160f022301 2e10"},
				function{0x2000, 0x2100, "0710"})
		},
		memory: memory{stackAt: words(x86, 0x2050, 1, 0xcc)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 12: 0x12, 13: 0x13, 14: 0x14},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.EndOfStack,
		last:    map[uint64]uint64{3: 0x12, 6: stackAt - 8, 12: 0xcc, 13: 0x13, 15: stackAt + 9},
		unknown: []uint64{14},
	},
	{
		name: "the PLT's expression reads the program counter", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0f0b 7708 8000 3f1a3b2a3324 22"},
				function{0x2000, 0x2100, "0710"})
		},
		memory: memory{stackAt: words(x86, 7, 0x2050)},
		pc:     0x100b, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"100b registers", "2050 CFI"}, reason: unwind.EndOfStack,
	},
	{
		name: "no rules and no frame pointer", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "0c0708 9001") },
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt, 6: 3},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "rbp holds no frame pointer (0x3, stack pointer 0x70000)",
	},
	{
		name: "a CFA from a register that is lost", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}, function{0x2000, 0x2100, "0c0008"})
		},
		memory: memory{stackAt: words(x86, 0x2050, 0)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 0: stackAt},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.NoRule, message: "rax is not known",
	},
	{
		name: "no CFA", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "9001", function{0x1000, 0x1100, ""}) },
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "the table does not define it",
	},
	{
		name: "no rule for the return address", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "0c0708", function{0x1000, 0x1100, ""}) },
		memory:  memory{stackAt: words(x86, 0x2050)},
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "no rule for the return address",
	},
	{
		name: "a stack that cannot be read", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}, function{0x2000, 0x2100, "0e10"})
		},
		memory: memory{stackAt: words(x86, 0x2050)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers", "2050 CFI"}, reason: unwind.UnreadableMemory, message: "cannot read 0x70010",
	},
	{
		name: "an expression that cannot read", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0f03 7670 06"})
		},
		pc: 0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.UnreadableMemory, message: "cannot read 0x6fff0",
	},
	{
		name: "an expression that loops", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0f03 2ffdff"})
		},
		pc: 0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.NoRule, message: "steps",
	},
	{
		name: "a frame that leads to itself", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0700 1610 03 0a5010", function{0x1000, 0x1100, ""})
		},
		pc: 0x1050, registers: map[uint64]uint64{7: stackAt},
		frames: []string{"1050 registers"}, reason: unwind.NoProgress, message: "leads to itself",
	},
	{
		name: "a frame that leads down the stack", machine: x86,
		section: func(t *testing.T) *cfi.Section {
			return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0c0610"})
		},
		memory: memory{stackAt - 64: words(x86, 0, 0x2050, 0)},
		pc:     0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt - 64},
		frames: []string{"1050 registers"}, reason: unwind.NoProgress, message: "back to 0x6ffd0",
	},
	{
		name: "a return address that is not code", machine: x86,
		section: func(t *testing.T) *cfi.Section { return build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}) },
		memory:  memory{stackAt: words(x86, 0xdead0000, 0, 0, 0)},
		pc:      0x1050, registers: map[uint64]uint64{7: stackAt, 6: stackAt + 16},
		frames: []string{"1050 registers", "dead0000 CFI"}, reason: unwind.NoRule, message: "is not code",
	},
}

func TestWalk(t *testing.T) {
	for _, test := range slices.Concat(ruleTests, signalTests, switchTests, machineTests) {
		t.Run(test.name, func(t *testing.T) {
			s := test.section(t)
			for kind, source := range map[string]unwind.Source{
				"a table":  unwind.Compile(s),
				"sections": &unwind.Sections{EHFrame: s},
			} {
				var modules unwind.Modules
				modules.Add(0x1000, 0x9000, &unwind.Module{Name: "program", Source: source})
				w := &unwind.Walker{Machine: test.machine, Modules: &modules, Memory: test.memory}
				r := registers(test.pc, test.registers)
				got, reason := walk(w, r)
				if test.frames != nil && !slices.Equal(got, test.frames) || reason != test.reason {
					t.Fatalf("%s: %q, %v (%v)\nwant %q, %v", kind, got, reason, w.Err(), test.frames, test.reason)
				}
				if err := w.Err(); (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
					t.Errorf("%s: %v, want %q", kind, err, test.message)
				}
				var last unwind.Registers
				for f := range w.Walk(r) {
					last = *f.Registers
				}
				for c, want := range test.last {
					if v, ok := last.Get(c); !ok || v != want {
						t.Errorf("%s: %s is %#x, %v; want %#x", kind, test.machine.RegisterName(c), v, ok, want)
					}
				}
				for _, c := range test.unknown {
					if v, ok := last.Get(c); ok {
						t.Errorf("%s: %s is %#x, and should not be known", kind, test.machine.RegisterName(c), v)
					}
				}
			}
		})
	}
}

// recursion returns a thread in a function that called itself n times, and its walker.
func recursion(tb testing.TB, n int) (*unwind.Walker, *unwind.Registers) {
	s := build(tb, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0e10 8602"}, function{0x2000, 0x2100, "0710"})
	var stack []uint64
	for i := range n {
		stack = append(stack, uint64(i), 0x1050)
	}
	stack[len(stack)-1] = 0x2050
	var modules unwind.Modules
	modules.Add(0x1000, 0x9000, &unwind.Module{Name: "program", Source: unwind.Compile(s)})
	w := &unwind.Walker{Machine: x86, Modules: &modules, Memory: flat(words(x86, stack...))}
	return w, registers(0x1050, map[uint64]uint64{7: stackAt})
}

// flat is a stack at stackAt.
type flat []byte

func (m flat) ReadMemory(p []byte, addr uint64) error {
	if off := addr - stackAt; off > uint64(len(m)) || uint64(len(p)) > uint64(len(m))-off {
		return errors.New("not part of the stack")
	}
	copy(p, m[addr-stackAt:])
	return nil
}

func TestMaxFrames(t *testing.T) {
	w, r := recursion(t, 10)
	for most, want := range map[int]unwind.Reason{
		0: unwind.EndOfStack, 12: unwind.EndOfStack, 11: unwind.EndOfStack, 10: unwind.TooManyFrames, 1: unwind.TooManyFrames,
	} {
		w.MaxFrames = most
		frames, reason := walk(w, r)
		if n := len(frames); reason != want || most > 0 && n > most || reason == unwind.EndOfStack && n != 11 {
			t.Errorf("at most %d: %d frames, %v, %v", most, n, reason, w.Err())
		}
	}
	w.MaxFrames = 0
	for range w.Walk(r) {
		break // the walk ends with the loop
	}
}

// A walk through endless frames with an expression of many steps for each register ends long
// before MaxFrames.
func TestMaxWork(t *testing.T) {
	// 5000 times around: lit, dup, minus 1, branch; r3 to r6 by it.
	loop := "0a8813 1231 1c 12 28 faff"
	program := "0e08"
	for _, column := range []string{"03", "06", "0c", "0d"} {
		program += "16" + column + "0a" + loop
	}
	s := build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, program})
	var modules unwind.Modules
	modules.Add(0x1000, 0x9000, &unwind.Module{Name: "program", Source: unwind.Compile(s)})
	w := &unwind.Walker{Machine: x86, Modules: &modules, Memory: endless{}}
	for range 2 {
		frames, reason := walk(w, registers(0x1050, map[uint64]uint64{7: stackAt}))
		if n := len(frames); reason != unwind.TooManyFrames || n < 100 || n > 10000 || !strings.Contains(w.Err().Error(), "steps") {
			t.Errorf("%d frames, %v, %v", n, reason, w.Err())
		}
	}
}

// endless is a stack of return addresses to one function.
type endless struct{}

func (endless) ReadMemory(p []byte, _ uint64) error {
	clear(p)
	copy(p, []byte{0x50, 0x10})
	return nil
}

func TestWalkDoesNotAllocate(t *testing.T) {
	w, r := recursion(t, 100)
	frames := 0
	if n := testing.AllocsPerRun(20, func() {
		frames = 0
		for range w.Walk(r) {
			frames++
		}
	}); n != 0 || frames != 101 {
		t.Errorf("%v allocations for %d frames", n, frames)
	}
	var trail unwind.Trail
	r.Set(6, 1)
	deeper := *r
	deeper.PC, frames = 0x1051, 0
	w.Stack = unwind.Stack{Address: stackAt, Bytes: w.Memory.(flat)}
	w.Follow(&trail, &deeper)
	w.Follow(&trail, r)
	if n := testing.AllocsPerRun(20, func() {
		w.Follow(&trail, &deeper)
		w.Follow(&trail, r)
		frames += trail.Kept()
	}); n != 0 || trail.Len() != 101 || frames != 21*100 {
		t.Errorf("%v allocations for %d frames, of which %d were kept", n, trail.Len(), frames)
	}
}

func TestModules(t *testing.T) {
	var m unwind.Modules
	loads := 0
	lazy := &unwind.Module{Name: "lazy"}
	lazy.Load = func(m *unwind.Module) {
		loads++
		m.Bias = 0x3000
		m.Source = unwind.Compile(build(t, x86, "", "0c0708 9001", function{0x0, 0x100, "0710"}))
	}
	m.Add(0x3000, 0x4000, lazy)
	m.Add(0x1000, 0x2000, nil)
	other := &unwind.Module{Name: "other"}
	m.Add(0x2000, 0x3000, other)
	for pc, want := range map[uint64]*unwind.Module{0x1000: nil, 0x1fff: nil, 0x2000: other, 0x2fff: other, 0x3000: lazy, 0x3fff: lazy} {
		for range 2 {
			if got, executable := m.Find(pc); got != want || !executable {
				t.Errorf("%#x: %v, %v", pc, got, executable)
			}
		}
	}
	for _, pc := range []uint64{0, 0xfff, 0x4000, 1<<64 - 1} {
		if got, executable := m.Find(pc); got != nil || executable {
			t.Errorf("%#x: %v, %v", pc, got, executable)
		}
	}
	w := &unwind.Walker{Machine: x86, Modules: &m, Memory: memory{}}
	for range 2 {
		if frames, reason := walk(w, registers(0x3050, map[uint64]uint64{7: stackAt})); reason != unwind.EndOfStack || loads != 1 {
			t.Errorf("%q, %v, loaded %d times", frames, reason, loads)
		}
	}
	for pc, want := range map[uint64]string{0x1050: "belongs to no module", 0x2050: "other has no call frame information"} {
		walk(w, registers(pc, map[uint64]uint64{7: stackAt, 6: 1}))
		if err := w.Err(); !errors.Is(err, cfi.ErrNoFDE) || !strings.Contains(err.Error(), want) {
			t.Errorf("%#x: %v, want %q", pc, err, want)
		}
	}
}

// A new range replaces the parts of others that it covers, as mappings do.
func TestModulesChange(t *testing.T) {
	a, b, c := &unwind.Module{Name: "a"}, &unwind.Module{Name: "b"}, &unwind.Module{Name: "c"}
	var m unwind.Modules
	check := func(want string) {
		t.Helper()
		got := ""
		for pc := uint64(0); pc < 0x100; pc += 0x10 {
			for _, at := range []uint64{pc, pc + 15} {
				if module, executable := m.Find(at); executable {
					got += module.Name
				} else {
					got += "."
				}
			}
		}
		if got != want {
			t.Errorf("the ranges are %s, want %s", got, want)
		}
	}
	m.Add(0x20, 0x80, a)
	check("....aaaaaaaaaaaa................")
	m.Add(0x40, 0x50, b)
	check("....aaaabbaaaaaa................")
	m.Add(0x10, 0x30, c)
	check("..ccccaabbaaaaaa................")
	m.Add(0xf0, 0x100, c)
	m.Remove(0x70, 0xf8)
	check("..ccccaabbaaaa.................c")
	m.Remove(0x48, 0x48)
	m.Add(0x48, 0x48, c)
	m.Remove(0x50, 0x48)
	check("..ccccaabbaaaa.................c")
	m.Add(0, 0x100, a)
	check("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	m.Remove(0, 1<<64-1)
	check("................................")
}

// A walker forgets facts about addresses after modules were changed or replaced.
func TestWalkAfterChange(t *testing.T) {
	s := build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0710"})
	w := &unwind.Walker{Machine: x86, Modules: new(unwind.Modules), Memory: memory{}}
	var trail unwind.Trail
	expect := func(want unwind.Reason) {
		t.Helper()
		r := registers(0x1050, map[uint64]uint64{7: stackAt, 6: 0})
		if _, reason := walk(w, r); reason != want {
			t.Errorf("the walk ended for %v, want %v", reason, want)
		}
		if w.Follow(&trail, r); w.Reason() != want {
			t.Errorf("along the trail the walk ended for %v, want %v", w.Reason(), want)
		}
	}
	m := &unwind.Module{Name: "program"}
	w.Modules.Add(0x1000, 0x2000, m)
	expect(unwind.NoRule)
	m.Source = unwind.Compile(s)
	w.Modules.Changed()
	expect(unwind.EndOfStack)
	*w.Modules = unwind.Modules{}
	w.Modules.Add(0x1000, 0x2000, nil)
	expect(unwind.NoRule)
	w.Modules.Add(0x1000, 0x2000, m)
	expect(unwind.EndOfStack)
	w.Modules.Remove(0x1000, 0x2000)
	expect(unwind.NoRule)
}

func TestRegisters(t *testing.T) {
	var r unwind.Registers
	r.Set(127, 1)
	r.Set(128, 2)
	r.Set(1<<63, 3)
	r.Forget(1 << 63)
	if v, ok := r.Get(127); v != 1 || !ok {
		t.Errorf("column 127 is %d, %v", v, ok)
	}
	for _, c := range []uint64{0, 126, 128, 1 << 63} {
		if v, ok := r.Get(c); ok {
			t.Errorf("column %d is %d", c, v)
		}
	}
	if r.Forget(127); r != (unwind.Registers{}) {
		if _, ok := r.Get(127); ok {
			t.Error("column 127 is still known")
		}
	}
}

func TestStrings(t *testing.T) {
	var got []string
	for m := unwind.FromRegisters; m <= unwind.FromCode+1; m++ {
		got = append(got, m.String())
	}
	for r := unwind.EndOfStack; r <= unwind.CallersMissing+1; r++ {
		got = append(got, r.String())
	}
	want := "registers, CFI, frame pointer, signal context, bad call, return address, back chain, code, Method(8), " +
		"end of stack, no rule, unreadable memory, no progress, too many frames, " +
		"call chain, stack copy cut, no stack, callers may be missing, Reason(9)"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}
