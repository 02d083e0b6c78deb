// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package sectioncache_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/debugfile/sectioncache"
	"github.com/clewdev/clew/object"
)

// fileInfo is the result of stat for a file.
type fileInfo struct {
	fs.FileInfo
	stat syscall.Stat_t
}

func (f fileInfo) Sys() any { return &f.stat }

// on returns the stat of a file on a device that was changed some time ago.
func on(device uint64, ago time.Duration) fileInfo {
	changed := syscall.NsecToTimespec(time.Now().Add(-ago).UnixNano())
	return fileInfo{stat: syscall.Stat_t{Dev: device, Ino: 5, Size: 1000, Mtim: syscall.NsecToTimespec(1), Ctim: changed}}
}

// A section is hashed once, and again when anything about its file changes.
func TestKey(t *testing.T) {
	dir := private(t)
	c := sectioncache.New(dir, 1<<20)
	key, data := section('a', 100_000)
	c.Store(key, data)
	hashed := 0
	ask := func(place object.SectionPlace) bool {
		t.Helper()
		before := hashed
		if got := c.Key(place, func() object.SectionKey { hashed++; return key }); got != key {
			t.Errorf("%x, expected %x", got, key)
		}
		return hashed > before
	}
	disk := unix.Mkdev(8, 1)
	file := on(disk, time.Hour)
	place := object.SectionPlace{File: file, Offset: 64, Size: 500}
	if !ask(place) {
		t.Error("a section was not hashed at first")
	}
	if ask(place) {
		t.Error("it was hashed again")
	}
	for name, change := range map[string]func(*object.SectionPlace, *syscall.Stat_t){
		"device":   func(_ *object.SectionPlace, s *syscall.Stat_t) { s.Dev = unix.Mkdev(8, 2) },
		"inode":    func(_ *object.SectionPlace, s *syscall.Stat_t) { s.Ino++ },
		"size":     func(_ *object.SectionPlace, s *syscall.Stat_t) { s.Size++ },
		"modified": func(_ *object.SectionPlace, s *syscall.Stat_t) { s.Mtim.Nsec++ },
		"changed":  func(_ *object.SectionPlace, s *syscall.Stat_t) { s.Ctim.Sec-- },
		"just so":  func(_ *object.SectionPlace, s *syscall.Stat_t) { s.Ctim.Nsec ^= 1 },
		"offset":   func(p *object.SectionPlace, _ *syscall.Stat_t) { p.Offset++ },
		"length":   func(p *object.SectionPlace, _ *syscall.Stat_t) { p.Size++ },
	} {
		other, otherFile := place, file
		change(&other, &otherFile.stat)
		other.File = otherFile
		if !ask(other) {
			t.Errorf("%s: the key of another section", name)
		}
	}
	for name, file := range map[string]fileInfo{
		"was changed just now":         on(disk, time.Second),
		"will be changed":              on(disk, -time.Hour),
		"is on a device of no disk's":  on(unix.Mkdev(0, 40), time.Hour),
		"is of a system without stat ": {},
	} {
		for range 2 {
			if !ask(object.SectionPlace{File: file, Offset: 64, Size: 500}) {
				t.Errorf("the key of a file that %s is remembered", name)
			}
		}
	}
}

// A link is followed only if it is the user's own link to a section. A dangling link is
// removed when the next section is stored.
func TestLinks(t *testing.T) {
	dir := private(t)
	c := sectioncache.New(dir, 1<<20)
	place := object.SectionPlace{File: on(unix.Mkdev(8, 1), time.Hour), Offset: 64, Size: 500}
	key, data := section('a', 100_000)
	hashed := 0
	ask := func() {
		if got := c.Key(place, func() object.SectionKey { hashed++; return key }); got != key {
			t.Errorf("%x, expected %x", got, key)
		}
	}
	links := func() (list []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if strings.HasSuffix(entry.Name(), ".place") {
				list = append(list, filepath.Join(dir, entry.Name()))
			}
		}
		return list
	}
	if ask(); len(links()) > 0 {
		t.Errorf("%v: a link to a section that is not kept", links())
	}
	c.Store(key, data)
	ask()
	list := links()
	if len(list) != 1 {
		t.Fatalf("%v: expected one link", list)
	}
	want, err := os.Readlink(list[0])
	if err != nil {
		t.Fatal(err)
	}
	other, otherData := section('b', 1000)
	for _, to := range []string{"", want[:len(want)-1], want + "0", strings.Repeat("x", len(want)), "../" + want} {
		if err := os.Remove(list[0]); err != nil {
			t.Fatal(err)
		}
		if to != "" {
			err = os.Symlink(to, list[0])
		} else {
			err = os.WriteFile(list[0], []byte(want), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := hashed
		if ask(); hashed == before {
			t.Errorf("a link to %q was followed", to)
		}
	}
	os.Remove(list[0])
	ask()
	if os.Geteuid() == 0 {
		if err := os.Lchown(list[0], 12345, 12345); err != nil {
			t.Fatal(err)
		}
		before := hashed
		if ask(); hashed == before {
			t.Error("another user's link was followed")
		}
	}
	if err := os.Remove(filepath.Join(dir, want)); err != nil {
		t.Fatal(err)
	}
	c.Store(other, otherData)
	if list := links(); len(list) > 0 {
		t.Errorf("%v lead nowhere", list)
	}
	c.Store(key, data)
	ask()
	c.Store(other, otherData)
	if len(links()) != 1 {
		t.Error("a link to a section that is kept is gone")
	}
	// In a directory that others can write to, no links are stored.
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	place.Offset++
	if ask(); len(links()) != 1 {
		t.Errorf("%v: a link was made where others can write", links())
	}
}
