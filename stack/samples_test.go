// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package stack_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// TestSamples takes samples of busy programs at arbitrary times, and walks each by the
// interpreter of call frame information, by compiled tables, and along the path of the
// previous sample. All results must be equal, frame by frame.
func TestSamples(t *testing.T) {
	samples := 25
	switch {
	case sample.Full():
		samples = 60
	case testing.Short():
		samples = 10
	}
	for _, program := range []struct {
		name    string
		command func(t *testing.T) *exec.Cmd
		frames  int // that a walk must have found at least, per sample
	}{
		{"realigned frames, signals, a PLT", func(t *testing.T) *exec.Cmd {
			return exec.Command(testprogram.Build(t, "busy.c", "-O2", "-mavx", "-Wl,-z,lazy"))
		}, 8},
		{"the same with all frames realigned", func(t *testing.T) *exec.Cmd {
			return exec.Command(testprogram.Build(t, "busy.c", "-O1", "-mstackrealign", "-mavx"))
		}, 8},
		{"clang", func(t *testing.T) *exec.Cmd {
			clang := testprogram.RequireTool(t, "clang")
			source := filepath.Join(t.TempDir(), "large.c")
			if err := os.WriteFile(source, largeSource(), 0o666); err != nil {
				t.Fatal(err)
			}
			return exec.Command(clang, "-O2", "-c", "-o", os.DevNull, source)
		}, 10},
		{"openssl, AES", openssl("-evp", "aes-256-gcm"), 4},
		{"openssl, ChaCha", openssl("-evp", "chacha20-poly1305"), 4},
		{"openssl, a hash", openssl("sha512"), 4},
		{"openssl, public keys", openssl("rsa2048", "ecdsap256", "ecdhx25519"), 4},
		{"Go with cgo", func(t *testing.T) *exec.Cmd {
			return exec.Command(cgoProgram(t))
		}, 2},
	} {
		t.Run(program.name, func(t *testing.T) {
			s := sampler{t: t, trails: map[int]*unwind.Trail{}}
			// A program that has just started has short stacks.
			enough := func() bool { return s.samples >= samples && s.frames >= program.frames*s.samples }
			for end := time.Now().Add(3 * time.Minute); !enough() && time.Now().Before(end); {
				s.run(program.command(t), func() bool { return enough() || time.Now().After(end) })
			}
			if s.frames < program.frames*s.samples || s.samples < min(samples, 10) {
				t.Errorf("only %d samples with %d frames", s.samples, s.frames)
			}
			t.Logf("%d samples, %d frames, of which %d were known from the sample before", s.samples, s.frames, s.kept)
		})
	}
}

// openssl runs assembly code with tables that were written by hand. Its algorithms are those
// of "openssl speed", which ends at once for an unknown one.
func openssl(algorithms ...string) func(t *testing.T) *exec.Cmd {
	return func(t *testing.T) *exec.Cmd {
		return exec.Command(testprogram.RequireTool(t, "openssl"), append([]string{"speed", "-seconds", "1"}, algorithms...)...)
	}
}

type sampler struct {
	t        *testing.T
	mappings []snapshot.Mapping // executable ones, for which the following hold
	objects  *stack.Objects
	compiled unwind.Modules
	tables   map[string]*unwind.Table // by path

	byRows, byTable, along *unwind.Walker
	trails                 map[int]*unwind.Trail // by thread

	samples, frames, kept int
}

// run samples a program until there is enough or it ends.
func (s *sampler) run(cmd *exec.Cmd, enough func() bool) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	pid := cmd.Process.Pid
	// Do not wait for it, because that would receive the stops instead of the tracer.
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, out)
		close(ended)
	}()
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	s.mappings = nil
	for !enough() {
		time.Sleep(time.Duration(1+s.samples%7) * time.Millisecond)
		snapshot, err := process.Snapshot(pid, &process.Options{Timeout: 2 * time.Minute})
		select {
		case <-ended:
			return
		default:
		}
		if err != nil {
			continue // it may be about to end
		}
		s.compare(snapshot)
	}
}

