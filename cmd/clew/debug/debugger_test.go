// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debug

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The socket is only in a directory whose files other users cannot rename.
func TestPrivateDirectory(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "clew-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	t.Setenv("XDG_RUNTIME_DIR", base)
	for _, test := range []struct {
		mode    os.FileMode
		private bool
	}{{0o700, true}, {0o755, true}, {0o777, false}, {0o770, false}, {0o777 | os.ModeSticky, true}} {
		if err := os.Chmod(base, test.mode); err != nil {
			t.Fatal(err)
		}
		l, err := listenPrivately()
		if err != nil {
			t.Fatal(err)
		}
		if inside := strings.HasPrefix(l.Address(), base+"/"); inside != test.private {
			t.Errorf("mode %v: the socket is %s", test.mode, l.Address())
		}
		if info, err := os.Stat(filepath.Dir(l.Address())); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("mode %v: the directory has mode %v, %v", test.mode, info.Mode(), err)
		}
		l.Close()
		l.remove()
	}
	if os.Geteuid() != 0 {
		return
	}
	// A directory of another user, as XDG_RUNTIME_DIR is after su.
	if err := os.Chmod(base, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(base, 1000, 1000); err != nil {
		t.Fatal(err)
	}
	if err := protects(base); err == nil || !strings.Contains(err.Error(), "another user (user ID 1000)") {
		t.Errorf("a directory of user 1000: %v", err)
	}
}
