// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package coderules_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/check/coderules"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/unwind"
)

// build builds a program in a folder of its own.
func build(t testing.TB, compiler string, args ...string) string {
	t.Helper()
	testprogram.RequireTool(t, compiler)
	path := filepath.Join(t.TempDir(), "program")
	command := exec.Command(compiler, append(args, "-o", path)...)
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, text)
	}
	return path
}

// called is a function that was called and has not returned.
type called struct {
	returns, sp uint64                // of its caller after the return
	caller      unwind.FrameRegisters // at the call
}

// shadow is the stack of an execution: calls are frames, and returns end them.
type shadow struct {
	p      *stacktest.Stepped
	frames []called // outermost first
	pc, sp uint64   // of the previous instruction
}

// preserved are the columns of rbx, rbp and r12 to r15.
var preserved = []uint64{3, 6, 12, 13, 14, 15}

func (s *shadow) word(t *testing.T, address uint64) (v uint64) {
	var b [8]byte
	if err := s.p.Memory.ReadMemory(b[:], address); err != nil {
		t.Fatal(err)
	}
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

// isCall reports whether the instruction at an address is a call.
func (s *shadow) isCall(t *testing.T, pc uint64) bool {
	var code [8]byte
	if err := s.p.Memory.ReadMemory(code[:], pc); err != nil {
		t.Fatal(err)
	}
	for i, b := range code[:6] {
		switch {
		case b == 0x3e || b == 0xf2 || b&0xf0 == 0x40: // notrack, bnd, REX
			continue
		case b == 0xff:
			return code[i+1]>>3&7 == 2
		}
		return b == 0xe8
	}
	return false
}

// step follows an instruction, given the registers after it.
func (s *shadow) step(t *testing.T, r *unwind.Registers) {
	sp, _ := r.Get(7)
	if s.pc == 0 || sp == s.sp-8 && s.isCall(t, s.pc) {
		s.frames = append(s.frames, called{s.word(t, sp), sp + 8, r.Kept()})
	}
	for n := len(s.frames); n > 0 && sp >= s.frames[n-1].sp; n-- {
		s.frames = s.frames[:n-1] // also those that longjmp leaves
	}
	s.pc, s.sp = r.PC, sp
}

// compare walks the stack and compares it with the true one. It returns how many callers it
// found by analysis.
func (s *shadow) compare(t *testing.T, w *unwind.Walker, r *unwind.Registers) (byCode, missing int, err error) {
	n := len(s.frames)
	for f := range w.Walk(r) {
		if f.Method == unwind.FromRegisters {
			continue
		}
		n--
		want := &s.frames[n]
		sp, _ := f.Registers.Get(7)
		if f.PC != want.returns || sp != want.sp {
			return byCode, 0, fmt.Errorf("frame %d by %v is at %#x with sp %#x, expected %#x and %#x", len(s.frames)-n, f.Method, f.PC, sp, want.returns, want.sp)
		}
		for _, column := range preserved {
			v, known := f.Registers.Get(column)
			if truth, _ := want.caller.Get(column); known && v != truth {
				return byCode, 0, fmt.Errorf("frame %d by %v has %#x in column %d, expected %#x", len(s.frames)-n, f.Method, v, column, truth)
			}
		}
		if f.Gap {
			return byCode, 0, fmt.Errorf("frame %d has a gap before it", len(s.frames)-n)
		}
		if f.Method == unwind.FromCode {
			byCode++
		}
		if n == 0 {
			return byCode, 0, nil // the caller of main
		}
	}
	return byCode, n, w.Err()
}

// At each instruction of a program, the stack through functions without call frame information
// is the true one up to main's caller, or it ends early with a reason.
func TestEveryInstruction(t *testing.T) {
	bare := []string{"-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-no-pie"}
	tests := []struct {
		compiler, source string
		flags            []string
		most             int // instructions with an early end, of 1000
	}{
		{"gcc", "testdata/frames.c", []string{"testdata/frames_amd64.s", "-O2", "-no-pie"}, 0},
		{"gcc", "testdata/frames.c", []string{"testdata/frames_amd64.s", "-O1", "-no-pie", "-fno-omit-frame-pointer"}, 0},
		{"gcc", "testdata/frames.c", append(bare, "testdata/frames_amd64.s", "-O1", "-fomit-frame-pointer"), 0},
		{"musl-gcc", "testdata/sorts.c", append(bare, "-O2", "-static"), 0},
		{"musl-gcc", "testdata/sorts.c", append(bare, "-Os", "-static", "-fcf-protection=full"), 0},
		{"gcc", "testdata/sorts.c", append(bare, "-O0"), 0},
		{"clang", "testdata/sorts.c", append(bare, "-O2", "-fomit-frame-pointer"), 0},
	}
	for _, test := range sample.Of(t, tests, 3) {
		t.Run(fmt.Sprint(test.compiler, test.source, test.flags), func(t *testing.T) {
			p := stacktest.Step(t, build(t, test.compiler, append(test.flags, test.source)...))
			p.Objects.Analyzer = new(coderules.Analyzer)
			w := &unwind.Walker{Machine: p.Objects.Snapshot().Machine, Modules: &p.Objects.Modules, Memory: p.Memory}
			s := shadow{p: p}
			instructions, analysed, early, failures := 0, 0, 0, 0
			p.States(func(r *unwind.Registers) bool {
				s.step(t, r)
				if len(s.frames) == 0 {
					return false // main has returned
				}
				instructions++
				byCode, missing, err := s.compare(t, w, r)
				module, _ := p.Objects.Modules.Find(r.PC)
				switch {
				case missing > 0:
					if early++; early < 20 {
						t.Logf("at %s+%#x the stack ends %d frames early: %v", module.Name, r.PC-module.Bias, missing, err)
					}
				case err != nil:
					if failures++; failures < 20 {
						t.Errorf("at %s+%#x: %v", module.Name, r.PC-module.Bias, err)
					}
				}
				analysed += min(byCode, 1)
				return true
			})
			t.Logf("%d instructions: %d stacks with frames by analysis, %d end early", instructions, analysed, early)
			if failures > 0 || early*1000 > instructions*test.most || analysed < instructions/10 {
				t.Errorf("%d stacks are wrong", failures)
			}
		})
	}
}
