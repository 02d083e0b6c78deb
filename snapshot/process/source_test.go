// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
)

// Open opens a process and its core, with the same threads.
func TestOpenSources(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	p.Settle(t)
	id := strconv.Itoa(p.PID)
	path := testprogram.GCore(t, p.PID)
	all, err := Snapshot(p.PID, &Options{Timeout: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	threads := []int{all.Threads[0].ID, all.Threads[1].ID}
	for _, name := range []string{id, path} {
		s, err := snapshot.Open(name, &snapshot.Options{Threads: threads, Timeout: 2 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		taken, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for i := range taken.Threads {
			got = append(got, taken.Threads[i].ID)
		}
		if !slices.Equal(got, threads) || taken.PID != p.PID || taken.Live != snapshot.IsLive(name) {
			t.Errorf("%s: threads %d of process %d, live: %t; expected %d", name, got, taken.PID, taken.Live, threads)
		}
		if repeated, err := s.Snapshot(); repeated != taken || err != nil {
			t.Errorf("%s: another snapshot, %v", name, err)
		}
		if early, ok := s.(stack.EarlyWalker); ok {
			w, err := early.WalkedSnapshot(stack.WalkOptions{})
			if err != nil || len(w.Stacks) != 2 || len(w.Stacks[0].Frames) == 0 {
				t.Errorf("%+v, %v", w, err)
			} else if err := w.Objects.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := errors.Join(s.Damage(), s.Close()); err != nil || len(s.Missing()) != 0 {
			t.Errorf("%s: %v, missing %v", name, err, s.Missing())
		}
	}
	if _, err := snapshot.Open("0", nil); err == nil || errors.Is(err, snapshot.ErrUnknown) {
		t.Errorf("process 0: %v", err)
	}
	if _, err := snapshot.Open("/proc/self/exe", nil); !errors.Is(err, snapshot.ErrUnknown) || !errors.Is(err, core.ErrNotCore) {
		t.Errorf("this program: %v", err)
	}
	if _, err := snapshot.Open(path, &snapshot.Options{Threads: []int{1}}); err == nil {
		t.Error("a core has thread 1")
	}
}
