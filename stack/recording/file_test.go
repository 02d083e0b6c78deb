// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package recording

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot/perfdata"
)

// A program that was deleted and its separate debug file are found in the caches of debuginfod
// and perf. A debug file of another build is refused and reported.
func TestCaches(t *testing.T) {
	objcopy := testprogram.RequireTool(t, "objcopy")
	// perf record keeps the program in ~/.debug, which no other test may share.
	const id, otherID = "5c0a7e5f11e5ca5e", "5c0a7e5f11e5ca5f"
	run := func(args ...string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(args[len(args)-1]), 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(objcopy, args...).CombinedOutput(); err != nil {
			t.Fatalf("objcopy: %v\n%s", err, out)
		}
	}
	built := compile(t, "gcc", "sort.c", "-O2", "-g", "-Wl,--build-id=0x"+id)
	other := compile(t, "gcc", "sort.c", "-O2", "-g", "-Wl,--build-id=0x"+otherID)
	program := filepath.Join(t.TempDir(), "stripped")
	run("--strip-all", built, program)
	path := record(t, []string{"--call-graph", "dwarf,16384"}, program, "100")
	os.Remove(program)

	for _, test := range []struct {
		layout            debugfile.Layout
		executable, debug string
	}{
		{debugfile.DebuginfodCache, id + "/executable", id + "/debuginfo"},
		{debugfile.PerfCache, ".build-id/5c/0a7e5f11e5ca5e/elf", ".build-id/5c/0a7e5f11e5ca5e/debug"},
		{debugfile.DebugDirectory, ".build-id/5c/0a7e5f11e5ca5e", ".build-id/5c/0a7e5f11e5ca5e.debug"},
	} {
		dir := t.TempDir()
		executable, debug := filepath.Join(dir, test.executable), filepath.Join(dir, test.debug)
		read := func(complete, used, named bool, note string) {
			t.Helper()
			r, err := perfdata.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			rec, err := Read(r, Options{Search: debugfile.Search{Stores: []debugfile.Store{{Dir: dir, Layout: test.layout}}}})
			if err != nil {
				t.Fatal(err)
			}
			found, hasName := false, false
			for i := range rec.Places() {
				f := &rec.Places()[i]
				found = found || f.Object != nil && f.Object.Name == program && f.Object.Path == executable
				hasName = hasName || f.Symbol.Name == "compare"
			}
			notes := strings.Join(rec.Notes, "\n")
			if rec.Complete != complete || found != used || hasName != named || !strings.Contains(notes, note) {
				t.Errorf("layout %d: complete %t, %s is used %t, named %t: %s", test.layout, rec.Complete, executable, found, hasName, notes)
			}
		}
		read(false, false, false, program+" is missing: it is not there; no file of build ID "+id+" was found in "+dir)
		run("--strip-all", built, executable)
		read(true, true, false, "")
		run("--only-keep-debug", other, debug)
		read(false, true, false, debug+" was not used: its build ID is "+otherID+", and "+id+" is expected")
		run("--only-keep-debug", built, debug)
		read(true, true, true, "")
	}
}
