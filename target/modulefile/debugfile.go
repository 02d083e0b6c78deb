// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package modulefile

import (
	"github.com/clewdev/clew/object"
)

// OpenDebugFile looks for the separate debug file of an object file, which belongs
// to f from then on, as [object.File.OpenDebugFile] has it: in the stores, and
// where its .gnu_debuglink leads to. It returns nil and no error where f has none,
// or where it is not installed; the error wraps an *object.RefusedError where what
// is there is another file's.
func (s *Search) OpenDebugFile(f *object.File) (*object.File, error) {
	return f.OpenDebugFile(s.debugSearch())
}

// debugSearch is how package object is told of the stores.
func (s *Search) debugSearch() object.DebugSearch {
	search := object.DebugSearch{Root: s.Root, Directories: []string{}}
	for _, store := range s.stores() {
		if store.Layout == DebugDirectory {
			search.Directories = append(search.Directories, store.Dir)
		}
	}
	return search
}
