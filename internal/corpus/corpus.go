// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package corpus lists the real ELF files of the machine that the tests run
// on, for tests that compare what Clew reads in each of them with what another
// program reads. It never opens a file for more than its first bytes.
package corpus

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// Files returns the paths of every ELF file in /usr/bin, /usr/sbin and
// /usr/lib, links of both kinds left out, and of the C library of every other machine that
// Debian's cross packages have installed. Under -short it is every sixteenth of
// the former. The slice is the caller's.
func Files(tb testing.TB) []string {
	tb.Helper()
	all := machine()
	if testing.Short() {
		var some []string
		for i := 0; i < len(all); i += 16 {
			some = append(some, all[i])
		}
		all = some
	}
	return slices.Concat(all, CrossLibraries(tb))
}

// CrossLibraries returns the paths of the C libraries that Debian's
// libc6-ARCH-cross packages have installed.
func CrossLibraries(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob("/usr/*-linux-gnu*/lib*/libc.so.6")
	if err != nil {
		tb.Fatal(err)
	}
	return paths
}

// Each calls check for every path, in as many goroutines as the machine has
// processors. The largest files come first, so that none of them is what all
// wait for in the end.
func Each(paths []string, check func(path string)) {
	size := make(map[string]int64, len(paths))
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			size[p] = info.Size()
		}
	}
	sorted := slices.Clone(paths)
	slices.SortStableFunc(sorted, func(a, b string) int { return int(size[b] - size[a]) })
	next := make(chan string)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for p := range next {
				check(p)
			}
		})
	}
	for _, p := range sorted {
		next <- p
	}
	close(next)
	workers.Wait()
}

var machine = sync.OnceValue(func() []string {
	var paths []string
	bySize := make(map[int64][]fs.FileInfo) // those that were taken
	for _, dir := range []string{"/usr/bin", "/usr/sbin", "/usr/lib"} {
		// What cannot be read is not part of the corpus.
		filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || !isELF(path) {
				return nil
			}
			info, err := entry.Info()
			if err != nil || slices.ContainsFunc(bySize[info.Size()], func(f fs.FileInfo) bool { return os.SameFile(f, info) }) {
				return nil
			}
			bySize[info.Size()] = append(bySize[info.Size()], info)
			paths = append(paths, path)
			return nil
		})
	}
	return paths
})

func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && string(magic[:]) == "\x7fELF"
}
