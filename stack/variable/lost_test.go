// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot/core"
)

// lostCore compiles lost.c for a machine. It returns the program, its core, and how to open
// the core.
func lostCore(t *testing.T, machine string, flags ...string) (program, path string, opts *core.Options) {
	t.Helper()
	flags = append([]string{"-O2", "-static", "-no-pie"}, flags...)
	if machine == "amd64" {
		program = compile(t, "gcc "+strings.Join(flags, " "), "lost.c")
		return program, testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program), nil
	}
	e := testprogram.Emulations[machine]
	program = compile(t, e.Triplet+"-gcc "+strings.Join(flags, " "), "lost.c")
	path = testprogram.Core(t, testprogram.CoreOptions{Crashes: true, Emulation: &e}, program)
	return program, path, &core.Options{Search: debugfile.Search{Root: e.Root()}, Program: program}
}

// lostMachines write a core natively or in an emulator, and have registers that functions of
// lost.c lose.
var lostMachines = []string{"amd64", "arm64", "s390x", "ppc64le"}

// callChanged is a value that call frame information places in a register that a call may
// change.
var callChanged = difference{
	why: "gdb takes what such a register holds now, which a function further in has set to 21845, for what it held at the call",
	value: func(got, want argument) bool {
		return got.value == "<optimized out>" && want.value == "21845" && got.entry == want.entry
	},
}

// A variable is optimized out if its register is lost by call frame information, is saved
// in another register that is lost, or is one that calls change. A variable that is saved
// in an unchanged register is shown.
func TestLostRegisters(t *testing.T) {
	for _, machine := range lostMachines {
		t.Run(machine, func(t *testing.T) {
			program, path, opts := lostCore(t, machine)
			got := clewShows(t, path, opts)
			compareCores(t, gdbFrames(t, gdbOf(t, "gdb-multiarch", program, path, "backtrace")), got, callChanged)
			var kept []string // n of the frames of keeps, innermost first
			for _, f := range got {
				if f.name == "keeps" {
					list := split(f.arguments)
					kept = append(kept, list[0].value+" "+list[0].entry)
				}
			}
			want := []string{"11 11", "<optimized out> 12", "<optimized out> 13", "<optimized out> 14", "15 15"}
			if !slices.Equal(kept, want) {
				t.Errorf("n is %q, expected %q", kept, want)
			}
		})
	}
}

// Nothing is read at a frame base in a lost register. gdb fails, and does not even show
// the frame.
func TestLostFrameBase(t *testing.T) {
	for _, machine := range lostMachines {
		t.Run(machine, func(t *testing.T) {
			program, path, opts := lostCore(t, machine, "-DFRAME")
			if text := gdbOf(t, "gdb-multiarch", program, path, "backtrace"); !strings.Contains(text, "\nvalue has been optimized out\n") {
				t.Errorf("gdb does not fail:\n%s", text)
			}
			got := clewShows(t, path, opts)
			if last := got[len(got)-1]; last.name != "framed" || last.arguments != "n=<optimized out>" {
				t.Errorf("the last frame is %v, expected framed (n=<optimized out>)", last)
			}
		})
	}
}

// A vector register that call frame information calls lost is lost, even if the caller knows
// that the function does not change it.
func TestLostVectorRegister(t *testing.T) {
	program, path, opts := lostCore(t, "amd64", "-DVECTOR")
	entry := difference{
		why: "gdb shows why it has no value at the entry, which is in the same register of the caller",
		value: func(got, want argument) bool {
			return got.value == want.value && strings.HasPrefix(want.entry, "<error")
		},
	}
	got := clewShows(t, path, opts)
	compareCores(t, gdbFrames(t, gdbOf(t, "gdb", program, path, "backtrace")), got, entry)
	if got[1].name != "vectors" || !strings.HasSuffix(got[1].arguments, "c=c@entry=3.5, d=<optimized out>") {
		t.Errorf("%v, expected d=<optimized out>", got[1])
	}
}

// Floating-point numbers in registers that the called functions saved equal gdb's, also if the
// register is wider: on s390x they are at its other end, on ppc64le in another format.
func TestSavedFloatRegisters(t *testing.T) {
	unavailable := difference{
		why:   "qemu's cores have no floating-point registers: gdb calls them unavailable",
		value: func(got, want argument) bool { return got.value == "<optimized out>" && want.value == "<unavailable>" },
	}
	for _, machine := range lostMachines {
		t.Run(machine, func(t *testing.T) {
			program, path, opts := lostCore(t, machine, "-DFLOATS")
			got := clewShows(t, path, opts)
			compareCores(t, gdbFrames(t, gdbOf(t, "gdb-multiarch", program, path, "backtrace")), got, unavailable)
			k := slices.IndexFunc(got, func(f shown) bool { return f.name == "keeps_floats" })
			if k < 0 {
				t.Fatalf("keeps_floats is missing: %v", got)
			}
			if list := split(got[k].arguments); list[0].value != "1.25" || list[1].value != "2.5" {
				t.Errorf("%v (%s), expected a=1.25 and b=2.5", got[k], filepath.Base(program))
			}
		})
	}
}
