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
