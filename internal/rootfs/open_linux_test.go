// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOpen(t *testing.T) {
	outer := t.TempDir()
	root := filepath.Join(outer, "root")
	for name, text := range map[string]string{"secret": "outside", "root/secret": "inside", "root/lib/a": "a"} {
		path := filepath.Join(outer, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"up": "../secret", "lib/b": "a", "absolute": "/secret", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ name, want string }{
		{"/lib/a", "a"},
		{"/lib/b", "a"},
		{"/lib/../lib/a", "a"},
		{"/../secret", "inside"},
		{"/up", "inside"},
		{"/absolute", "inside"},
		{"/absent", ""},
		{"/loop", ""},
	} {
		f, err := Open(root, tt.name)
		if err != nil {
			var pathError *fs.PathError
			if tt.want != "" || !errors.As(err, &pathError) {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		b, err := io.ReadAll(f)
		f.Close()
		if err != nil || string(b) != tt.want {
			t.Errorf("%s holds %q (%v), expected %q", tt.name, b, err, tt.want)
		}
	}
}

// What is no file of bytes is not opened: a FIFO would have it wait, and a device
// may do something.
func TestOpenOnlyRegularFiles(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "directory"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		root, name string
		regular    bool
	}{
		{root, "/directory", false},
		{root, "/fifo", false},
		{"", filepath.Join(root, "directory"), false},
		{"", filepath.Join(root, "fifo"), false},
		{"", "/dev/null", false},
		{"/", "/dev/null", false},
		{"", filepath.Join(root, "link"), true},
		{root, "/link", true},
		{"", "open_linux_test.go", true}, // relative to the working directory
		{"", "/proc/self/exe", true},
	} {
		f, err := Open(tt.root, tt.name)
		if err == nil {
			f.Close()
		}
		if tt.regular != (err == nil) || !tt.regular && !errors.Is(err, ErrNotRegular) {
			t.Errorf("%q, %q: %v", tt.root, tt.name, err)
		}
	}
}
