// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package object

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/untrusted"
)

// opens returns a function that reports whether a process has opened a file, of any kind.
func opens(t *testing.T, path string) func() bool {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	return func() bool {
		n, _ := unix.Read(fd, make([]byte, 4096))
		return n > 0
	}
}

// A program's debugging information names other files, and its author can have made those,
// too. FIFOs, devices, and links to them are not opened: opening can wait or have effects.
func TestNamedDevicesAndFIFOsAreNotOpened(t *testing.T) {
	tool(t, "objcopy")
	compile := func(t *testing.T, flags ...string) string {
		t.Helper()
		source := write(t, "inline.c", inlineSource)
		run(t, "gcc", append([]string{"-O2", "-g", "-c", "-o", source + ".o", source}, flags...)...)
		run(t, "gcc", "-o", source+".out", source+".o")
		return source + ".out"
	}
	for _, shape := range []struct {
		name string
		make func(t *testing.T) (program, named string)
	}{
		{"gnu_debuglink", func(t *testing.T) (string, string) {
			program, debug := split(t, "-Wl,--build-id=none")
			run(t, "objcopy", "--add-gnu-debuglink="+debug, program)
			return program, debug
		}},
		{"build ID", func(t *testing.T) (string, string) {
			program, _ := split(t, "-Wl,--build-id=0xbaba")
			id := filepath.Join(filepath.Dir(program), ".build-id", "ba")
			if err := os.MkdirAll(id, 0o755); err != nil {
				t.Fatal(err)
			}
			return program, filepath.Join(id, "ba.debug")
		}},
		{"gnu_debugaltlink", func(t *testing.T) (string, string) {
			tool(t, "dwz")
			program := buildShapes(t, "g++")
			shareGNU(t, program)
			return program, filepath.Join(filepath.Dir(program), "shared.debug")
		}},
		{"dwo", func(t *testing.T) (string, string) {
			program := compile(t, "-gsplit-dwarf")
			return program, strings.TrimSuffix(program, ".out") + ".dwo"
		}},
		{"GNU dwo", func(t *testing.T) (string, string) {
			program := compile(t, "-gsplit-dwarf", "-gdwarf-4")
			return program, strings.TrimSuffix(program, ".out") + ".dwo"
		}},
		{"dwp", func(t *testing.T) (string, string) {
			program := compile(t, "-gsplit-dwarf")
			if err := os.Remove(strings.TrimSuffix(program, ".out") + ".dwo"); err != nil {
				t.Fatal(err)
			}
			return program, program + ".dwp"
		}},
	} {
		for kind, place := range map[string]func(path string) (opened string, err error){
			"FIFO": func(path string) (string, error) { return path, unix.Mkfifo(path, 0o600) },
			"link to FIFO": func(path string) (string, error) {
				return path + ".fifo", errors.Join(unix.Mkfifo(path+".fifo", 0o600), os.Symlink(path+".fifo", path))
			},
			"device": func(path string) (string, error) {
				return path, unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5)))
			},
			"link to device": func(path string) (string, error) {
				return path + ".device", errors.Join(unix.Mknod(path+".device", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))), os.Symlink(path+".device", path))
			},
		} {
			t.Run(shape.name+"/"+kind, func(t *testing.T) {
				program, named := shape.make(t)
				os.Remove(named)
				path, err := place(named)
				if errors.Is(err, unix.EPERM) {
					t.Skip("only root makes devices")
				}
				if err != nil {
					t.Fatal(err)
				}
				opened := opens(t, path)
				f := open(t, program)
				search := DebugSearch{Directories: []string{filepath.Dir(program)}}
				_, err = f.OpenDebugFile(search)
				for s := range f.Symbols() {
					_, locateErr := f.Locate(s.Address)
					err = errors.Join(err, locateErr)
				}
				_, readErr := readEntries(f)
				err = errors.Join(err, readErr)
				if opened() {
					t.Error("it was opened")
				}
				if !errors.Is(err, untrusted.ErrNotRegular) {
					t.Errorf("no error says so: %v", err)
				}
			})
		}
	}
}

// The debug file of a file named through a process's root directory is looked for below that
// directory.
func TestDebugFileBelowProcessRoot(t *testing.T) {
	program, debug := split(t, "-Wl,--build-id=none")
	run(t, "objcopy", "--add-gnu-debuglink="+debug, program)
	f := open(t, "/proc/self/root"+program)
	d, err := f.OpenDebugFile(DebugSearch{})
	if d == nil {
		t.Fatal(err)
	}
	checkDebugFile(t, f, d)
}
