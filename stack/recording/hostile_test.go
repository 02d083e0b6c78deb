// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package recording

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// A truncated recording results in the stacks up to its end. A damaged one results in some
// stacks or an error.
func TestDamagedRecordings(t *testing.T) {
	path := record(t, []string{"--call-graph", "dwarf,4096", "-k", "mono"}, compile(t, "gcc", "forks.c", "-O1", "-g", "-pthread"))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{} // perf's cache has the kernel's symbols, which take long to ask the kernel for
	whole, err := readBytes(data, opts)
	if err != nil || whole.Samples == 0 {
		t.Fatalf("%v: %+v", err, whole)
	}
	r := rand.New(rand.NewPCG(5, 6))
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	last := uint64(0)
	for i := range rounds {
		n := len(data) * (i + 1) / (rounds + 1)
		rec, err := readBytes(data[:n], opts)
		if err == nil && rec.Samples < whole.Samples && rec.Complete {
			t.Errorf("%d of %d bytes: %d samples of %d, and nothing is said to be missing", n, len(data), rec.Samples, whole.Samples)
		}
		if rec != nil {
			if rec.Samples < last {
				t.Errorf("%d of %d bytes: %d samples, of less there were %d", n, len(data), rec.Samples, last)
			}
			last = rec.Samples
		}
	}
	if last == 0 {
		t.Error("no sample of any part")
	}
	for range rounds {
		damaged := bytes.Clone(data)
		for range 1 + r.IntN(20) {
			at := r.IntN(len(damaged))
			damaged[at] ^= byte(1 << r.IntN(8))
			if r.IntN(3) == 0 {
				copy(damaged[at:], "\xff\xff\xff\xff\xff\xff\xff\x7f")
			}
		}
		rec, err := readBytes(damaged, opts)
		if rec == nil && err == nil {
			t.Error("neither stacks nor an error")
		}
	}
}

// A file other than the recorded one is refused and named.
func TestReplacedFile(t *testing.T) {
	program := compile(t, "gcc", "sort.c", "-O2", "-g")
	path := record(t, []string{"--call-graph", "dwarf,16384"}, program, "100")
	os.Remove(program)
	other := compile(t, "gcc", "sort.c", "-O1")
	if err := os.Rename(other, program); err != nil {
		t.Fatal(err)
	}
	r, err := perfdata.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// Without perf's cache, which contains the file.
	rec, err := Read(r, Options{Search: debugfile.Search{Stores: []debugfile.Store{}}})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(rec.Notes, "\n")
	if rec.Complete || !strings.Contains(notes, program) || !strings.Contains(notes, program+" was not used: its build ID is ") {
		t.Errorf("complete %t: %s", rec.Complete, notes)
	}
	for i := range rec.Places() {
		f := &rec.Places()[i]
		if f.Object != nil && f.Object.Name == program && f.Symbol.Name != "" {
			t.Errorf("%s at %#x, by a file that is another", f.Symbol.Name, f.Address)
		}
	}

	// perf's cache contains it.
	rec, samples := readAll(t, path, Options{})
	if len(samples) == 0 {
		t.Fatal("no samples")
	}
	if !rec.Complete {
		t.Errorf("with perf's cache: %q", rec.Notes)
	}
}

