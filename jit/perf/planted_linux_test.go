// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// All users can write to /tmp. A FIFO at the path of the map or the jitdump blocks no
// publisher, and nothing is written through a link or to another user's file.
func TestPlanted(t *testing.T) {
	// A directory like /tmp, not that of the tests.
	dir := filepath.Join(t.TempDir(), "tmp")
	if err := errors.Join(os.Mkdir(dir, 0o700), unix.Chmod(dir, 0o1777)); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo := func(path string) error { return unix.Mkfifo(path, 0o666) }
	link := func(path string) error { return os.Symlink(secret, path) }
	hard := func(path string) error { return os.Link(secret, path) }
	others := func(path string) error {
		return errors.Join(os.WriteFile(path, []byte("precious"), 0o666), os.Chown(path, 65534, 65534))
	}
	for _, test := range []struct {
		name  string
		plant func(string) error
		want  string
	}{
		{"FIFO", fifo, "a FIFO or a socket, expected a regular file"},
		{"link", link, "too many levels of symbolic links"},
		{"hard link", hard, "a file with 2 names, expected 1"},
		{"another's", others, "a file of user 65534, expected user 0"},
	} {
		if test.name == "another's" && os.Geteuid() != 0 {
			continue
		}
		path := filepath.Join(dir, test.name)
		if err := test.plant(path); err != nil {
			t.Fatal(err)
		}
		if w, err := openMap(path, nil); err == nil || !strings.Contains(err.Error(), "perf map: open "+path+": ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v; expected %s", test.name, w, err, test.want)
		}
		if test.name != "FIFO" {
			if data, err := os.ReadFile(path); string(data) != "precious" {
				t.Errorf("%s: %q, %v", test.name, data, err)
			}
		}
	}

	// A jitdump is always a new file. A file is replaced, anything else refused.
	path := filepath.Join(dir, fmt.Sprintf("jit-%d.dump", os.Getpid()))
	if err := fifo(path); err != nil {
		t.Fatal(err)
	}
	if d, err := Create(dir); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v, %v", d, err)
	}
	if locked(path) {
		t.Error("a FIFO is locked")
	}
	for _, plant := range []func(string) error{hard, link} {
		os.Remove(path)
		if err := plant(path); err != nil {
			t.Fatal(err)
		}
		d, err := Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Publish(batch(0x1000, 1, 0)); err != nil {
			t.Error(err)
		}
		d.Close()
		if data, err := os.ReadFile(secret); string(data) != "precious" {
			t.Errorf("%q, %v", data, err)
		}
		os.Remove(path)
	}
}
