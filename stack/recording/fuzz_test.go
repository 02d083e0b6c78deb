// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/unwind"
)

// seeds are small recordings that use all features of Read: overlapping mappings, forks and
// execs, generated code, existing and missing files.
func seeds(f *testing.F) [][]byte {
	f.Helper()
	code := newMade()
	code.mmap(1, 0x10000, "//anon")
	code.mmap2(1, 0x20000, "/jit-1.dump", 0, 0)
	code.sample(1, 0x10004, 1)
	code.sample(1, 0x10004, 9)

	forks := newMade()
	forks.mmap(1, 0x10000, "/library")
	forks.mmap(1, 0x11000, "/missing")
	forks.sample(1, 0x10004, 1)
	forks.fork(2, 1, 2)
	forks.mmap(2, 0x10000, "//anon")
	forks.sample(2, 0x10004, 3)
	forks.sample(1, 0x11004, 4)
	forks.exec(1, 5)
	forks.sample(1, 0x10004, 6)
	all := [][]byte{code.Bytes(), forks.Bytes()}

	// Samples with registers, a copy of the stack and a call chain, as perf wrote them.
	data, err := os.ReadFile(filepath.Join("..", "..", "snapshot", "perfdata", "testdata", "true.data"))
	if err != nil {
		f.Fatal(err)
	}
	return append(all, data)
}

// Any recording results in stacks or an error.
func FuzzRead(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	root := f.TempDir()
	writeJitdump(f, filepath.Join(root, "jit-1.dump"), "generated", 0x10000)
	writeObject(f, filepath.Join(root, "library"), "")
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		samples := uint64(0)
		rec, err := readBytes(data, Options{Search: debugfile.Search{Root: root, Stores: []debugfile.Store{}}, Lines: true, Each: func(s *Sample) error {
			samples++
			frames := 0
			for range s.Frames {
				frames++
			}
			if s.Reason == unwind.EndOfStack && frames == 0 {
				t.Error("a whole stack without a frame")
			}
			return nil
		}})
		if rec == nil {
			if err == nil {
				t.Fatal("neither stacks nor an error")
			}
			return
		}
		counted := uint64(0)
		for i := range rec.Stacks {
			s := &rec.Stacks[i]
			if counted += s.Samples; int(s.Thread) >= len(rec.Threads) || int(s.Event) >= len(rec.Events) {
				t.Errorf("stack %d: %+v", i, s)
			}
		}
		if counted != rec.Samples || samples != rec.Samples {
			t.Errorf("%d samples, %d in stacks, %d handed out", rec.Samples, counted, samples)
		}
	})
}
