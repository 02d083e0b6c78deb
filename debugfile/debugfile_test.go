// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package debugfile_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// Each store finds the separate debug file of a build ID, and refuses another file in
// its place.
func TestOpenDebugFile(t *testing.T) {
	objcopy := testprogram.RequireTool(t, "objcopy")
	dir := t.TempDir()
	split := func(id string) (program, debug string) {
		program, debug = filepath.Join(dir, id), filepath.Join(dir, id+".debug")
		for _, args := range [][]string{{"--only-keep-debug", build(t, id), debug}, {"--strip-all", build(t, id), program}} {
			if out, err := exec.Command(objcopy, args...).CombinedOutput(); err != nil {
				t.Fatalf("objcopy: %v\n%s", err, out)
			}
		}
		return program, debug
	}
	program, debug := split(rightID)
	_, wrong := split(wrongID)
	store := filepath.Join(dir, "store")
	for layout, name := range map[debugfile.Layout]string{
		debugfile.DebugDirectory:  store + "/.build-id/12/34567890abcdef.debug",
		debugfile.PerfCache:       store + "/.build-id/12/34567890abcdef/debug",
		debugfile.DebuginfodCache: store + "/" + rightID + "/debuginfo",
	} {
		search := debugfile.Search{Stores: []debugfile.Store{{Dir: store, Layout: layout}}}
		open := func() (*object.File, error) {
			t.Helper()
			f, err := object.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			return search.OpenDebugFile(f)
		}
		if d, err := open(); d != nil || err != nil {
			t.Errorf("layout %d: without a file: %v, %v", layout, d, err)
		}
		place(t, wrong, name)
		var refused *object.RefusedError
		if d, err := open(); d != nil || !errors.As(err, &refused) || refused.Path != name ||
			refused.Reason != "its build ID is "+wrongID+", and "+rightID+" is expected" {
			t.Errorf("layout %d: another file: %v, %v", layout, d, err)
		}
		place(t, debug, name)
		d, err := open()
		if err != nil || d == nil || d.Name() != name {
			t.Errorf("layout %d: %v, %v", layout, d, err)
			continue
		}
		if _, ok := d.Symbol("innermost"); !ok {
			t.Errorf("layout %d: the debug file does not name innermost", layout)
		}
	}
}
