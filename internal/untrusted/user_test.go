// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package untrusted

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// OpenAs opens as root only files that another user may read by the kernel's rules.
func TestOpenAsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has more rights than others")
	}
	dir := makeTree(t, map[string]string{"private": "", "public": "", "group": "", "closed/public": "", "own": ""},
		map[string]string{"link": "private", "closed/link": "../public", "tolink": "closed/public"})
	for name, mode := range map[string]os.FileMode{"private": 0o600, "group": 0o640, "closed": 0o700, "own": 0o600, "..": 0o755} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	const user, group = 12345, 23456
	if err := errors.Join(os.Chown(filepath.Join(dir, "own"), user, user), os.Chown(filepath.Join(dir, "group"), 0, group)); err != nil {
		t.Fatal(err)
	}
	plain := User{ID: user, Group: user}
	withoutOpenat2(t, func(t *testing.T) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for _, tt := range []struct {
					user User
					name string
					ok   bool
				}{
					{plain, "public", true},
					{plain, "own", true},
					{plain, "private", false},
					{plain, "link", false},
					{plain, "group", false},
					{plain, "closed/public", false},
					{plain, "closed/link", false},
					{plain, "tolink", false},
					{User{ID: user, Group: group}, "group", true},
					{User{ID: user, Group: user, Groups: []uint32{1, group}}, "group", true},
					{User{ID: user, Group: user, Groups: []uint32{1, 0}}, "private", false},
					{User{ID: 54321, Group: user}, "own", false},
					{Nobody, "public", true},
					{Nobody, "private", false},
					{User{}, "private", true},
					{User{}, "closed/link", true},
				} {
					for _, root := range []string{"", "/", dir} {
						name := filepath.Join(dir, tt.name)
						if root == dir {
							name = tt.name
						}
						f, err := OpenAs(tt.user, root, name)
						if err == nil {
							f.Close()
						}
						if (err == nil) != tt.ok || !tt.ok && (!errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "the rights of user")) {
							t.Errorf("%+v in %q: %v", tt, root, err)
						}
					}
				}
				// The rights of this process have not changed.
				if f, err := Open("", filepath.Join(dir, "private")); err != nil {
					t.Error(err)
				} else {
					f.Close()
				}
			})
		}
		all.Wait()
	})
	if f, err := OpenAs(plain, "/proc/self/root", filepath.Join(dir, "public")); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); dumpable != 1 || err != nil {
		t.Error("this process is not dumpable any more", dumpable, err)
	}
	for _, name := range []string{"/proc/self/status", "/proc/thread-self/status"} {
		status, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(status, []byte("\nUid:\t0\t0\t0\t0\n")) {
			t.Errorf("%s: %s", name, status)
		}
	}
}

// As root, links below a directory that the user named cannot lead out of it.
func TestOpenBelow(t *testing.T) {
	dir := makeTree(t, map[string]string{"secret": "", "sources/a.c": ""}, map[string]string{"sources/out.c": "../secret", "sources/absolute.c": "/secret", "sources/in.c": "a.c"})
	sources := filepath.Join(dir, "sources")
	for _, privileged := range []bool{false, true} {
		// Links below a directory in procfs never lead out of it.
		for directory, out := range map[string]bool{sources: !privileged, "/proc/self/root" + sources: false} {
			for name, want := range map[string]bool{"a.c": true, "in.c": true, "out.c": out, "absolute.c": false, "gone.c": false} {
				f, err := openBelow(privileged, directory, name)
				if err == nil {
					f.Close()
				}
				if (err == nil) != want {
					t.Errorf("%s below %s, privileged %t: %v", name, directory, privileged, err)
				}
			}
		}
	}
}
