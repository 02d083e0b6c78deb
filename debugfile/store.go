// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debugfile

import (
	"os"
	"path/filepath"

	"github.com/clewdev/clew/internal/untrusted"
)

// Store is a directory with files by build ID.
type Store struct {
	Dir    string
	Layout Layout
}

// Layout is the naming scheme of a Store. Build IDs are in hexadecimal.
type Layout uint8

const (
	// DebugDirectory contains .build-id/xx/yyyy, and separate debug files as
	// .build-id/xx/yyyy.debug, where xx is the first byte of the build ID: gdb's
	// debug-file-directory. It also contains separate debug files by the name in a
	// .gnu_debuglink, in the directory of the file with the link.
	DebugDirectory Layout = iota
	// PerfCache contains .build-id/xx/yyyy/elf, or vdso or debug instead of elf:
	// perf-buildid-cache(1).
	PerfCache
	// DebuginfodCache contains BUILDID/executable and BUILDID/debuginfo:
	// debuginfod_find_debuginfo(3), "CACHE".
	DebuginfodCache
)

// Kind is the kind of file to look for.
type Kind uint8

const (
	Executable Kind = iota // the mapped file
	DebugInfo              // its separate debug file
)

// String returns the name of the kind in a DebuginfodCache and on its servers.
func (k Kind) String() string {
	if k == DebugInfo {
		return "debuginfo"
	}
	return "executable"
}

// paths returns the possible paths of a file of the build ID in the store.
func (s Store) paths(id string, k Kind) []string {
	switch s.Layout {
	case PerfCache:
		dir := filepath.Join(s.Dir, ".build-id", id[:2], id[2:])
		if k == DebugInfo {
			return []string{filepath.Join(dir, "debug")}
		}
		return []string{filepath.Join(dir, "elf"), filepath.Join(dir, "vdso")}
	case DebuginfodCache:
		// An empty file means that no server had one.
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

// Kallsyms returns the possible paths of a kernel's symbols, given its build ID in
// hexadecimal: perf keeps a copy of /proc/kallsyms. It returns none for an empty ID.
func (s *Search) Kallsyms(id string) (paths []string) {
	for _, store := range s.stores() {
		if id != "" && store.Layout == PerfCache {
			paths = append(paths, filepath.Join(store.Dir, "[kernel.kallsyms]", id, "kallsyms"))
		}
	}
	return paths
}

// DefaultStores returns the conventional stores: /usr/lib/debug and /usr/lib of the
// distribution, and the user's ~/.debug (perf) and debuginfod cache. They need not
// exist.
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

// DebuginfodDir returns the cache directory of debuginfod's clients:
// $DEBUGINFOD_CACHE_PATH, or ~/.debuginfod_client_cache if that exists, or else
// debuginfod_client in the user's cache directory (debuginfod_find_debuginfo(3)). It
// returns "" if the user has no cache directory.
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