func (s *sampler) compare(taken *snapshot.Snapshot) {
	var executable []snapshot.Mapping
	for _, m := range taken.Mappings {
		if m.Executable {
			executable = append(executable, m)
		}
	}
	if len(s.mappings) == 0 || fmt.Sprint(executable) != fmt.Sprint(s.mappings) {
		s.mappings = executable
		s.open(taken)
	}
	any := false
	for i := range taken.Threads {
		thread := &taken.Threads[i]
		if thread.Err != nil || thread.Registers.PC == 0 {
			continue
		}
		any = true
		s.walk(taken, thread)
	}
	if any {
		s.samples++
	}
}

// open makes walkers for what is mapped now.
func (s *sampler) open(taken *snapshot.Snapshot) {
	if s.tables == nil {
		s.tables = map[string]*unwind.Table{}
	}
	s.objects = stack.NewObjects(taken)
	s.t.Cleanup(func() { s.objects.Close() })
	s.compiled = unwind.Modules{}
	for _, mapping := range s.mappings {
		module, ok := s.objects.Modules.Find(mapping.Start)
		if !ok {
			s.t.Fatalf("%#x is in no module", mapping.Start)
		}
		o := s.objects.Object(module)
		if o == nil {
			s.compiled.Add(mapping.Start, mapping.End, nil)
			continue
		}
		// Every mapping is a module of its own, which makes no difference.
		s.compiled.Add(mapping.Start, mapping.End, &unwind.Module{Name: o.Name, Load: func(m *unwind.Module) {
			if load := module.Load; load != nil {
				module.Load = nil
				load(module)
			}
			m.Bias, m.Source = module.Bias, module.Source
			file, err := o.File()
			if err != nil || o.Go {
				return
			}
			if section, err := file.EHFrame(); err == nil && section != nil {
				if s.tables[o.Name] == nil {
					s.tables[o.Name] = unwind.Compile(section)
				}
				m.Source = tableFirst{s.tables[o.Name], module.Source}
			}
		}})
	}
	newWalker := func(modules *unwind.Modules) *unwind.Walker {
		return &unwind.Walker{Machine: taken.Machine, Modules: modules}
	}
	s.byRows, s.byTable, s.along = newWalker(&s.objects.Modules), newWalker(&s.compiled), newWalker(&s.compiled)
}

// tableFirst is a compiled table, and the other sources of the module.
type tableFirst struct {
	table *unwind.Table
	other unwind.Source
}

func (s tableFirst) Rules(pc uint64) (*unwind.Rules, error) {
	if rules, err := s.table.Rules(pc); err == nil {
		return rules, nil
	}
	return s.other.Rules(pc)
}

