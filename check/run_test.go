// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package check_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
)

// A function that saves a register, changes it, and restores it.
var saves = map[string]struct {
	code []byte
	// The rules, with what a test changes: the offset after the store of the register,
	// and where it is saved.
	rules func(b *cfi.Builder, after uint64, slot int64)
	after uint64
	slot  int64
	name  string // of the register
}{
	"amd64": {
		code: []byte{
			0x53,             // 0: push rbx
			0x48, 0x89, 0xfb, // 1: mov rbx, rdi
			0x48, 0x8d, 0x04, 0x1b, // 4: lea rax, [rbx+rbx]
			0x5b, // 8: pop rbx
			0xc3, // 9: ret
		},
		rules: func(b *cfi.Builder, after uint64, slot int64) {
			b.At(after).DefCFAOffset(16).Offset(3, slot).At(9).DefCFAOffset(8).Restore(3)
		},
		after: 1, slot: -16, name: "rbx",
	},
	"arm64": {
		code: []byte{
			0xfd, 0x7b, 0xbe, 0xa9, // 0: stp x29, x30, [sp, #-32]!
			0xf3, 0x0b, 0x00, 0xf9, // 4: str x19, [sp, #16]
			0xf3, 0x03, 0x00, 0xaa, // 8: mov x19, x0
			0x60, 0x02, 0x13, 0x8b, // 12: add x0, x19, x19
			0xf3, 0x0b, 0x40, 0xf9, // 16: ldr x19, [sp, #16]
			0xfd, 0x7b, 0xc2, 0xa8, // 20: ldp x29, x30, [sp], #32
			0xc0, 0x03, 0x5f, 0xd6, // 24: ret
		},
		rules: func(b *cfi.Builder, after uint64, slot int64) {
			b.At(after).DefCFAOffset(32).Offset(29, -32).Offset(30, -24)
			b.At(after+4).Offset(19, slot).At(24).DefCFAOffset(0).Restore(29).Restore(30).Restore(19)
		},
		after: 4, slot: -16, name: "x19",
	},
}

// load puts code into memory with its rules.
func load(t testing.TB, code []byte, unwind *cfi.Program) *jit.Code {
	t.Helper()
	memory, err := jit.NewMemory(len(code))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { memory.Close() })
	copy(memory.Bytes(), code)
	if err := memory.Seal(); err != nil {
		t.Fatal(err)
	}
	return &jit.Code{
		Name: "test", Address: memory.Address(), Text: memory.Bytes()[:len(code)],
		Functions: []jit.Function{{Name: "double", Size: uint64(len(code)), Unwind: unwind}},
	}
}

func double(t testing.TB, after uint64, slot int64) *jit.Code {
	f := saves[runtime.GOARCH]
	b := cfi.NewBuilder(cfi.EntryCIE(jit.Host()))
	f.rules(b, after, slot)
	program, err := b.Program()
	if err != nil {
		t.Fatal(err)
	}
	return load(t, f.code, program)
}

// A recorder is a test that fails without ending.
type recorder struct{ errors []string }

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// require skips a test where the system does not allow sessions.
func require(t testing.TB) {
	t.Helper()
	s, err := session.New(&session.Options{})
	if errors.Is(err, session.ErrPermission) {
		t.Skipf("skipped: %v", err)
	}
	if err == nil {
		s.Close()
	}
}

// A right table agrees at every instruction.
func TestRun(t *testing.T) {
	require(t)
	f := saves[runtime.GOARCH]
	result := check.Run(t, double(t, f.after, f.slot), 21)
	if result.Instructions == 0 || result.Agree != result.Instructions {
		t.Errorf("%+v", result)
	}
}

