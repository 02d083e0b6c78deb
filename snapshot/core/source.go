// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/snapshot"
)

func init() { snapshot.Register(snapshot.Opener{Open: openSource}) }

// source is a core as a source of some of its threads.
type source struct {
	*Core
	taken snapshot.Snapshot
}

func openSource(path string, opts *snapshot.Options) (snapshot.Source, error) {
	o := Options{Program: opts.Program, Search: debugfile.Search{Root: opts.Root}, Progress: opts.Progress}
	if opts.Search != nil {
		o.Search = opts.Search(opts.Root)
	}
	c, err := Open(path, &o)
	if err != nil {
		return nil, err
	}
	s := &source{Core: c, taken: *c.Snapshot()}
	if opts.Threads != nil {
		s.taken.Threads = slices.DeleteFunc(slices.Clone(s.taken.Threads), func(t snapshot.Thread) bool { return !slices.Contains(opts.Threads, t.ID) })
		if len(s.taken.Threads) == 0 {
			c.Close()
			return nil, fmt.Errorf("%s: it has no thread %s", path, strings.Trim(fmt.Sprint(opts.Threads), "[]"))
		}
	}
	return s, nil
}

// Snapshot implements snapshot.Source.
func (s *source) Snapshot() (*snapshot.Snapshot, error) { return &s.taken, nil }
