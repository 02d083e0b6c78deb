// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/internal/stored"
)

func init() { snapshot.Register(snapshot.Opener{Name: "core", Open: openSource}) }

func openSource(path string, opts *snapshot.Options) (snapshot.Source, error) {
	o := Options{Program: opts.Program, Search: debugfile.Search{Root: opts.Root}, Progress: opts.Progress}
	if opts.Search != nil {
		o.Search = opts.Search(opts.Root)
	}
	c, err := Open(path, &o)
	if err != nil {
		return nil, err
	}
	return stored.NewSource(c.dump, path, opts.Threads)
}