func (s *sampler) walk(taken *snapshot.Snapshot, thread *snapshot.Thread) {
	// Memory without a copy is read once, because the program runs.
	once := &remembered{memory: taken.ThreadMemory(thread), words: map[string]string{}}
	for _, w := range []*unwind.Walker{s.byRows, s.byTable, s.along} {
		w.Memory = once
		w.Stack = unwind.Stack{Address: thread.StackAddress, Bytes: thread.Stack}
	}
	s.byRows.Stack = unwind.Stack{} // reads all through Memory
	type frame struct {
		unwind.Frame
		registers unwind.Registers
	}
	frames := func(w *unwind.Walker) (list []frame) {
		for f := range w.Walk(&thread.Registers) {
			list = append(list, frame{*f, *f.Registers})
		}
		return list
	}
	want, got := frames(s.byRows), frames(s.byTable)
	s.same(s.byRows, s.byTable, "by tables", len(want), len(got))
	for i := range min(len(want), len(got)) {
		a, b := &want[i], &got[i]
		if a.PC != b.PC || a.LookupPC != b.LookupPC || a.Method != b.Method || a.Interrupted != b.Interrupted ||
			a.Trampoline != b.Trampoline || a.registers != b.registers {
			s.t.Fatalf("frame %d by tables: %+v\nby the interpreter: %+v", i, b, a)
		}
	}
	trail := s.trails[thread.ID]
	if trail == nil {
		trail = new(unwind.Trail)
		s.trails[thread.ID] = trail
	}
	for i, trail := range []*unwind.Trail{trail, new(unwind.Trail), trail} {
		s.along.Follow(trail, &thread.Registers)
		s.same(s.byRows, s.along, "along a trail", len(want), trail.Len())
		for j := range min(len(want), trail.Len()) {
			f := &want[j]
			step := unwind.Step{PC: f.PC, LookupPC: f.LookupPC, Method: f.Method, Gap: f.Gap, Interrupted: f.Interrupted, Trampoline: f.Trampoline}
			step.SP, _ = f.registers.Get(uint64(taken.Machine.StackPointer))
			if trail.At(j) != step {
				s.t.Fatalf("frame %d along a trail: %+v\nby the interpreter: %+v", j, trail.At(j), step)
			}
		}
		if i == 0 {
			s.kept += trail.Kept()
		}
	}
	s.frames += len(want)
}

func (s *sampler) same(want, got *unwind.Walker, how string, frames, gotFrames int) {
	s.t.Helper()
	if frames != gotFrames || want.Reason() != got.Reason() || (want.Err() == nil) != (got.Err() == nil) {
		s.t.Fatalf("%s: %d frames, %v, %v\nby the interpreter: %d frames, %v, %v", how,
			gotFrames, got.Reason(), got.Err(), frames, want.Reason(), want.Err())
	}
}

// remembered is memory that repeats the result of each read.
type remembered struct {
	memory cfi.Memory
	words  map[string]string
}

func (r *remembered) ReadMemory(p []byte, addr uint64) error {
	key := fmt.Sprint(addr, len(p))
	text, ok := r.words[key]
	if !ok {
		if err := r.memory.ReadMemory(p, addr); err != nil {
			text = "!" + err.Error()
		} else {
			text = "=" + string(p)
		}
		r.words[key] = text
	}
	if text[0] == '!' {
		return fmt.Errorf("%s", text[1:])
	}
	copy(p, text[1:])
	return nil
}

// largeSource is a program that takes a compiler a while.
func largeSource() []byte {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "int f%d(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) { s += p[i] * %d; "+
			"if (s > %d) s -= p[n - i - 1]; else p[i] ^= s; switch (s & 7) { case 1: s++; break; case 2: s *= 3; break; case 5: p[0] = s; } } return s; }\n", i, i, i*7)
	}
	return []byte(b.String())
}

// cgoProgram builds a Go program in which C functions and Go functions constantly call each
// other.
func cgoProgram(t *testing.T) string {
	testprogram.RequireTool(t, "gcc")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module program\n\ngo 1.26.0\n",
		"main.go": `package main

// #include <stdlib.h>
// extern int compare(void *, void *);
// static int both(const void *a, const void *b) { return compare((void *)a, (void *)b); }
// static void sort(int *list, int n) { qsort(list, n, sizeof *list, both); }
import "C"

import "unsafe"

//export compare
func compare(a, b unsafe.Pointer) C.int {
	n := 0
	for i := range 500 {
		n += i % (n + 1)
	}
	return *(*C.int)(a) - *(*C.int)(b) + C.int(n&1)
}

func work(depth int) {
	if depth > 0 {
		work(depth - 1)
		return
	}
	var list [32]C.int
	for i := range list {
		list[i] = C.int(i * 7919 % 101)
	}
	C.sort(&list[0], C.int(len(list)))
}

func main() {
	for range 2 {
		go func() {
			for i := 0; ; i++ {
				work(i % 20)
			}
		}()
	}
	select {}
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", "program", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "program")
}
