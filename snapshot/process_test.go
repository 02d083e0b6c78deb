// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/untrusted"
)

func TestProcessRead(t *testing.T) {
	for text, want := range map[string]struct {
		ids   []int
		users []uint32
	}{
		"Name:\tx\nNSpid:\t12\n":                            {[]int{12}, []uint32{}},
		"Name:\tx\nUid:\t1\t2\t3\t4\nNSpid:\t4711\t80\t1\n": {[]int{1}, []uint32{2}},
		"Name:\tx\nPid:\t4711\nUid:\tx\n":                   {nil, []uint32{}},
	} {
		var p Process
		p.read([]byte(text))
		if !slices.Equal(p.IDs, want.ids) || p.Users == nil || !slices.Equal(p.Users, want.users) {
			t.Errorf("%q: IDs %v, users %v", text, p.IDs, p.Users)
		}
	}
}

// Source files are read with the fewest rights of a process.
func TestReadAs(t *testing.T) {
	for text, want := range map[string]*debugfile.User{
		"Uid:\t1000\t1000\t1000\t1000\nGid:\t100\t100\t100\t100\nGroups:\t27 100 \n": {ID: 1000, Group: 100, Groups: []uint32{27, 100}},
		"Uid:\t1000\t0\t0\t0\nGid:\t100\t0\t0\t0\nGroups:\t\n":                       {ID: 1000, Group: 100, Groups: nil}, // set-user-ID root
		"Uid:\t0\t1000\t0\t1000\nGid:\t0\t100\t0\t100\nGroups:\t\n":                  {ID: 1000, Group: 100, Groups: nil}, // a daemon
		"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0 \n":                          {ID: 0, Group: 0, Groups: []uint32{0}},
		"Uid:\t1000\t1000\t1000\t1000\n":                                             nil,
		"Uid:\t1000\tx\t1000\t1000\nGid:\t100\t100\t100\t100\n":                      nil,
		"Uid:\t\nGid:\t\n": nil,
	} {
		var p Process
		p.read([]byte(text))
		if (p.ReadAs == nil) != (want == nil) || want != nil && (p.ReadAs.ID != want.ID || p.ReadAs.Group != want.Group || !slices.Equal(p.ReadAs.Groups, want.Groups)) {
			t.Errorf("%q: %+v, expected %+v", text, p.ReadAs, want)
		}
	}
	// If the user is unknown, root reads only files that everybody may read.
	path := filepath.Join(t.TempDir(), "source.c")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Process{nil, {}} {
		f, err := p.OpenSource(path)
		if err == nil {
			f.Close()
		}
		if root := os.Geteuid() == 0; errors.Is(err, fs.ErrPermission) != root {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// Files that this process writes are its own.
func TestRunning(t *testing.T) {
	p, err := RunningProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Users, []uint32{uint32(os.Geteuid())}) || len(p.IDs) != 1 {
		t.Errorf("%+v", p)
	}
	path := filepath.Join(t.TempDir(), "own")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := p.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := RunningProcess(-1); err == nil {
		t.Error("there is a process -1")
	}
}

// A file is opened for the process that can have written it.
func TestOpen(t *testing.T) {
	now := time.Now()
	root := t.TempDir()
	own := filepath.Join(root, "own")
	if err := errors.Join(os.WriteFile(own, []byte("text"), 0o600), os.Chtimes(own, now, now), os.Mkdir(filepath.Join(root, "folder"), 0o700),
		syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600), os.Symlink("own", filepath.Join(root, "link"))); err != nil {
		t.Fatal(err)
	}
	me := uint32(os.Geteuid())
	var planted error // what a link is
	if me == 0 {
		planted = untrusted.ErrNotRegular
	}
	const other = 65534
	for _, test := range []struct {
		path  string
		users []uint32
		began time.Time
		owner int   // that the file is given to, 0 for none
		want  error // that the error wraps
	}{
		{path: "/own", users: []uint32{me}},
		{path: "/own"},
		{path: "/own", users: []uint32{me}, began: now.Add(-time.Minute)},
		{path: "/own", users: []uint32{me}, began: now.Add(time.Second / 2)}, // by a file system that rounds times
		{path: "/own", users: []uint32{me}, began: now.Add(time.Minute), want: ErrOtherProcess},
		{path: "/own", began: now.Add(time.Minute), want: ErrOtherProcess},
		{path: "/absent", users: []uint32{me}, want: fs.ErrNotExist},
		{path: "/folder", users: []uint32{me}, want: untrusted.ErrNotRegular},
		{path: "/pipe", users: []uint32{me}, want: untrusted.ErrNotRegular},
		{path: "/link", users: []uint32{me}, want: planted},
		{path: "/link"},
		{path: "/own", users: []uint32{me}, owner: other, want: ErrOtherProcess},
		{path: "/own", users: []uint32{me, other}, owner: other},
		{path: "/own", users: []uint32{}, owner: other, want: ErrOtherProcess},
		{path: "/own", owner: other},
	} {
		if test.owner != 0 {
			if os.Getuid() != 0 {
				continue // nobody else can give a file away
			}
			if err := os.Chown(own, test.owner, test.owner); err != nil {
				t.Fatal(err)
			}
		}
		p := Process{Root: root, Users: test.users, Began: test.began}
		f, err := p.Open(test.path)
		if err == nil {
			f.Close()
		}
		if (err == nil) != (test.want == nil) || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s of %d for users %v and start %v: %v", test.path, test.owner, test.users, test.began, err)
		}
		if errors.Is(err, ErrOtherProcess) && !strings.HasPrefix(err.Error(), test.path+": file of another process: it ") {
			t.Error(err)
		}
	}
}
