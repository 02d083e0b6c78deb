// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
)

// The stack that a switch leads to is copied while the target stands still. Ordinary targets
// stop once.
func TestStacksAgain(t *testing.T) {
	t.Setenv("GODEBUG", "asyncpreemptoff=1") // a signal would be handled on a third stack
	type target struct {
		name, path string
		args       []string
		again      bool
	}
	targets := []target{
		{"threads", testprogram.Build(t, "threads65.c", "-O2"), nil, false},
		{"goroutines", testprogram.Build(t, "goroutines"), nil, false},
		{"a coroutine", testprogram.Build(t, "coroutine.c", "-O1"), nil, false},
	}
	if runtime.GOARCH == "amd64" {
		targets = append(targets, target{"split stacks", testprogram.Build(t, "split.c", "-O1", "-g", "-fsplit-stack"), nil, true},
			target{"an engine", testprogram.BuildModule(t, "../../../jit/gdb/testdata/engine"), []string{"wait"}, true})
	}
	for _, test := range targets {
		t.Run(test.name, func(t *testing.T) {
			p := testprogram.Start(t, test.path, test.args...)
			again := false
			w, err := Stacks(p.PID, &Options{Timeout: time.Minute}, stack.WalkOptions{LatePages: func([]uint64) { again = true }})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Objects.Close()
			if again != test.again {
				t.Errorf("a second snapshot: %v", again)
			}
			for i := range w.Stacks {
				s := &w.Stacks[i]
				if at := slices.IndexFunc(s.Frames, func(f stack.Frame) bool { return f.Late }); at >= 0 && s.Thread.ID == p.PID {
					t.Errorf("frame %d of %d was read late", at, len(s.Frames))
				}
			}
		})
	}
}

func TestInclude(t *testing.T) {
	w := &Watch{s: &snapshot.Snapshot{Mappings: []snapshot.Mapping{{Start: 0x10000, End: 0x1000000, Readable: true, Writable: true}}}}
	for i := range maxAsked {
		if !w.Include(1, []uint64{0x20000 + uint64(i)<<16, 0x28000 + uint64(i)<<16}) {
			t.Fatalf("call %d is refused", i)
		}
		if n := size(w.included[1].ranges); n > maxIncluded {
			t.Fatalf("%d bytes are included", n)
		}
	}
	if w.Include(1, []uint64{0x20000}) || !w.Include(2, []uint64{0x20000}) || w.Include(3, []uint64{0x5000}) {
		t.Error("the number of calls is counted wrongly, or memory that is not mapped is included")
	}
}

func TestAround(t *testing.T) {
	s := &snapshot.Snapshot{Mappings: []snapshot.Mapping{
		{Start: 0x10000, End: 0x40000, Readable: true, Writable: true},
		{Start: 0x40000, End: 0x50000, Readable: true},
		{Start: 0x100000, End: 0x1000000, Readable: true, Writable: true},
	}}
	type extent struct{ start, end uint64 }
	for _, test := range []struct {
		pages []uint64
		want  []extent
	}{
		{[]uint64{0x10000}, []extent{{0x10000, 0x14000}}},
		{[]uint64{0x3f000, 0x3e000}, []extent{{0x3d000, 0x40000}}}, // to the end of the mapping
		{[]uint64{0x20000, 0x23000, 0x30000}, []extent{{0x1f000, 0x27000}, {0x2f000, 0x34000}}},
		{[]uint64{0x41000, 0x90000}, nil},
	} {
		var got []extent
		for _, r := range around(s, test.pages) {
			got = append(got, extent{r.Address, r.Address + uint64(len(r.Bytes))})
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%#x: %#x, want %#x", test.pages, got, test.want)
		}
	}
	var many []uint64
	for page := uint64(0x100000); page < 0x1000000; page += 0x1000 {
		many = append(many, page)
	}
	total := 0
	for _, r := range around(s, many) {
		total += len(r.Bytes)
	}
	if total > maxMore {
		t.Errorf("%d bytes", total)
	}
}
