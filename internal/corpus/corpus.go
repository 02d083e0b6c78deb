// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package corpus lists the real ELF files of the machine that the tests run
// on, for tests that compare what Clew reads in each of them with what another
// program reads. It reads no more of a file than its ELF headers.
package corpus

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clewdev/clew/internal/sample"
)

// Files returns the paths of ELF files in /usr/bin, /usr/sbin and /usr/lib, without links
// of both kinds, and the result of CrossLibraries. By default it samples the former, with a
// file of each kind; with CLEW_FULL=1 it returns all of them (see package sample). The
// caller owns the slice.
func Files(tb testing.TB) []string {
	tb.Helper()
	files := machine()
	if !sample.Full() {
		part := int64(128)
		if testing.Short() {
			part = 256
		}
		files = choose(sample.Rand(tb), files, part)
	}
	return append(pathsOf(files), CrossLibraries(tb)...)
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
// processors. An error fails the test, unless the file has changed since: package
// managers replace and remove files.
func Each(tb testing.TB, paths []string, check func(path string) error) {
	tb.Helper()
	var groups [][]string
	for _, path := range paths {
		groups = append(groups, []string{path})
	}
	EachGroup(tb, groups, func(paths []string) error { return check(paths[0]) })
}

// EachGroup is Each for checks of several files at once. If a group fails and some of its
// files have changed, it checks the others again. The largest groups come first, so that
// none of them runs alone at the end.
func EachGroup(tb testing.TB, groups [][]string, check func(paths []string) error) {
	tb.Helper()
	type group struct {
		files []file
		size  int64
	}
	var sorted []group
	for _, paths := range groups {
		var g group
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil {
				g.files = append(g.files, file{path: path, info: info})
				g.size += info.Size()
			}
		}
		sorted = append(sorted, g)
	}
	slices.SortStableFunc(sorted, func(a, b group) int { return cmp.Compare(b.size, a.size) })
	next := make(chan []file)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for files := range next {
				for len(files) > 0 {
					err := check(pathsOf(files))
					if err == nil {
						break
					}
					same := slices.DeleteFunc(slices.Clone(files), file.changed)
					if len(same) == len(files) {
						tb.Errorf("%s: %v", strings.Join(pathsOf(files), ", "), err)
						break
					}
					tb.Logf("of %q, only %q did not change during the test: %v", pathsOf(files), pathsOf(same), err)
					files = same
				}
			}
		})
	}
	for _, g := range sorted {
		next <- g.files
	}
	close(next)
	workers.Wait()
}

type file struct {
	path string
	info fs.FileInfo
	kind string
}

func pathsOf(files []file) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	return paths
}

func (f file) changed() bool {
	info, err := os.Stat(f.path)
	return err != nil || !os.SameFile(f.info, info) || info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime())
}

// choose returns files that hold 1/parts of all bytes, and one more file of each kind that
// is not among them. It chooses a file larger than that only if its kind has no smaller one.
func choose(r *rand.Rand, all []file, parts int64) []file {
	left := int64(0)
	for _, f := range all {
		left += f.info.Size()
	}
	left /= parts
	var chosen []file
	smallest := make(map[string]file) // by kind, of the files not chosen
	known := make(map[string]bool)
	for _, i := range r.Perm(len(all)) {
		f := all[i]
		if size := f.info.Size(); size <= left {
			left -= size
			known[f.kind] = true
			chosen = append(chosen, f)
		} else if other, ok := smallest[f.kind]; !ok || size < other.info.Size() {
			smallest[f.kind] = f
		}
	}
	for kind, f := range smallest {
		if !known[kind] {
			chosen = append(chosen, f)
		}
	}
	slices.SortFunc(chosen, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	return chosen
}

var machine = sync.OnceValue(func() []file {
	var files []file
	bySize := make(map[int64][]fs.FileInfo) // of files
	for _, dir := range []string{"/usr/bin", "/usr/sbin", "/usr/lib"} {
		// Files that cannot be read are not part of the corpus.
		filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return nil
			}
			kind, ok := kindOf(path)
			if !ok {
				return nil
			}
			info, err := entry.Info()
			if err != nil || slices.ContainsFunc(bySize[info.Size()], func(f fs.FileInfo) bool { return os.SameFile(f, info) }) {
				return nil
			}
			bySize[info.Size()] = append(bySize[info.Size()], info)
			files = append(files, file{path, info, kind})
			return nil
		})
	}
	return files
})

// kindSections are the sections that distinguish kinds of files.
var kindSections = []string{".eh_frame", ".eh_frame_hdr", ".debug_frame", ".zdebug_frame", ".symtab", ".gopclntab", ".gnu_debugdata", ".gnu_debuglink", ".ARM.exidx"}

// kindOf describes an ELF file: its machine, its type, and its kindSections.
func kindOf(path string) (kind string, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil || string(magic[:]) != elf.ELFMAG {
		return "", false
	}
	headers, err := elf.NewFile(f)
	if err != nil {
		return "invalid", true
	}
	kind = fmt.Sprint(headers.Machine, headers.Class, headers.Data, headers.Type)
	for _, name := range kindSections {
		if s := headers.Section(name); s != nil {
			kind += fmt.Sprint(" ", name, s.Type)
		}
	}
	return kind, true
}
