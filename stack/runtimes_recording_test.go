// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package stack_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/stack/recording"
	"github.com/clewdev/clew/unwind"
)

// record records a running process with perf until the recording has a few dozen
// stacks, and returns its path.
func record(t *testing.T, pid int, flags ...string) string {
	t.Helper()
	perf := testprogram.RequireTool(t, "perf")
	path := filepath.Join(t.TempDir(), "perf.data")
	// perf reads /proc/PID/maps for at most half a second by default, and loses the remaining
	// mappings. Its thread for BPF events ends a second late, while the program runs on.
	cmd := exec.Command(perf, append([]string{"record", "-q", "-k", "mono", "-F", "999", "-m", "64", "-e", "cpu-clock",
		"--call-graph", "dwarf,8192", "--proc-map-timeout", "120000", "--no-bpf-event", "-o", path, "-p", strconv.Itoa(pid)}, flags...)...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("%q: %v\n%s", cmd.Args, err, output.Bytes())
		default:
		}
		info, err := os.Stat(path)
		if err == nil && info.Size() > 40*8192 {
			break
		}
		if time.Now().After(end) {
			cmd.Process.Kill()
			<-ended
			t.Fatalf("%q wrote too little in two minutes\n%s", cmd.Args, output.Bytes())
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-ended // by the signal, which it hands on to itself
	return path
}

// testRecordedRuntime records a runtime and checks its stacks. It returns the path of the
// recording.
func testRecordedRuntime(t *testing.T, r testprogram.Runtime, pid int, flags ...string) string {
	want, open := r.Stack, bare(r)
	switch r.Name {
	case "lli list":
		// It also writes a jitdump, which has no unwind tables.
		want, open = want[:1], true
	case "forth map":
		// Its code keeps no frame pointer, and a map has no unwind tables: callers are missing
		// up to one with a frame pointer.
		want = want[:1]
	}
	path := record(t, pid, flags...)
	rec := recorded(t, path)
	var inside, named, through uint64
	garbled := make(map[string]bool)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		var names []string
		innermost := true
		for _, f := range rec.Frames(s) {
			if innermost && f.Object.Kind() != stack.Kernel {
				innermost = false
				if k := f.Object.Kind(); k == stack.Generated || k == stack.Unknown {
					inside += s.Samples
				}
			}
			if f.Object.Kind() != stack.Generated {
				continue
			}
			names = append(names, f.Symbol.Name)
			// A recording does not contain the memory with the list, and lli also writes a
			// jitdump.
			if kind := kindOf(r); f.Object.Generated != kind && (kind != generated.GDBList || f.Object.Generated != generated.Jitdump) {
				t.Errorf("%s is known by %v", f.Symbol.Name, f.Object.Generated)
			}
			if l := f.Locations; len(l) > 0 && !printable(l[0].File) && !garbled[l[0].File] {
				garbled[l[0].File] = true
				t.Errorf("%s is at %q", f.Symbol.Name, l[0].File)
			}
		}
		if !follow(names, want) {
			continue
		}
		named += s.Samples
		switch {
		case s.Reason == unwind.EndOfStack:
			through += s.Samples
		case !open && s.Reason != unwind.StackCut:
			t.Errorf("after %q: %v", want, s.Reason)
		}
	}
	t.Logf("%d samples, %d in generated code, %d with %q, %d of them whole; %q", rec.Samples, inside, named, want, through, rec.Notes)
	if !open && through < named/2 {
		t.Errorf("%d of %d stacks are whole", through, named)
	}
	// The others are in the runtime itself, which can hide a caller.
	if named < inside/2 || named == 0 {
		t.Errorf("%d of %d samples in generated code have %q; %q", named, inside, want, rec.Notes)
	}
	return path
}

func recorded(t *testing.T, path string) *recording.Recording {
	t.Helper()
	reader, err := perfdata.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	rec, err := recording.Read(reader, recording.Options{Lines: true})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// testLostContainer checks the recording of a container that has ended: the code that only the
// container could name has no names, which is reported.
func testLostContainer(t *testing.T, path string) {
	rec := recorded(t, path)
	for _, f := range rec.Places() {
		if f.Object.Kind() == stack.Generated {
			t.Errorf("%s in %s", f.Symbol.Name, f.Object.Path)
		}
	}
	if rec.Complete || !slices.ContainsFunc(rec.Notes, func(note string) bool {
		return strings.Contains(note, "has ended") || strings.Contains(note, "is missing")
	}) {
		t.Errorf("complete %t, %q", rec.Complete, rec.Notes)
	}
}

// follow reports whether consecutive names contain some strings.
func follow(names, want []string) bool {
	for at := 0; at+len(want) <= len(names); at++ {
		k := 0
		for k < len(want) && strings.Contains(names[at+k], want[k]) {
			k++
		}
		if k == len(want) {
			return true
		}
	}
	return false
}
