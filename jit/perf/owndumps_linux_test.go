// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A file at the path of a jitdump is replaced if it has no writer.
func TestLeftOver(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(t *testing.T, path string)
		want string // of the error; "" if the file is replaced
	}{
		{"a file", func(t *testing.T, path string) { writeFile(t, path) }, ""},
		{"a folder", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "not a file"},
		{"open", func(t *testing.T, path string) { create(t, filepath.Dir(path)) }, "this program is writing it"},
		{"closed", func(t *testing.T, path string) {
			if err := create(t, filepath.Dir(path)).Close(); err != nil {
				t.Fatal(err)
			}
		}, "this program has closed it"},
		{"closed and removed", func(t *testing.T, path string) {
			if err := errors.Join(create(t, filepath.Dir(path)).Close(), os.Remove(path)); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"locked", func(t *testing.T, path string) {
			f := writeFile(t, path)
			t.Cleanup(func() { f.Close() })
			if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
				t.Fatal(err)
			}
		}, "another publisher is writing it"},
		{"mapped", func(t *testing.T, path string) {
			marker, err := mapMarker(writeFile(t, path))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { unmapMarker(marker) })
		}, "another publisher is writing it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a folder")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, fmt.Sprintf("jit-%d.dump", os.Getpid()))
			test.make(t, path)
			before, _ := os.Lstat(path)
			d, err := Create(dir)
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				if n := len(index(t, path).Functions()); n != 0 {
					t.Errorf("%d functions", n)
				}
				return
			}
			if d != nil || !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), path+": "+test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if now, err := os.Lstat(path); err != nil || !os.SameFile(now, before) {
				t.Errorf("the file was replaced: %v", err)
			}
		})
	}
}

func writeFile(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteString("of an earlier process"); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestExec replaces a program by another one in the same process (execve): it replaces
// the files of the first.
func TestExec(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		out, err := asRole("before execve", dir).CombinedOutput()
		if err != nil || string(out) != "replaced" {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

func init() {
	roles["before execve"] = func(dir string) error {
		if err := writeBoth(dir, 0x1000); err != nil {
			return err
		}
		if err := os.Setenv(roleVariable, "after execve"); err != nil {
			return err
		}
		return syscall.Exec("/proc/self/exe", []string{"after", dir}, os.Environ())
	}
	roles["after execve"] = func(dir string) error {
		defer os.Remove(mapPath())
		if err := writeBoth(dir, 0x2000); err != nil {
			return err
		}
		d, err := ReadJitdump(filepath.Join(dir, fmt.Sprintf("jit-%d.dump", os.Getpid())))
		if err != nil {
			return err
		}
		m, err := ReadMap(mapPath())
		if err != nil {
			return err
		}
		x := d.Index()
		_, inDump := x.Find(0x2000, math.MaxUint64)
		_, inMap := m.Find(0x2000)
		if !inDump || !inMap || len(x.Functions()) != 1 || len(m.Symbols()) != 1 {
			return fmt.Errorf("in the jitdump %t of %d functions, in the map %t of %d", inDump, len(x.Functions()), inMap, len(m.Symbols()))
		}
		fmt.Print("replaced")
		return nil
	}
}

// writeBoth publishes a function and closes nothing.
func writeBoth(dir string, address uint64) error {
	p, err := NewPublisher(Options{Jitdump: true, Map: true, Dir: dir})
	if err != nil {
		return err
	}
	_, err = p.Publish(batch(address, 1, 0))
	return err
}
