// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package core_test

import (
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// names returns the function names of a core's first stack, "" for a frame without one,
// and the reason for the end of the stack.
func names(t *testing.T, path string, opts *core.Options) (c *core.Core, list []string, end unwind.Reason) {
	t.Helper()
	c, err := core.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	objects := stack.NewObjects(c.Snapshot())
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{})
	_ = objects.Name(stacks, stack.NameOptions{}) // fails if a file is missing, which the test checks
	for i := range stacks[0].Frames {
		list = append(list, stacks[0].Frames[i].Symbol.Name)
	}
	return c, list, stacks[0].Reason
}

const chain = "innermost inner middle outer main"

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A program that is no longer at its path is reported as missing with name and build ID,
// and found in all other places; another file in its place is refused.
func TestMovedProgram(t *testing.T) {
	dir := t.TempDir()
	original := filepath.Join(dir, "chain")
	right := testprogram.Build(t, "chain.c", "-O2", "-Wl,--build-id=0x1234567890abcdef")
	other := testprogram.Build(t, "chain.c", "-O2", "-Wl,--build-id=0xfedcba0987654321")
	none := testprogram.Build(t, "chain.c", "-O2", "-Wl,--build-id=none")
	t.Setenv("HOME", dir) // contains the caches
	t.Setenv("DEBUGINFOD_CACHE_PATH", "")
	t.Setenv("XDG_CACHE_HOME", "")
	copyFile(t, right, original)
	path := testprogram.Core(t, testprogram.CoreOptions{}, original)
	complete := func(opts *core.Options) {
		t.Helper()
		c, list, end := names(t, path, opts)
		if c.Missing() != nil || end != unwind.EndOfStack || !strings.Contains(strings.Join(list, " "), chain) {
			t.Errorf("%+v: %v, %v; missing %v", opts, list, end, c.Missing())
		}
	}
	complete(nil)
	moved := filepath.Join(dir, "elsewhere/chain")
	copyFile(t, original, moved)
	if err := os.Remove(original); err != nil {
		t.Fatal(err)
	}
	c, list, _ := names(t, path, nil)
	missing := c.Missing()
	if len(missing) != 1 || missing[0].Path != original || hex.EncodeToString(missing[0].BuildID) != "1234567890abcdef" ||
		!strings.Contains(missing[0].Err.Error(), "it is not there") || !strings.Contains(missing[0].Err.Error(), "1234567890abcdef") ||
		c.Snapshot().Mapping(missing[0].Address).Path != original {
		t.Errorf("missing %+v", missing)
	}
	if len(list) < 2 {
		t.Errorf("frames %v", list)
	}

	complete(&core.Options{Program: moved})
	root := filepath.Join(dir, "root")
	copyFile(t, moved, filepath.Join(root, original))
	complete(&core.Options{Search: debugfile.Search{Root: root}}) // and libraries with the right build ID outside of it
	debug := filepath.Join(dir, "debug")
	copyFile(t, moved, filepath.Join(debug, ".build-id/12/34567890abcdef"))
	complete(&core.Options{Search: debugfile.Search{Stores: []debugfile.Store{{Dir: debug}}}})
	copyFile(t, moved, filepath.Join(dir, "perf/.build-id/12/34567890abcdef/elf"))
	complete(&core.Options{Search: debugfile.Search{Stores: []debugfile.Store{{Dir: filepath.Join(dir, "perf"), Layout: debugfile.PerfCache}}}})
	copyFile(t, moved, filepath.Join(dir, "client/1234567890abcdef/executable"))
	complete(&core.Options{Search: debugfile.Search{Stores: []debugfile.Store{{Dir: filepath.Join(dir, "client"), Layout: debugfile.DebuginfodCache}}}})

	copyFile(t, other, original)
	for _, opts := range []*core.Options{nil, {Program: original}} {
		c, _, _ = names(t, path, opts)
		var refused *object.RefusedError
		if missing = c.Missing(); len(missing) != 1 || !errors.As(missing[0].Err, &refused) || refused.Path != original ||
			!strings.Contains(refused.Reason, "fedcba0987654321") || !strings.Contains(refused.Reason, "1234567890abcdef") {
			t.Errorf("missing %+v", missing)
		}
	}
	complete(&core.Options{Search: debugfile.Search{Stores: []debugfile.Store{{Dir: debug}}}})
	copyFile(t, none, original)
	if c, _, _ = names(t, path, nil); len(c.Missing()) != 1 {
		t.Errorf("a file without build ID was taken for one with: missing %v", c.Missing())
	}
}