// A sysroot has the files of the recording. Files that it lacks are taken from the file system
// if they prove to be the recorded ones, such as the libraries here.
func TestSysroot(t *testing.T) {
	program := compile(t, "gcc", "sort.c", "-O2", "-g")
	// Without the program's tables, only samples in a library have a frame in it: about a
	// tenth of some hundred.
	path := record(t, []string{"--call-graph", "dwarf,16384"}, program, "1000")
	root := t.TempDir()
	below := filepath.Join(root, program)
	if err := os.MkdirAll(filepath.Dir(below), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(program, below); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{root, t.TempDir()} {
		r, err := perfdata.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		rec, err := Read(r, Options{Search: debugfile.Search{Root: root, Stores: []debugfile.Store{}}})
		if err != nil {
			t.Fatal(err)
		}
		named, libraries, missing := false, 0, ""
		for i := range rec.Places() {
			f := &rec.Places()[i]
			named = named || f.Symbol.Name == "compare"
			switch {
			case f.Object == nil || f.Object.Kind() != stack.Native && f.Object.Kind() != stack.Unknown:
			case f.Object.Err != nil:
				missing = f.Object.Name
			case f.Object.Path != program:
				libraries++
			}
		}
		if libraries == 0 {
			t.Error("no frame of a library")
		}
		if has := strings.HasPrefix(below, root); named != has || rec.Complete != has || (missing == program) == has {
			t.Errorf("below %s: named %t, %q is missing: %q", root, named, missing, rec.Notes)
		}
	}
}

// Forked processes share mappings. The total number of mappings is bounded.
func TestManyForks(t *testing.T) {
	b := &builder{rec: new(Recording), processes: make(map[int32]*process), threads: make(map[int32]*thread), labels: make(map[Thread]int32),
		files: make(map[fileKey]*file), dumps: make(map[fileKey]*jitdump), noted: make(map[string]bool), moves: firstMoves}
	mmap := func(pid int32, start uint64) {
		b.mmap(&perfdata.Record{}, &perfdata.Mmap{PID: pid, TID: pid, Start: start, Length: 0x1000, Path: []byte("//anon"), Protection: protExec})
	}
	const mappings, forks = 5000, 1000
	for i := range uint64(mappings) {
		mmap(1, 0x10000+0x2000*i)
	}
	for i := range int32(forks) {
		b.task(&perfdata.Record{Type: perfdata.TypeFork}, &perfdata.Task{PID: 2 + i, TID: 2 + i, ParentPID: 1, ParentTID: 1})
	}
	if b.mapped != mappings {
		t.Errorf("%d mappings after forks, want %d", b.mapped, mappings)
	}
	for i := range int32(forks) {
		mmap(2+i, 0x1000)
	}
	if b.mapped > maxMapped+forks {
		t.Errorf("%d mappings", b.mapped)
	}
	if p := b.processes[2]; p.space.size() != mappings+1 {
		t.Errorf("the first child has %d mappings", p.space.size())
	}
	if b.complete || len(b.notes) == 0 {
		t.Error("nothing is said of mappings that are not known")
	}
	for i := range int32(forks) {
		b.task(&perfdata.Record{Type: perfdata.TypeExit}, &perfdata.Task{PID: 2 + i, TID: 2 + i, ParentPID: 1, ParentTID: 1})
	}
	if b.mapped != mappings {
		t.Errorf("%d mappings after exits, want %d", b.mapped, mappings)
	}
}

// The functions of a large jitdump are found by time and walked by their tables, with little
// memory.
func TestManyFunctions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the program has code of amd64")
	}
	testprogram.RequireTool(t, "perf")
	count := "175000"
	if testing.Short() {
		count = "5000"
	}
	dir := t.TempDir()
	path := record(t, []string{"-k", "mono", "--call-graph", "dwarf,1024"}, compile(t, "gcc", "generate.c", "-O1"), dir, count)
	dumps, _ := filepath.Glob(filepath.Join(dir, "jit-*.dump"))
	if len(dumps) != 1 {
		t.Fatalf("jitdumps: %q", dumps)
	}
	info, err := os.Stat(dumps[0])
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	rec, samples := readAll(t, path, Options{})
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; !testing.Short() && taken > 4*uint64(info.Size()) {
		t.Errorf("%d bytes were allocated for a jitdump of %d", taken, info.Size())
	}
	chains := 0
	for i := range samples {
		calls := 0
		for k := range samples[i].frames {
			if f := &samples[i].frames[k]; f.Object.Kind() == stack.Generated {
				if !strings.HasPrefix(f.Symbol.Name, "generated_") {
					t.Fatalf("%q in a jitdump", f.Symbol.Name)
				}
				calls++
			}
		}
		if calls > 0 && samples[i].Reason != unwind.EndOfStack {
			t.Fatalf("%d generated functions, then: %v\n%s", calls, samples[i].Reason, sideBySide(&samples[i], &scriptSample{}))
		}
		if calls == 8 {
			chains++
		}
	}
	if chains < 5 {
		t.Errorf("%d samples of %d in eight generated functions: %q", chains, len(samples), rec.Notes)
	}
}

// If the recording and the jitdump have different clocks, this is reported, and the last
// functions are shown.
func TestOtherClock(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the program has code of amd64")
	}
	path := record(t, []string{"--call-graph", "dwarf,1024"}, compile(t, "gcc", "generate.c", "-O1"), t.TempDir(), "100")
	rec, _ := readAll(t, path, Options{})
	named := false
	for i := range rec.Places() {
		named = named || strings.HasPrefix(rec.Places()[i].Symbol.Name, "generated_")
	}
	if notes := strings.Join(rec.Notes, "\n"); !named || !strings.Contains(notes, "perf record -k mono") {
		t.Errorf("named %t: %s", named, notes)
	}
}

// Threads that have ended do not accumulate.
func TestEndedThreads(t *testing.T) {
	b := &builder{rec: new(Recording), processes: make(map[int32]*process), threads: make(map[int32]*thread), labels: make(map[Thread]int32)}
	fork := func(pid, tid int32) {
		b.task(&perfdata.Record{Type: perfdata.TypeFork}, &perfdata.Task{PID: pid, TID: tid, ParentPID: 1, ParentTID: 1})
	}
	exit := func(pid, tid int32) {
		b.task(&perfdata.Record{Type: perfdata.TypeExit}, &perfdata.Task{PID: pid, TID: tid, ParentPID: 1, ParentTID: 1})
	}
	const living = 10
	for i := range int32(20 * maxEnded) {
		fork(2+i, 2+i)
		if i >= living {
			exit(2+i, 2+i)
		}
		if i%100 == 0 { // a thread of the first process
			fork(1, 1<<30+i)
			exit(1, 1<<30+i)
		}
	}
	// Process 1 and its first thread live too.
	if len(b.threads) != maxEnded+living+1 || len(b.processes) > maxEnded+living+1 || b.processes[1] == nil || b.threads[2] == nil {
		t.Errorf("%d threads and %d processes are kept", len(b.threads), len(b.processes))
	}
	// An ID of an ended thread that lives again is kept.
	fork(1<<20, 1<<20)
	for range 2 {
		exit(1<<20, 1<<20)
		fork(1<<20, 1<<20)
	}
	for i := range int32(2 * maxEnded) {
		fork(1<<21+i, 1<<21+i)
		exit(1<<21+i, 1<<21+i)
	}
	if b.threads[1<<20] == nil || b.processes[1<<20] == nil {
		t.Error("a living thread was forgotten")
	}
}

