// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package core_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The paths in a core are untrusted: a FIFO at the path of a mapped file, a library or
// the program is not opened.
func TestMappedFIFOIsNotOpened(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, fifo, unix.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	m := empty()
	m.thread(1, 11, 27*8)
	m.fileNote(1, fifo)
	c := open(t, m.bytes())
	use(c)
	list := linked(t, []string{fifo}, -1, pages(1))
	use(list)
	for _, m := range c.Snapshot().Mappings {
		if f, err := c.Snapshot().Open(&m); err == nil {
			f.Close()
			t.Error("it was opened")
		}
	}
	if n, _ := unix.Read(watch, make([]byte, 4096)); n > 0 {
		t.Error("it was opened")
	}
}
