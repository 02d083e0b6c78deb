// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// folder contains the test's programs.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "clew-jit-gdb-"); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(folder)
	os.Exit(status)
}

// A build is a way to build the test program.
type build struct {
	name  string
	cgo   bool
	flags []string

	hidden bool // debuggers do not find the descriptor
	bare   bool // Go's functions have no unwind tables
}

var builds = []build{
	{name: "plain"},
	{name: "pie", flags: []string{"-buildmode=pie"}},
	{name: "cgo", cgo: true},
	{name: "without DWARF", flags: []string{"-ldflags=-w"}, bare: true},
	{name: "stripped", flags: []string{"-ldflags=-s -w"}, hidden: true, bare: true},
	{name: "stripped cgo", cgo: true, flags: []string{"-ldflags=-s -w"}, hidden: true, bare: true},
}

// buildsOfDay returns two of the builds: one in which debuggers find the descriptor, and one in
// which they do not.
func buildsOfDay(t *testing.T) []build {
	return sample.Covering(t, builds, 2, func(b build) []string { return []string{fmt.Sprint(b.hidden)} })
}

// second has another copy of the interface in its C code.
var second = build{name: "second", cgo: true, flags: []string{"-tags=second"}}

var built struct {
	sync.Mutex
	paths map[string]string
}

// path builds the program, once.
func (b build) path(t *testing.T) string {
	t.Helper()
	if b.cgo {
		testprogram.RequireTool(t, "gcc")
	}
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[b.name]; ok {
		return path
	}
	path := filepath.Join(folder, strings.ReplaceAll(b.name, " ", "-"))
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", path}, b.flags...), "./testdata/jit")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if b.cgo {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	if built.paths == nil {
		built.paths = make(map[string]string)
	}
	built.paths[b.name] = path
	return path
}

// debug runs gdb with commands, and returns its output and the program's.
func debug(t *testing.T, commands []string, args ...string) string {
	t.Helper()
	gdb := testprogram.RequireTool(t, "gdb")
	all := []string{"-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no"}
	for _, c := range append([]string{"set confirm off", "set width 0", "set breakpoint pending on", "set print thread-events off"}, commands...) {
		all = append(all, "-ex", c)
	}
	out, err := output(t, exec.Command(gdb, append(all, args...)...))
	// "Couldn't get registers: No such process": gdb 13 sometimes reads a thread
	// while the program exits.
	if err != nil && !strings.Contains(out, "No such process") {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	return out
}

// lldb runs lldb with commands.
func lldb(t *testing.T, commands []string, args ...string) string {
	t.Helper()
	lldb := testprogram.RequireTool(t, "lldb-14")
	all := []string{"--no-lldbinit", "--batch"}
	for _, c := range append([]string{"settings set plugin.jit-loader.gdb.enable on"}, commands...) {
		all = append(all, "-o", c)
	}
	cmd := exec.Command(lldb, append(all, args...)...)
	// lldb stops at each signal by which Go preempts a goroutine (SIGURG).
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	out, _ := output(t, cmd)
	return out // the exit status is that of the last command
}

func output(t *testing.T, cmd *exec.Cmd) (string, error) {
	t.Helper()
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// inOrder fails unless text contains the parts, regular expressions, in this order.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		at := regexp.MustCompile("(?m)" + p).FindStringIndex(rest)
		if at == nil {
			t.Errorf("no %q in its place in\n%s", p, text)
			return
		}
		rest = rest[at[1]:]
	}
}
