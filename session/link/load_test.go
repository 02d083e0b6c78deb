// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package link_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session/link"
	"github.com/clewdev/clew/session/link/internal/call"
)

// compile compiles testdata/small.c with a function that it imports.
func compile(t testing.TB, flags ...string) (small, add *object.File) {
	t.Helper()
	gcc := "gcc"
	if runtime.GOARCH == "arm64" {
		gcc = "aarch64-linux-gnu-gcc" // what Debian's native one is called too
	}
	if _, err := exec.LookPath(gcc); err != nil {
		t.Skipf("skipped: %s is not installed", gcc)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "add.c")
	if err := os.WriteFile(source, []byte("int host_add(int a, int b) { return a + b; }"), 0o644); err != nil {
		t.Fatal(err)
	}
	build := func(source, name string) *object.File {
		path := filepath.Join(dir, name)
		if out, err := exec.Command(gcc, append(flags, "-c", "-o", path, source)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		f, err := object.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	return build("testdata/small.c", "small.o"), build(source, "add.o")
}

// mappings returns the lines of /proc/self/maps that overlap [start, end).
func mappings(t testing.TB, start, end uint64) (list []string) {
	t.Helper()
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uint64
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x", &from, &to); err != nil {
			t.Fatal(err)
		}
		if from < end && start < to {
			list = append(list, lines.Text())
		}
	}
	return list
}

func TestLoad(t *testing.T) {
	for _, flags := range []string{"-O2", "-O0 -fPIC -g", "-O2 -fno-pic", "-O2 -ffunction-sections -fdata-sections -g -gz"} {
		t.Run(flags, func(t *testing.T) {
			small, add := compile(t, strings.Fields(flags)...)
			imported, err := link.Load(nil, add)
			if err != nil {
				t.Fatal(err)
			}
			defer imported.Close()
			p, err := link.Load(&link.Options{Resolve: imported.Symbol}, small)
			if errors.Is(err, link.ErrOverflow) && strings.Contains(flags, "-fno-pic") {
				p, err = link.Load(nil, small, add)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, address := range p.Init {
				call.Call(address, 0, 0, 0, 0)
			}
			test, ok := p.Symbol("test")
			if !ok {
				t.Fatal("no symbol test")
			}
			if got := call.Call(test, 0, 0, 0, 0); got != 240388683014 {
				t.Errorf("test returned %d, want 240388683014", got)
			}
			fib, _ := p.Symbol("fib")
			if got := call.Call(fib, 20, 0, 0, 0); got != 6765 {
				t.Errorf("fib(20) is %d", got)
			}
			counter, _ := p.Symbol("counter")
			if got := **(**int32)(unsafe.Pointer(&counter)); got != 6 {
				t.Errorf("counter is %d", got)
			}
			list := mappings(t, p.Start, p.End)
			// A guard, text, constants with relocated data, data, a guard. In qemu readable memory is also
			// executable.
			if len(list) != 5 && runtime.GOARCH == "amd64" {
				t.Errorf("mappings:\n%s", strings.Join(list, "\n"))
			}
			for _, line := range list {
				if strings.Contains(line, "wx") {
					t.Errorf("%s", line)
				}
			}
			for _, o := range p.Objects {
				for _, r := range o.Text {
					for _, line := range mappings(t, r.Start, r.End) {
						if !strings.Contains(line, " r-xp ") {
							t.Errorf("code of %s is in %s", o.Name, line)
						}
					}
				}
			}
			start, end := p.Start, p.End
			for range 2 {
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
			}
			for _, line := range mappings(t, start, end) {
				if !strings.Contains(line, "/") {
					t.Errorf("still mapped: %s", line)
				}
			}
		})
	}
}

// TestLoadMany loads one file repeatedly, several times at once.
func TestLoadMany(t *testing.T) {
	small, add := compile(t, "-O2")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 25 {
				p, err := link.Load(nil, small, add)
				if err != nil {
					t.Error(err)
					return
				}
				fib, _ := p.Symbol("fib")
				if got := call.Call(fib, 10, 0, 0, 0); got != 55 {
					t.Errorf("fib(10) is %d", got)
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
