// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debugfile

import (
	"os"
	"path/filepath"

	"github.com/clewdev/clew/internal/untrusted"
)

// Store is a directory that has files by their build ID.
type Store struct {
	Dir    string
	Layout Layout
}

// Layout is how the files of a Store are named. A build ID is in hexadecimal.
type Layout uint8

const (
	// DebugDirectory has .build-id/xx/yyyy and, of separate debug files,
	// .build-id/xx/yyyy.debug, where xx is the first byte of the build ID: gdb's
	// debug-file-directory. It also has separate debug files by the name of a
	// .gnu_debuglink, in the directory of the file that has the link.
	DebugDirectory Layout = iota
	// PerfCache has .build-id/xx/yyyy/elf, and vdso or debug in place of elf:
	// perf-buildid-cache(1).
	PerfCache
	// DebuginfodCache has BUILDID/executable and BUILDID/debuginfo:
	// debuginfod_find_debuginfo(3), "CACHE".
	DebuginfodCache
)

// Kind is what is wanted of a build ID.
type Kind uint8

const (
	Executable Kind = iota // what was mapped
	DebugInfo              // its separate debug file
)

// String is what a DebuginfodCache and its servers call it.
func (k Kind) String() string {
	if k == DebugInfo {
		return "debuginfo"
	}
	return "executable"
}

// paths returns the paths of what a store may have of a build ID.
func (s Store) paths(id string, k Kind) []string {
	switch s.Layout {
	case PerfCache:
		dir := filepath.Join(s.Dir, ".build-id", id[:2], id[2:])
		if k == DebugInfo {
			return []string{filepath.Join(dir, "debug")}
		}
		return []string{filepath.Join(dir, "elf"), filepath.Join(dir, "vdso")}
	case DebuginfodCache:
		// An empty file says that no server had one.
		path := filepath.Join(s.Dir, id, k.String())
		if info, err := untrusted.Stat("", path); err == nil && info.Size() == 0 {
			return nil
		}
		return []string{path}
	}
	name := filepath.Join(s.Dir, ".build-id", id[:2], id[2:])
	if k == DebugInfo {
		name += ".debug"
	}
	return []string{name}
}

// Kallsyms returns the paths where the symbols of a kernel may be, given its build
// ID in hexadecimal: perf keeps a copy of /proc/kallsyms. There are none without an
// ID.
func (s *Search) Kallsyms(id string) (paths []string) {
	for _, store := range s.stores() {
		if id != "" && store.Layout == PerfCache {
			paths = append(paths, filepath.Join(store.Dir, "[kernel.kallsyms]", id, "kallsyms"))
		}
	}
	return paths
}

// DefaultStores returns the stores that are there by convention: those of the
// distribution, /usr/lib/debug and /usr/lib, and of the user: perf's ~/.debug, and
// debuginfod's cache. None of them need exist.
func DefaultStores() []Store {
	list := []Store{{"/usr/lib/debug", DebugDirectory}, {"/usr/lib", DebugDirectory}}
	if home, err := os.UserHomeDir(); err == nil {
		list = append(list, Store{filepath.Join(home, ".debug"), PerfCache})
	}
	if cache := DebuginfodDir(); cache != "" {
		list = append(list, Store{cache, DebuginfodCache})
	}
	return list
}

// DebuginfodDir returns the directory that debuginfod's clients keep what they
// fetch in: $DEBUGINFOD_CACHE_PATH, ~/.debuginfod_client_cache where that is there,
// or else debuginfod_client in the user's cache directory
// (debuginfod_find_debuginfo(3)). It is "" where the user has none.
func DebuginfodDir() string {
	if cache := os.Getenv("DEBUGINFOD_CACHE_PATH"); cache != "" {
		return cache
	}
	if home, err := os.UserHomeDir(); err == nil {
		old := filepath.Join(home, ".debuginfod_client_cache")
		if _, err := untrusted.Stat("", old); err == nil {
			return old
		}
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "debuginfod_client")
}