// A wrong table is reported at the instruction where it becomes wrong, with the rule, the
// true value and the one that the table gives.
func TestRunFindsWrongTables(t *testing.T) {
	require(t)
	f := saves[runtime.GOARCH]
	late := f.after + map[string]uint64{"amd64": 3, "arm64": 4}[runtime.GOARCH] // the next instruction
	for _, test := range []struct {
		name  string
		after uint64
		slot  int64
		want  []string // of the first mismatch
	}{
		{"late", late, f.slot, []string{fmt.Sprintf("double+%#x: the table is wrong about the CFA", f.after)}},
		{"early", 0, f.slot, []string{"double+0x0: the table is wrong about the CFA"}},
		{"slot", f.after, f.slot + 8, []string{"the table is wrong about the caller's " + f.name, fmt.Sprintf("rule:     saved at CFA%+d", f.slot+8), "expected: 0x", "found:    0x", "=> "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r recorder
			result := check.Run(&r, double(t, test.after, test.slot), 21)
			if len(r.errors) == 0 || result.Disagree == 0 || result.Agree+result.Disagree != result.Instructions {
				t.Fatalf("%+v: %q", result, r.errors)
			}
			for _, want := range test.want {
				if !strings.Contains(r.errors[0], want) {
					t.Errorf("no %q in:\n%s", want, r.errors[0])
				}
			}
		})
	}
}

// What cannot run is an error, not a pass.
func TestRunRefuses(t *testing.T) {
	require(t)
	f := saves[runtime.GOARCH]
	for name, run := range map[string]func(check.T){
		"no function": func(r check.T) { check.Run(r, &jit.Code{}) },
		"no register": func(r check.T) {
			check.TraceOptions{Scratch: []string{"rbx9"}}.Run(r, double(t, f.after, f.slot), "double")
		},
		"unknown": func(r check.T) { check.TraceOptions{}.Run(r, double(t, f.after, f.slot), "triple") },
		"fault": func(r check.T) {
			trap := map[string][]byte{"amd64": {0x0f, 0x0b}, "arm64": {0, 0, 0, 0}}[runtime.GOARCH]
			b, _ := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).Program()
			check.Run(r, load(t, trap, b))
		},
		"no table": func(r check.T) {
			code := double(t, f.after, f.slot)
			code.Functions[0].Unwind = nil
			check.Run(r, code, 21)
		},
	} {
		var r recorder
		run(&r)
		if len(r.errors) != 1 || !strings.HasPrefix(r.errors[0], "check.Run: ") {
			t.Errorf("%s: %q", name, r.errors)
		}
	}
}

const program = `
: fact ( n -- n! ) ?dup if dup 1- recurse * else 1 then ;
: sum ( n -- n ) 0 swap 0 do i + loop ;
: both ( n -- n ) dup fact swap sum + ;
`

// The tables of the example JIT agree with the execution, in callees too.
func TestForth(t *testing.T) {
	require(t)
	// Words pass the data stack in registers.
	scratch := map[string][]string{"amd64": {"rbx"}, "arm64": {"x19"}}[runtime.GOARCH]
	for _, frames := range []bool{false, true} {
		p, err := forth.Compile("words.fth", []byte(program), &forth.Options{Entry: true, FramePointers: frames})
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := forth.Load(p, &forth.SessionOptions{Unpublished: true})
		if err != nil {
			t.Fatal(err)
		}
		defer loaded.Close()
		image, err := session.NewImage(loaded.Code())
		if err != nil {
			t.Fatal(err)
		}
		defer image.Close()
		s, err := session.New(&session.Options{Images: []*session.Image{image}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for word, n := range map[string]int64{"fact": 12, "sum": 40, "both": 9} {
			function, words, err := loaded.Enter(word, n)
			if err != nil {
				t.Fatal(err)
			}
			result, err := check.Session(s, function, session.Arguments{Words: words[:]}, &check.TraceOptions{Scratch: scratch})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d instructions, %d undecided", word, result.Instructions, result.Undecided)
			if result.Agree < 100 || result.Agree != result.Instructions {
				t.Errorf("%s: %d of %d agree", word, result.Agree, result.Instructions)
			}
			for i := range result.Mismatches {
				t.Errorf("%s: %s", word, check.Describe(s, &result.Mismatches[i]))
			}
		}
	}
}

// The table that Complete makes from the code agrees with the execution.
func TestCompleteRuns(t *testing.T) {
	require(t)
	code := load(t, saves[runtime.GOARCH].code, nil)
	made, err := check.Complete(code)
	if err != nil || made[0].Undecided > 0 {
		t.Fatal(made, err)
	}
	result := check.Run(t, code, 21)
	if result.Instructions == 0 || result.Agree != result.Instructions {
		t.Errorf("%+v", result)
	}
}
