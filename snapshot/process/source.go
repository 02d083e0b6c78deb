// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"fmt"
	"strconv"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
)

func init() {
	// A file with a number as its name needs a path with a directory.
	isNumber := func(name string) bool { _, err := strconv.Atoi(name); return err == nil }
	snapshot.Register(snapshot.Opener{Name: "process", Live: true, Match: isNumber, Open: openSource})
}

// source is a live process.
type source struct {
	pid   int
	opts  Options
	taken *snapshot.Snapshot
}

func openSource(name string, opts *snapshot.Options) (snapshot.Source, error) {
	pid, err := strconv.Atoi(name)
	if err != nil || pid <= 0 {
		return nil, fmt.Errorf("%s is not a process ID: they start at 1", name)
	}
	return &source{pid: pid, opts: Options{Threads: opts.Threads, Goroutines: opts.Goroutines, Search: opts.Search,
		Vectors: opts.Vectors, Hold: opts.Hold, Timeout: opts.Timeout}}, nil
}

// Snapshot implements snapshot.Source.
func (s *source) Snapshot() (*snapshot.Snapshot, error) {
	var err error
	if s.taken == nil {
		s.taken, err = Snapshot(s.pid, &s.opts)
	}
	return s.taken, err
}

// Retake implements snapshot.Retaker.
func (s *source) Retake(pages []uint64) *snapshot.Snapshot {
	if opts := s.opts.around(s.taken, pages); opts != nil {
		if again, err := Snapshot(s.pid, opts); err == nil {
			s.taken = replace(s.taken, again)
		}
	}
	return s.taken
}

// WalkedSnapshot implements stack.EarlyWalker.
func (s *source) WalkedSnapshot(walk stack.WalkOptions) (*stack.Walked, error) {
	if s.taken != nil {
		objects := stack.NewObjects(s.taken)
		objects.Analyzer = walk.Analyzer
		return &stack.Walked{Snapshot: s.taken, Objects: objects, Stacks: objects.Walk(walk)}, nil
	}
	w, err := Stacks(s.pid, &s.opts, walk)
	if err == nil {
		s.taken = w.Snapshot
	}
	return w, err
}

// Missing implements snapshot.Source. It returns none: see stack.Object.Missing.
func (s *source) Missing() []snapshot.Missing { return nil }

// Damage implements snapshot.Source.
func (s *source) Damage() error { return nil }

// Close implements snapshot.Source.
func (s *source) Close() error {
	if s.taken == nil {
		return nil
	}
	return s.taken.Memory.(*Memory).Close()
}
