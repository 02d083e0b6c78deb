// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/jit"
)

// The structures agree with the debugging information of the runtime that runs the test.
func TestLayout(t *testing.T) {
	l, err := layoutOf(runtime.Version())
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(testprogram.Build(t, "goroutines"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	var h head
	var r record
	var c inlinedCall
	for name, want := range map[string]map[string]uintptr{
		"runtime.moduledata": {
			"": l.size, "pcHeader": unsafe.Offsetof(h.header), "funcnametab": unsafe.Offsetof(h.names), "cutab": unsafe.Offsetof(h.units),
			"filetab": unsafe.Offsetof(h.files), "pctab": unsafe.Offsetof(h.steps), "pclntable": unsafe.Offsetof(h.records),
			"ftab": unsafe.Offsetof(h.functions), "findfunctab": unsafe.Offsetof(h.buckets), "minpc": unsafe.Offsetof(h.minPC),
			"maxpc": unsafe.Offsetof(h.maxPC), "text": unsafe.Offsetof(h.text), "etext": unsafe.Offsetof(h.end),
			"gofunc": l.goFunc, "epclntab": l.endTable, "bad": l.bad, "next": l.next,
		},
		"runtime._func": {
			"": unsafe.Offsetof(r.numbers), "entryOff": unsafe.Offsetof(r.entry), "nameOff": unsafe.Offsetof(r.name), "pcsp": unsafe.Offsetof(r.depths),
			"pcfile": unsafe.Offsetof(r.files), "pcln": unsafe.Offsetof(r.lines), "npcdata": unsafe.Offsetof(r.tables),
			"cuOffset": unsafe.Offsetof(r.unit), "startLine": unsafe.Offsetof(r.startLine), "flag": unsafe.Offsetof(r.flag),
			"nfuncdata": unsafe.Offsetof(r.data),
		},
		"runtime.pcHeader":       {"magic": 0, "minLC": 6, "ptrSize": 7, "nfunc": 8},
		"runtime.inlinedCall":    {"": unsafe.Sizeof(c), "nameOff": unsafe.Offsetof(c.name), "parentPc": unsafe.Offsetof(c.parent)},
		"runtime.findfuncbucket": {"": unsafe.Sizeof(bucket{}), "idx": 0, "subbuckets": 4},
	} {
		got := fields(d, name)
		for field, offset := range want {
			if o, ok := got[field]; !ok || o != offset {
				t.Errorf("%s.%s is at %#x (%v), expected %#x", name, field, o, ok, offset)
			}
		}
	}
	if l.size > moduleSize-unsafe.Sizeof(tableHeader{}) || unsafe.Sizeof(r) > inlinedSize || unsafe.Offsetof(r.numbers)+4*(tablesPlain+dataPlain) > recordSize {
		t.Errorf("a module has %d bytes and a record %d", l.size, unsafe.Sizeof(r))
	}
}

// fields returns the offsets of the fields of a structure, and its size as field "".
func fields(d *dwarf.Data, name string) map[string]uintptr {
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			return nil
		}
		if e.Tag != dwarf.TagStructType || e.Val(dwarf.AttrName) != name {
			continue
		}
		typ, err := d.Type(e.Offset)
		if err != nil {
			return nil
		}
		all := map[string]uintptr{"": uintptr(typ.Size())}
		for _, f := range typ.(*dwarf.StructType).Field {
			all[f.Name] = uintptr(f.ByteOffset)
		}
		return all
	}
}

// toolchains are the Go releases with which the tests of this package are run: the first and the
// last patch release of each.
var toolchains = []string{"go1.26.0", "go1.26.8", "go1.27.0", "go1.27.4"}

// The tests of this package run with other toolchains, which are fetched: one a day, and each with CLEW_FULL=1.
func TestReleases(t *testing.T) {
	if os.Getenv("CLEW_TEST_RELEASES") != "" {
		return
	}
	goTool := testprogram.RequireTool(t, "go")
	for _, version := range sample.Of(t, toolchains, 1) {
		if version == runtime.Version() {
			continue
		}
		t.Run(version, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "test")
			build := exec.Command(goTool, "test", "-c", "-o", binary, ".")
			for _, v := range os.Environ() {
				if !strings.HasPrefix(v, "GOROOT=") {
					build.Env = append(build.Env, v)
				}
			}
			build.Env = append(build.Env, "GOTOOLCHAIN="+version)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", build, err, out)
			}
			run := exec.Command(binary, "-test.v")
			run.Env = append(build.Env, "CLEW_TEST_RELEASES=1")
			out, err := run.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s: %d tests passed", version, strings.Count(string(out), "--- PASS"))
		})
	}
}

// In a program of an untested release nothing is registered, and the error says so.
func TestUntestedRelease(t *testing.T) {
	if os.Getenv("CLEW_TEST_VERSION") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestUntestedRelease$", "-test.v")
		cmd.Env = append(os.Environ(), "CLEW_TEST_VERSION=1")
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip(err) // under qemu
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	before := lastModule
	version = func() string { return "go1.99" }
	c := leaves(t, textMemory(t, 4096), "untested", 1)
	_, err := jit.Publish(c) // no other publisher is there
	const want = "unsupported Go runtime: this program was built with go1.99, and the package is tested with go1.26, go1.27 only"
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected %s", err, want)
	}
	if name(c.Address+32) != "" || lastModule != before || Default.Listening() {
		t.Error("something is registered")
	}
	if _, err := Default.Publish(c); !errors.Is(err, ErrVersion) {
		t.Error(err)
	}
}

// In a process whose address space is limited, the tables leave most of it to the program.
func TestLimitedMemory(t *testing.T) {
	if os.Getenv("CLEW_TEST_LIMIT") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLimitedMemory$", "-test.v")
		cmd.Env = append(os.Environ(), "CLEW_TEST_LIMIT=1")
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip(err) // under qemu
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	used := func() (pages uint64) {
		b, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(string(b), &pages); err != nil {
			t.Fatal(err)
		}
		return pages * uint64(os.Getpagesize())
	}
	before := used()
	if before > 4<<30 {
		t.Skip("the program has much address space already: a race detector")
	}
	const limit = 4 << 30
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: before + limit, Max: before + limit}); err != nil {
		t.Fatal(err)
	}
	r := publish(t, leaves(t, textMemory(t, 32*10_000), "limited", 0, 1, 9999))
	if more := used() - before; more > limit/4 {
		t.Errorf("the tables take %d MiB of 4 GiB", more>>20)
	}
	if err := r.Withdraw(); err != nil {
		t.Error(err)
	}
}

// Plugins are appended to the runtime's list, also while code is published.
func TestPlugin(t *testing.T) {
	goTool := testprogram.RequireTool(t, "go")
	if out, err := exec.Command(goTool, "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) != "1" || os.Getenv("CLEW_TEST_RELEASES") != "" {
		t.Skip("needs cgo, and the toolchain of this module")
	}
	dir := t.TempDir()
	program, added := filepath.Join(dir, "program"), filepath.Join(dir, "added.so")
	for _, arguments := range [][]string{
		{"build", "-buildmode=plugin", "-o", added, "./testdata/plugin/added"},
		{"build", "-o", program, "./testdata/plugin"},
	} {
		if out, err := exec.Command(goTool, arguments...).CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", arguments, err, out)
		}
	}
	out, err := exec.Command(program, added).CombinedOutput()
	if want := "code.before code.after Name\n code.after Name\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s\nexpected\n%s", err, out, want)
	}
}
