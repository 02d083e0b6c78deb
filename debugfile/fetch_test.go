// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package debugfile_test

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// A file that no store has is fetched by its build ID and checked like the others. An
// empty file in debuginfod's cache counts as missing.
func TestFetch(t *testing.T) {
	objcopy := testprogram.RequireTool(t, "objcopy")
	dir := t.TempDir()
	whole, stripped := testprogram.Build(t, "chain.c", "-O2", "-g", "-Wl,--build-id=0x"+rightID), filepath.Join(dir, "stripped")
	if out, err := exec.Command(objcopy, "--strip-all", whole, stripped).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, out)
	}
	id, _ := hex.DecodeString(rightID)
	for _, kind := range []debugfile.Kind{debugfile.Executable, debugfile.DebugInfo} {
		name := filepath.Join(dir, "cache", rightID, kind.String())
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var asked []string
	has, no := "", error(fs.ErrNotExist)
	search := debugfile.Search{
		Stores: []debugfile.Store{{Dir: filepath.Join(dir, "cache"), Layout: debugfile.DebuginfodCache}},
		Fetch: func(what debugfile.Kind, id []byte) (*os.File, error) {
			asked = append(asked, what.String()+" "+hex.EncodeToString(id))
			if has == "" {
				return nil, no
			}
			return os.Open(has)
		},
	}
	module := debugfile.Module{Path: "/nonexistent/program", BuildID: id}
	debug := func(path string) (*object.File, error) {
		t.Helper()
		f, err := object.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return search.OpenDebugFile(f)
	}
	broken := errors.New("the network is broken")
	for _, tt := range []struct {
		has   string
		no    error
		want  string // in the error of a module, "" for none
		debug string // in the error of a debug file
	}{
		{"", fs.ErrNotExist, "nor could one be fetched", ""},
		{"", broken, broken.Error(), broken.Error()},
		{build(t, wrongID), nil, "its build ID is " + wrongID, "its build ID is " + wrongID},
		{whole, nil, "", ""},
	} {
		has, no, asked = tt.has, tt.no, nil
		f, err := search.OpenObject(&module)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: a module: %v", tt, err)
		}
		if err == nil {
			f.Close()
		}
		d, err := debug(stripped)
		if (err == nil) != (tt.debug == "") || err != nil && !strings.Contains(err.Error(), tt.debug) || (d != nil) != (tt.has == whole) {
			t.Errorf("%+v: a debug file: %t, %v", tt, d != nil, err)
		}
		if got := strings.Join(asked, ", "); got != "executable "+rightID+", debuginfo "+rightID {
			t.Errorf("%+v: asked for %s", tt, got)
		}
	}
	// A file with debugging information needs no debug file.
	asked = nil
	if d, err := debug(whole); d != nil || err != nil || asked != nil {
		t.Errorf("a whole file: %t, %v, asked for %q", d != nil, err, asked)
	}
}
