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
	if began := s.Process.Began; began.Before(before.Add(-time.Second)) || began.After(time.Now()) {
		t.Errorf("it began at %v, and was started at %v", began, before)
	}
	if ids := s.Process.IDs; len(ids) != 1 || ids[0] != c.pid {
		t.Errorf("PID %d in its own namespace, which is this one: expected %d", ids, c.pid)
	}
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	if err := os.WriteFile(own, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := s.Process.Open(own)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, path := range []string{dir, "/dev/null", filepath.Join(dir, "absent")} {
		if f, err := s.Process.Open(path); err == nil {
			f.Close()
			t.Errorf("%s was opened", path)
		} else {
			t.Log(err)
		}
	}
	if os.Getuid() != 0 {
		return // only root can change the owner of a file
	}
	if err := os.Chown(own, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Process.Open(own); err == nil {
		f.Close()
		t.Error("a file of another user was opened")
	}
}
