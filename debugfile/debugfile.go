// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debugfile

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
)

// OpenDebugFile looks for the separate debug file of an object file, which belongs
// to f from then on, as [object.File.OpenDebugFile] has it: in the stores, and
// where its .gnu_debuglink leads to; last, unless f has debugging information of its
// own, by Fetch. It returns nil and no error where f has none,
// or where it is not installed; the error wraps an *object.RefusedError where what
// is there is another file's and f has no debugging information of its own.
func (s *Search) OpenDebugFile(f *object.File) (*object.File, error) {
	search := s.debugSearch()
	whole := f.HasDebugInfo()
	if s.Fetch != nil {
		search.Open = func(kind object.DebugKind, name string, id []byte) (*os.File, error) {
			file, err := s.openDebug(kind, name, id)
			if !errors.Is(err, fs.ErrNotExist) || !isStored(kind, id) || whole && kind == object.SeparateDebug {
				return file, err
			}
			return s.Fetch(DebugInfo, id)
		}
	}
	d, err := f.OpenDebugFile(search)
	if d == nil && whole {
		return nil, nil // of which nothing is missing
	}
	return d, err
}

// isStored reports whether a file with debugging information is kept by its build
// ID: split units are not.
func isStored(kind object.DebugKind, id []byte) bool {
	return len(id) >= 2 && (kind == object.SeparateDebug || kind == object.SupplementaryDebug)
}

// debugSearch passes the stores to package object: it knows how a
// DebugDirectory is laid out, and asks for the others.
func (s *Search) debugSearch() object.DebugSearch {
	search := object.DebugSearch{Root: s.Root, Directories: []string{}, Open: s.openDebug, Sections: s.Sections}
	for _, store := range s.stores() {
		if store.Layout == DebugDirectory {
			search.Directories = append(search.Directories, store.Dir)
		}
	}
	return search
}

// openDebug opens what the caches have for a build ID.
func (s *Search) openDebug(kind object.DebugKind, _ string, id []byte) (*os.File, error) {
	if !isStored(kind, id) {
		return nil, fs.ErrNotExist
	}
	for _, store := range s.stores() {
		if store.Layout == DebugDirectory {
			continue
		}
		for _, path := range store.paths(hex.EncodeToString(id), DebugInfo) {
			f, err := untrusted.Open("", path)
			if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				return f, err
			}
		}
	}
	return nil, fs.ErrNotExist
}