// Above the limit, threads with equal names are one.
func TestMaxThreads(t *testing.T) {
	b := newBuilder(new(perfdata.Reader), Options{MaxThreads: 10})
	b.started, b.rec.Events = true, make([]Event, 1)
	const threads = 1000
	for i := range int32(threads) {
		b.comm(&perfdata.Record{}, &perfdata.Comm{PID: 2 + i, TID: 2 + i, Name: []byte{'a' + byte(i%2)}})
		r := &perfdata.Record{Misc: perfdata.Misc(perfdata.ModeKernel), ID: perfdata.SampleID{PID: 2 + i, TID: 2 + i}, Body: &perfdata.Sample{Fields: perfdata.FieldIP, IP: 1, Period: 1}}
		if err := b.record(r); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(b.rec.Threads); n != 12 || len(b.rec.Stacks) != 12 {
		t.Errorf("%d threads and %d stacks, expected 12", n, len(b.rec.Stacks))
	}
	for _, s := range b.rec.Stacks[10:] {
		if s.Samples != (threads-10)/2 || b.rec.Threads[s.Thread].PID != 0 {
			t.Errorf("%d samples of %+v", s.Samples, b.rec.Threads[s.Thread])
		}
	}
}

// A program that changes its name all the time, or those of its threads, cannot make Threads grow.
func TestMaxNames(t *testing.T) {
	const limit = 10
	b := newBuilder(new(perfdata.Reader), Options{MaxThreads: limit})
	rename := func(tid int32, name string) Thread {
		b.comm(&perfdata.Record{}, &perfdata.Comm{PID: 2, TID: tid, Name: []byte(name)})
		return b.rec.Threads[b.label(b.thread(2, tid))]
	}
	rename(2, "process")
	last := Thread{}
	for i := range 1000 {
		last = rename(3, fmt.Sprint("thread ", i))
	}
	if n := len(b.rec.Threads); n != 2*limit+1 || last != (Thread{Process: "process", Name: "process"}) {
		t.Errorf("%d threads, the last %+v", n, last)
	}
	for i := range 1000 {
		last = rename(2, fmt.Sprint("process ", i))
	}
	if n := len(b.rec.Threads); n != 3*limit+1 || last != (Thread{Process: "[others]", Name: "[others]"}) || len(b.notes) != 2 {
		t.Errorf("%d threads, the last %+v; %q", n, last, b.notes)
	}
}

// A program with many different labels uses up half of the threads: those of others keep their names.
func TestMaxLabels(t *testing.T) {
	b := newBuilder(new(perfdata.Reader), Options{MaxThreads: 10})
	for range 2 { // intervals
		hostile := b.thread(2, 2)
		for i := range 1000 {
			hostile.goLabels = strconv.Itoa(i) + "\x00\x00"
			b.label(hostile)
		}
		if n := len(b.rec.Threads); n != 6 || b.rec.Threads[5].labels != "" || b.rec.Threads[5].PID != 2 {
			t.Errorf("%d threads, the last %+v", n, b.rec.Threads[n-1])
		}
		if other := b.rec.Threads[b.label(b.thread(3, 3))]; other.PID != 3 {
			t.Errorf("another process is %+v", other)
		}
		b.forgetLabels()
	}
}

// The names that are kept of generated code are shortened, and those of lists are forgotten with their objects.
func TestKeptNames(t *testing.T) {
	b := newBuilder(new(perfdata.Reader), Options{})
	p := b.process(1)
	name := strings.Repeat("a", 1<<20)
	if first, second := p.perfMap.number(name), p.perfMap.number("b"+name); first != 0 || second != 1 {
		t.Errorf("numbers %d and %d", first, second)
	}
	for name := range p.perfMap.numbers {
		if len(name) > 2*printable.MaxName {
			t.Errorf("a name of %d bytes is kept", len(name))
		}
	}
	p.lists = &lists{process: p, builder: b, objects: make(map[generated.Kind]*stack.Object), numbers: map[listed]int32{{name: "a"}: 0}}
	if b.forgetGenerated(); len(p.lists.numbers) != 0 {
		t.Error("numbers of functions are kept")
	}
}
