// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/perfdata"
)

// CodeSources returns the generated code that all processes mapped and named, also those that
// have ended or executed another program.
func TestCodeSources(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{"tmp/perf-2.map": "10000 20 f\n", "tmp/perf-3.map": "90000 20 g\n", "tmp/perf-4.map": "10000 20 h\n"} {
		path = filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	number := writeJitdump(t, filepath.Join(root, "jit-1.dump"), "generated", 0x10000)
	m := newMade()
	m.mmap2(1, 0x20000, "/jit-1.dump", number, 1)
	m.mmap2(1, 0x20000, "/jit-1.dump", number, 2)
	m.mmap2(1, 0x20000, "/jit-9.dump", 9, 0) // which is gone
	for pid := uint32(2); pid <= 5; pid++ {
		m.mmap(pid, 0x10000, "//anon")
	}
	m.sample(2, 0x10004, 1)
	m.exec(2, 2)
	m.mmap(2, 0x50000, "//anon") // of a program that has no map
	m.mmap(6, 0x50000, "/bin/true")
	// Code of a separate process, which ends.
	m.record(perfdata.TypeExit, 0, func(m *made) {
		m.halves(4, 1, 4, 1)
		m.words(3)
		m.trailer(4, 3)
	})
	r, err := perfdata.NewReader(bytes.NewReader(m.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sources, notes, err := CodeSources(r, Options{Search: debugfile.Search{Root: root, Stores: []debugfile.Store{}}})
	if err != nil || len(notes) > 0 {
		t.Errorf("%q, %v", notes, err)
	}
	var got []string
	for _, s := range sources {
		text := fmt.Sprintf("%v %s:", s.Kind, s.Place)
		for f := range s.Functions() {
			text += " " + f.Name
		}
		switch {
		case errors.Is(s.Err, fs.ErrNotExist):
			text += " absent"
		case errors.Is(s.Err, snapshot.ErrOtherProcess):
			text += " another's"
		case s.Err != nil:
			text += s.Err.Error()
		}
		got = append(got, text)
	}
	want := []string{"jitdump /jit-1.dump: generated", "jitdump /jit-9.dump: absent", "perf map /tmp/perf-2.map: f",
		"perf map /tmp/perf-3.map: another's", "perf map /tmp/perf-4.map: h"}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Notes about processes are in the order of the process IDs.
func TestCodeSourceNotesInOrder(t *testing.T) {
	m := newMade()
	var want []string
	for pid := uint32(1 << 23); pid < 1<<23+10; pid++ { // beyond the kernel's PID_MAX_LIMIT
		m.mmap(pid, 0x10000, "//anon")
		m.record(perfdata.TypeNamespaces, 0, func(m *made) {
			m.halves(pid, pid)
			m.words(6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2) // the last is of mounts, and not this process's
			m.trailer(pid, 0)
		})
		want = append(want, fmt.Sprintf("the perf map of process %d cannot be opened", pid))
	}
	r, err := perfdata.NewReader(bytes.NewReader(m.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, notes, err := CodeSources(r, Options{Search: debugfile.Search{Stores: []debugfile.Store{}}})
	if err != nil || len(notes) != len(want) {
		t.Fatalf("%q, %v", notes, err)
	}
	for i, note := range notes {
		if !strings.HasPrefix(note, want[i]) {
			t.Errorf("note %d is %q, expected %s", i, note, want[i])
		}
	}
}
