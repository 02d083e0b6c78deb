// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace_test

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/outputtest"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// someStacks returns stacks with every kind of frame.
func someStacks() *trace.Threads {
	machine := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	libc := &stack.Object{Name: "/lib/libc.so.6"}
	bare := &stack.Object{Name: "/opt/server", Bare: true, Go: true}
	replaced := &stack.Object{Name: "/opt/old", Loaded: true}
	registers := new(unwind.Registers)
	registers.Set(3, 0x10) // rbx
	registers.Set(7, 0x7ffe0000)
	registers.Set(16, 0x1139)
	registers.Set(49, 0x246) // rflags
	registers.Set(50, 0)     // es
	function := func(address uint64, name string) object.Symbol {
		return object.Symbol{Name: name, Address: address, Size: 0x100, Type: elf.STT_FUNC}
	}
	code := func(o *stack.Object, address uint64, symbol object.Symbol, locations ...object.Location) stack.Code {
		return stack.Code{Object: o, Address: address, Symbol: symbol, Locations: locations}
	}
	return &trace.Threads{Target: trace.Target{PID: 42, Command: "server \x1b[2J", Machine: machine, Pause: 1234567 * time.Nanosecond}, Stacks: []stack.Stack{
		{
			Thread: &snapshot.Thread{ID: 42, Name: "server"},
			Frames: []stack.Frame{
				{PC: 0x7f0000001010, LookupPC: 0x7f0000001010, SP: 0x7ffe0000, Interrupted: true, Registers: registers.Kept(),
					Code: code(libc, 0x1010, function(0x1000, "read@@GLIBC_2.2.5"), object.Location{Function: "__GI___libc_read", File: "io/read.c", Line: 26})},
				{PC: 0x7f0000002000, LookupPC: 0x7f0000002000, SP: 0x7ffe0010, Method: unwind.FromCFI,
					Trampoline: true, Code: code(libc, 0x2000, function(0x2000, "__restore_rt"))},
				{PC: 0, SP: 0x7ffe0020, Method: unwind.FromSignal, Interrupted: true},
				{PC: 0x401020, LookupPC: 0x40101f, SP: 0x7ffe0028, Method: unwind.FromCall,
					Code: code(bare, 0x40101f, function(0x401000, "_ZN1a1bILi3EEEvv"),
						object.Location{Function: "_ZN1a1cEv", File: "/src/a.cc", Line: 7, Inlined: true},
						object.Location{Function: "_ZN1a1bILi3EEEvv", File: "/src/a.cc", Line: 19})},
				{PC: 0x401220, LookupPC: 0x40121f, Method: unwind.FromCFI, TailCall: true,
					Code: code(bare, 0x40121f, function(0x401200, "tail"), object.Location{Function: "tail", File: "/src/a.cc", Line: 30})},
				{PC: 0x401120, LookupPC: 0x40111f, SP: 0x7ffe0038, Method: unwind.FromFramePointer,
					Late: true, Code: code(bare, 0x40111f, function(0x401100, "runtime.asmcgocall.abi0"))},
				{PC: 0x501120, LookupPC: 0x50111f, SP: 0x7ffe0048, Method: unwind.FromFramePointer,
					Code: code(replaced, 0x111f, function(0x1100, "puts@plt"))},
			},
			Reason: unwind.UnreadableMemory,
			Err:    errors.New("cannot read 0x8"),
		},
		{Thread: &snapshot.Thread{ID: 43, Name: "stuck"}, Reason: unwind.NoRule, Err: errors.New("thread 43 did not stop within 100ms")},
	}}
}

func TestStacksText(t *testing.T) {
	var out bytes.Buffer
	all := someStacks()
	all.Registers = true
	if err := all.Text(&out, trace.Options{}); err != nil {
		t.Fatal(err)
	}
	outputtest.Golden(t, "stacks.text", out.Bytes(), *update)
	out.Reset()
	if err := someStacks().Text(&out, trace.Options{Palette: style.Colors()}); err != nil {
		t.Fatal(err)
	}
	outputtest.Golden(t, "stacks.colour", out.Bytes(), *update)
}

func TestStacksJSON(t *testing.T) {
	var out, indented bytes.Buffer
	all := someStacks()
	all.Registers = true
	if err := all.JSON(&out); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 1 {
		t.Errorf("%d lines", n)
	}
	if err := json.Indent(&indented, out.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	outputtest.Golden(t, "stacks.json", indented.Bytes(), *update)
}

func TestFunctionName(t *testing.T) {
	for symbol, want := range map[string]string{
		"main":                           "main",
		"__libc_start_main@@GLIBC_2.34":  "__libc_start_main",
		"clock_nanosleep@GLIBC_2.2.5":    "clock_nanosleep",
		"puts@plt":                       "puts@plt",
		"runtime.futex.abi0":             "runtime.futex",
		"main.(*T).Read":                 "main.(*T).Read",
		"_ZN10exceptions7guardedEb.cold": "exceptions::guarded(bool) [clone .cold]",
		"_ZNSolsEi@@GLIBCXX_3.4":         "std::ostream::operator<<(int)",
		"parse.part.0":                   "parse.part.0",
		"":                               "??",
	} {
		if got := trace.FunctionName(&stack.Frame{Code: stack.Code{Symbol: object.Symbol{Name: symbol}}}); got != want {
			t.Errorf("%q is shown as %q, expected %q", symbol, got, want)
		}
	}
	inSource := &stack.Frame{Code: stack.Code{Locations: []object.Location{{Function: "inner", Inlined: true}, {Function: "outer"}}}}
	if got := trace.FunctionName(inSource); got != "outer" {
		t.Errorf("without a symbol: %q", got)
	}
	if got := trace.FunctionName(&stack.Frame{Trampoline: true, Code: stack.Code{Symbol: object.Symbol{Name: "__restore_rt"}}}); got != "<signal handler called>" {
		t.Errorf("a trampoline is shown as %q", got)
	}
}
