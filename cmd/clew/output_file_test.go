// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/cmd/clew/debug"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/stack/generated"
)

// Clew keeps the mode of a file that it replaces. Only root can read a new file of root. Clew never
// writes through a link that another user may have made.
func TestOutputFiles(t *testing.T) {
	old := unix.Umask(0o022)
	defer unix.Umask(old)
	p := testprogram.Start(t, testprogram.Build(t, "chain.c", "-O1"), "wait")
	shared := filepath.Join(t.TempDir(), "tmp") // as /tmp is
	secret := filepath.Join(t.TempDir(), "secret")
	err := errors.Join(os.Mkdir(shared, 0o700), unix.Chmod(shared, 0o1777), os.WriteFile(secret, []byte("precious"), 0o640))
	if err != nil {
		t.Fatal(err)
	}
	undescribed := testprogram.Build(t, "chain.c", "-O1", "-c", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
	profile := func(flag string) func(string) error {
		return func(path string) error {
			out, err := clew(t, "stack", "--no-lines", flag, path, strconv.Itoa(p.PID)).CombinedOutput()
			if err != nil {
				err = errors.New(string(out))
			}
			return err
		}
	}
	for name, write := range map[string]func(path string) error{
		"pprof": profile("--pprof"), "flame": profile("--flame"), "speedscope": profile("--speedscope"),
		"jit extract": func(path string) error {
			return writeSymbolFile(path, &generated.Source{}, []byte("symbols"), &jitFlags{json: true})
		},
		"synth": func(path string) error {
			out, err := clew(t, "synth", undescribed, "-o", path).CombinedOutput()
			if err != nil {
				err = errors.New(string(out))
			}
			return err
		},
		"history": func(path string) error {
			t.Setenv("CLEW_HISTORY", path)
			before, _ := os.ReadFile(path)
			debug.OpenHistory().Add(fmt.Sprintf("print %d", len(before)))
			if after, _ := os.ReadFile(path); string(after) == string(before) {
				return errors.New("a symbolic link in a directory that other users can write to") // the history reports no errors
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			created := fs.FileMode(0o644)
			if os.Geteuid() == 0 || name == "history" {
				created = 0o600
			}
			for n, mode := range []fs.FileMode{created, 0o640, 0o600} {
				if n > 0 {
					if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, mode)); err != nil {
						t.Fatal(err)
					}
				}
				if err := write(path); err != nil {
					t.Fatal(err)
				}
				if info, err := os.Stat(path); err != nil || info.Mode() != mode || info.Size() == 0 {
					t.Errorf("%v, %v: expected mode %v", info.Mode(), err, mode)
				}
			}
			planted := filepath.Join(shared, name)
			if err := os.Symlink(secret, planted); err != nil {
				t.Fatal(err)
			}
			if err := write(planted); err == nil || !strings.Contains(err.Error(), "a symbolic link in a directory that other users can write to") {
				t.Errorf("%v", err)
			}
			if data, err := os.ReadFile(secret); string(data) != "precious" {
				t.Errorf("%q, %v", data, err)
			}
			if info, err := os.Stat(secret); err != nil || info.Mode() != 0o640 {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
	if names, err := os.ReadDir(shared); err != nil || len(names) != 6 {
		t.Errorf("%v, %v: temporary files remain", names, err)
	}
}
