// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

const (
	wrongSource = `
	.section .text.first, "ax"
	.globl first
first:	.cfi_startproc
	ret
	.cfi_endproc
	.section .text.second, "ax"
	.globl second
second:	.cfi_startproc
	push %rax
	call abort
	.cfi_endproc
`
	// The table is right. It has jump tables, a cold part, exceptions, calls of functions that do
	// not return, and a thread-local variable of another file.
	rightSource = `
#include <cstdlib>
#include <stdexcept>
extern thread_local int other;
int h(int);
static int part(int x) { if (x > 3) throw std::runtime_error("x"); return x; }
int choose(int x) {
	switch (x) {
	case 0: return h(1);
	case 1: return h(5) + 1;
	case 2: return h(7) * 3;
	case 3: return h(9);
	case 4: abort();
	case 5: return other;
	case 6: return h(0) ^ 4;
	}
	return 0;
}
int guarded(int a) { try { return part(a) + h(a); } catch (std::exception &e) { return h(2); } }
`
)

func compiled(t *testing.T, compiler, name, source string, flags ...string) *object.File {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.o")
	cmd := exec.Command(testprogram.RequireTool(t, compiler), append(flags, "-c", "-o", out, path)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, text)
	}
	f, err := object.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func checkedFile(t *testing.T, f *object.File) *Result {
	t.Helper()
	p, err := ELF(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := range new(Survey).Check([]*Part{p}) {
		if r.Err != nil {
			t.Error(r.Err)
		}
		return r
	}
	return nil
}

// The tables of an object file are checked where its sections would be linked.
func TestRelocatable(t *testing.T) {
	r := checkedFile(t, compiled(t, "x86_64-linux-gnu-gcc", "wrong.s", wrongSource))
	if r.Functions != 2 || len(r.Findings) != 1 {
		t.Fatalf("%+v", r.Report)
	}
	f := &r.Findings[0]
	if f.Name != "second" || r.Shown(f.Function) != 0 || r.Shown(f.Address) != 1 || f.Address-f.Function != 1 {
		t.Errorf("%+v, shown at %#x", f, r.Shown(f.Address))
	}
	// The call at +1 leads to a stub.
	target := r.Shown(f.Address) + 5
	var code [5]byte
	if err := r.Code.ReadMemory(code[:], f.Address); err != nil {
		t.Fatal(err)
	}
	target += uint64(int64(int32(uint32(code[1]) | uint32(code[2])<<8 | uint32(code[3])<<16 | uint32(code[4])<<24)))
	if name, start := r.Symbol(f.Address, target); name != "abort@plt" || start != target {
		t.Errorf("the call leads to %q at %#x, %#x", name, start, target)
	}
}

func TestRelocatableCompiled(t *testing.T) {
	for _, test := range []struct{ compiler, flags string }{
		{"x86_64-linux-gnu-g++", "-O2"}, {"x86_64-linux-gnu-g++", "-O0 -g"}, {"x86_64-linux-gnu-g++", "-O2 -fno-pic"}, {"x86_64-linux-gnu-g++", "-O2 -fPIC -ffunction-sections"},
		{"aarch64-linux-gnu-g++", "-O2"}, {"aarch64-linux-gnu-g++", "-O1 -g -fPIC"},
	} {
		t.Run(test.compiler+" "+test.flags, func(t *testing.T) {
			r := checkedFile(t, compiled(t, test.compiler, "right.cc", rightSource, strings.Fields(test.flags)...))
			if r.Functions < 2 || r.Agree < 80 || r.Undecided*10 > r.Instructions {
				t.Errorf("%+v", r.Counters)
			}
			for i := range r.Findings {
				t.Errorf("%s: %v", r.Findings[i].Name, &r.Findings[i])
			}
		})
	}
}
