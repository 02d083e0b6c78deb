// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/readelf"
)

// needReadelf skips the test where the program it compares with is missing,
// and when another version would print other bytes.
func needReadelf(tb testing.TB) {
	tb.Helper()
	out, err := exec.Command("readelf", "--version").Output()
	if err != nil {
		tb.Skip("skipped: readelf is not installed")
	}
	if first, _, _ := bytes.Cut(out, []byte("\n")); !bytes.Contains(first, []byte(" 2.40")) {
		tb.Skip("skipped: readelf 2.40 is not installed")
	}
}

func flag(mode readelf.Mode) string {
	if mode == readelf.Raw {
		return "-wf"
	}
	return "-wF"
}

var modes = []readelf.Mode{readelf.Rows, readelf.Raw}

// comparison is a writer that compares what is written with what is read from
// readelf, and keeps neither.
type comparison struct {
	expected io.Reader
	offset   int64
	line     int
	before   []byte // the line that the last write ended in
	buf      []byte
}

var errDiffers = errors.New("output differs")

func (c *comparison) Write(p []byte) (int, error) {
	if len(c.buf) < len(p) {
		c.buf = make([]byte, len(p))
	}
	n, _ := io.ReadFull(c.expected, c.buf[:len(p)])
	if got := c.buf[:n]; !bytes.Equal(got, p) {
		i := 0
		for i < n && got[i] == p[i] {
			i++
		}
		more, _ := io.ReadAll(io.LimitReader(c.expected, 200))
		from := bytes.LastIndexByte(p[:i], '\n') + 1
		return 0, fmt.Errorf("%w at byte %d, line %d:\nreadelf: %.200q\nClew:    %.200q", errDiffers,
			c.offset+int64(i), c.line+bytes.Count(p[:i], []byte("\n"))+1, append(got[from:n:n], more...), p[from:])
	}
	c.offset += int64(n)
	c.line += bytes.Count(p, []byte("\n"))
	return n, nil
}

// compare runs readelf and File on a file, both at once.
func compare(path string, mode readelf.Mode) (faults, err error) {
	f, err := object.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	separate, err := readelf.SeparateFiles(f)
	if err != nil {
		return nil, err
	}
	for _, d := range separate {
		defer d.Close()
	}
	cmd := exec.Command("readelf", flag(mode), path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &comparison{expected: out}
	faults = readelf.File(c, f, separate, mode)
	rest, _ := io.ReadAll(io.LimitReader(out, 200))
	io.Copy(io.Discard, out)
	cmd.Wait() // fails for files with a NOBITS section, among others
	switch {
	case errors.Is(faults, errDiffers):
		return nil, faults
	case len(rest) > 0:
		return nil, fmt.Errorf("%w at byte %d: only readelf prints %q", errDiffers, c.offset, rest)
	}
	return faults, nil
}

// compareAll compares every file in every mode, on all processors.
func compareAll(t *testing.T, paths []string) {
	type job struct {
		path string
		mode readelf.Mode
	}
	jobs := make(chan job)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for j := range jobs {
				faults, err := compare(j.path, j.mode)
				if err != nil {
					t.Errorf("readelf %s %s: %v", flag(j.mode), j.path, err)
				} else if faults != nil {
					t.Errorf("%s %s: %v", j.path, flag(j.mode), faults)
				}
			}
		})
	}
	for _, path := range paths {
		for _, mode := range modes {
			jobs <- job{path, mode}
		}
	}
	close(jobs)
	wait.Wait()
}

// elfFiles returns the ELF files below the directories, each once, however
// many links it has.
func elfFiles(t *testing.T, dirs ...string) []string {
	type inode struct{ device, number uint64 }
	var paths []string
	seen := make(map[inode]bool)
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				id := inode{s.Dev, s.Ino}
				if seen[id] {
					return nil
				}
				seen[id] = true
			}
			f, err := os.Open(path)
			if err != nil {
				return nil
			}
			defer f.Close()
			var magic [4]byte
			if io.ReadFull(f, magic[:]); string(magic[:]) == "\x7fELF" {
				paths = append(paths, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// TestInstalled compares with readelf on every ELF file of the system, or with
// -short on one in twenty.
func TestInstalled(t *testing.T) {
	needReadelf(t)
	paths := elfFiles(t, "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec")
	if testing.Short() {
		sample := paths[:0:0]
		for i := 0; i < len(paths); i += 20 {
			sample = append(sample, paths[i])
		}
		paths = sample
	}
	t.Logf("%d files", len(paths))
	compareAll(t, paths)
}

// TestOtherMachines compares with readelf on the C libraries of Debian's cross
// packages, whatever machine they are for.
func TestOtherMachines(t *testing.T) {
	needReadelf(t)
	dirs, err := filepath.Glob("/usr/*-linux-gnu*")
	if err != nil {
		t.Fatal(err)
	}
	paths := elfFiles(t, dirs...)
	if len(paths) == 0 {
		t.Skip("skipped: libc6-arm64-cross is not installed")
	}
	t.Logf("%d files", len(paths))
	compareAll(t, paths)
}