// A program that is no longer at its path is found next to the core by its build ID.
func TestProgramBesideCore(t *testing.T) {
	dir := t.TempDir()
	original, beside := filepath.Join(dir, "bin/chain"), filepath.Join(dir, "sent/chain")
	right := testprogram.Build(t, "chain.c", "-O2", "-Wl,--build-id=0x1234567890abcdef")
	other := testprogram.Build(t, "chain.c", "-O2", "-Wl,--build-id=0xfedcba0987654321")
	t.Setenv("HOME", dir) // contains the caches
	t.Setenv("DEBUGINFOD_CACHE_PATH", "")
	t.Setenv("XDG_CACHE_HOME", "")
	copyFile(t, right, original)
	path := filepath.Join(dir, "sent/core")
	copyFile(t, testprogram.Core(t, testprogram.CoreOptions{}, original), path)
	for _, test := range []struct {
		original, beside string // the files there, "" for none
		found            bool
	}{
		{"", right, true},
		{other, right, true},
		{right, other, true},
		{"", other, false},
		{"", "", false},
	} {
		for at, from := range map[string]string{original: test.original, beside: test.beside} {
			os.Remove(at)
			if from != "" {
				copyFile(t, from, at)
			}
		}
		c, list, end := names(t, path, nil)
		found := c.Missing() == nil && end == unwind.EndOfStack && strings.Contains(strings.Join(list, " "), chain)
		if found != test.found || !found && len(c.Missing()) != 1 {
			t.Errorf("%+v: %v, %v; missing %v", test, list, end, c.Missing())
		}
	}
	// A sysroot can be a flat directory of collected files.
	os.Remove(original)
	os.Remove(beside)
	root := filepath.Join(dir, "collected")
	copyFile(t, right, filepath.Join(root, "chain"))
	c, list, end := names(t, path, &core.Options{Search: debugfile.Search{Root: root}})
	if c.Missing() != nil || end != unwind.EndOfStack || !strings.Contains(strings.Join(list, " "), chain) {
		t.Errorf("base name below the sysroot: %v, %v; missing %v", list, end, c.Missing())
	}
	copyFile(t, other, filepath.Join(root, "chain"))
	if c, list, _ := names(t, path, &core.Options{Search: debugfile.Search{Root: root}}); len(c.Missing()) != 1 {
		t.Errorf("another program below the sysroot: %v; missing %v", list, c.Missing())
	}
}

// Without the pages of ELF headers (coredump_filter) only the path identifies a file;
// if it has only stacks, a core is walked with the files.
func TestFilter(t *testing.T) {
	program := testprogram.Build(t, "chain.c", "-O2", "-g")
	for _, filter := range []string{"0x01", "0x7f"} {
		path := testprogram.Core(t, testprogram.CoreOptions{Filter: filter}, program)
		c, list, end := names(t, path, nil)
		if c.Missing() != nil || c.Damage() != nil || end != unwind.EndOfStack || !strings.Contains(strings.Join(list, " "), chain) {
			t.Errorf("filter %s: %v, %v; missing %v; damage %v", filter, list, end, c.Missing(), c.Damage())
		}
	}
}

// A core with the code needs files only for names without dynamic symbols.
func TestWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "chain")
	copyFile(t, testprogram.Build(t, "chain.c", "-O2", "-rdynamic"), program)
	t.Setenv("HOME", dir) // without caches
	path := testprogram.Core(t, testprogram.CoreOptions{Filter: "0x7f"}, program)
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	c, list, end := names(t, path, nil)
	if len(c.Missing()) != 1 || end != unwind.EndOfStack || !strings.Contains(strings.Join(list, " "), chain) {
		t.Errorf("%v, %v; missing %v", list, end, c.Missing())
	}
}

// Compressed cores have the same contents; one that is truncated has a part of them.
func TestCompressed(t *testing.T) {
	program := testprogram.Build(t, "chain.c", "-O2", "-g")
	path := testprogram.Core(t, testprogram.CoreOptions{}, program)
	_, want, _ := names(t, path, nil)
	for _, tool := range []string{"zstd", "lz4"} {
		packed := filepath.Join(t.TempDir(), "core."+tool)
		args := []string{"-q", "-f", path, packed}
		if tool == "zstd" {
			args = []string{"-q", "-f", path, "-o", packed}
		}
		if out, err := exec.Command(testprogram.RequireTool(t, tool), args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", tool, err, out)
		}
		temp := t.TempDir()
		var last, total int64
		c, got, end := names(t, packed, &core.Options{TempDir: temp, Progress: func(d, n int64) { last, total = d, n }})
		if c.Damage() != nil || end != unwind.EndOfStack || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v, %v; damage %v", tool, got, end, c.Damage())
		}
		if info, err := os.Stat(packed); err != nil || last != info.Size() || total != last {
			t.Errorf("%s: progress was %d of %d", tool, last, total)
		}
		if left, _ := os.ReadDir(temp); len(left) != 0 {
			t.Errorf("%s: %v remains", tool, left)
		}
		b, err := os.ReadFile(packed)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := core.Open(write(t, b[:len(b)-100]), &core.Options{TempDir: temp}); err == nil {
			if c.Damage() == nil {
				t.Errorf("%s, truncated: no damage", tool)
			}
			use(c)
			c.Close()
		}
	}
}
