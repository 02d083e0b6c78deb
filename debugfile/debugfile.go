// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debugfile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
)

// OpenDebugFile looks for the separate debug file of an object file, as
// [object.File.OpenDebugFile] does: in the stores, at the place that its
// .gnu_debuglink names, and last by Fetch unless f has debugging information of its
// own. f owns the debug file. If there is no debug file, OpenDebugFile returns nil and
// no error. The error wraps an *object.RefusedError if only a debug file of another file
// was found and f has no debugging information of its own.
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
		return nil, nil // with complete debugging information
	}
	return d, err
}

// isStored reports whether a debug file is stored by its build ID; split units are not.
func isStored(kind object.DebugKind, id []byte) bool {
	return len(id) >= 2 && (kind == object.SeparateDebug || kind == object.SupplementaryDebug)
}

// debugSearch passes the stores to package object, which knows the layout of a
// DebugDirectory and asks for files of the other layouts.
func (s *Search) debugSearch() object.DebugSearch {
	search := object.DebugSearch{Root: s.Root, Directories: []string{}, Open: s.openDebug, Sections: s.Sections}
	for _, store := range s.stores() {
		if store.Layout == DebugDirectory {
			search.Directories = append(search.Directories, store.Dir)
		}
	}
	return search
}

// openDebug opens the debug file of a build ID in the caches.
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

func refuse(p *Place, format string, args ...any) error {
	return &object.RefusedError{Path: p.Name(), Reason: fmt.Sprintf(format, args...)}
}

// NotFoundError lists the places where a file was looked for, and why found files were refused.
// It wraps fs.ErrNotExist if nothing was found at all.
type NotFoundError struct {
	Path    string // of the module, as the target sees it
	BuildID []byte // nil if unknown

	Failed []error  // for each file found: an *object.RefusedError, or a read error
	Absent []string // paths without a file
	Stores []string // directories without a file of the build ID
	Asked  bool     // Search.Fetch did not find it either
}

func (e *NotFoundError) Error() string { return e.Path + ": " + e.Reason() }

// Reason returns the error text without the name of the module.
func (e *NotFoundError) Reason() string {
	var text []string
	for _, err := range e.Failed {
		text = append(text, err.Error())
	}
	switch n := len(e.Absent); {
	case n == 0 && len(text) == 0, n == 1 && e.Absent[0] == e.Path:
		text = append(text, "it is not there")
	case n > 0:
		text = append(text, "there is no "+strings.Join(e.Absent, ", no "))
	}
	if len(e.Stores) > 0 {
		text = append(text, fmt.Sprintf("no file of build ID %x was found in %s", e.BuildID, strings.Join(e.Stores, ", ")))
		if e.Asked {
			text[len(text)-1] += ", nor could one be fetched"
		}
	}
	return strings.Join(text, "; ")
}

// Unwrap returns the errors of the files that were found.
func (e *NotFoundError) Unwrap() []error {
	if len(e.Failed) == 0 {
		return []error{fs.ErrNotExist}
	}
	return e.Failed
}
