// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOwnFiles(t *testing.T) {
	before := time.Now()
	c := start(t, build(t, "threads"), "1")
	s, err := Snapshot(c.pid, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Began.Before(before.Add(-time.Second)) || s.Began.After(time.Now()) {
		t.Errorf("it began at %v, and was started at %v", s.Began, before)
	}
	if s.NSPID != c.pid {
		t.Errorf("PID %d in its own namespace, which is this one: expected %d", s.NSPID, c.pid)
	}
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	if err := os.WriteFile(own, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := s.OpenPath(own)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, path := range []string{dir, "/dev/null", filepath.Join(dir, "absent")} {
		if f, err := s.OpenPath(path); err == nil {
			f.Close()
			t.Errorf("%s was opened", path)
		} else {
			t.Log(err)
		}
	}
	if os.Getuid() != 0 {
		return // nobody else can give a file away
	}
	if err := os.Chown(own, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if f, err := s.OpenPath(own); err == nil {
		f.Close()
		t.Error("a file of another user was opened")
	}
}

func TestNamespacePID(t *testing.T) {
	for text, want := range map[string]int{
		"Name:\tx\nNSpid:\t12\n":          12,
		"Name:\tx\nNSpid:\t4711\t80\t1\n": 1,
		"Name:\tx\nPid:\t4711\n":          0,
	} {
		if got := parseStatus([]byte(text)).NSPID; got != want {
			t.Errorf("%q: %d, expected %d", text, got, want)
		}
	}
}
