// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package sectioncache_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/clewdev/clew/debugfile/sectioncache"
	"github.com/clewdev/clew/internal/filemap"
	"github.com/clewdev/clew/object"
)

// section returns a section's bytes and its key.
func section(fill byte, size int) (object.SectionKey, []byte) {
	return sha256.Sum256([]byte{fill}), bytes.Repeat([]byte{fill}, size)
}

// private returns a directory that only the user can write to, for any umask.
func private(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clew", "sections")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// load returns a copy of the cached section, or nil.
func load(t *testing.T, c *sectioncache.Cache, key object.SectionKey, size int) []byte {
	t.Helper()
	data, release := c.Load(key, int64(size))
	if data == nil {
		return nil
	}
	data = bytes.Clone(data)
	if err := release(); err != nil {
		t.Error(err)
	}
	return data
}

func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "later")
	c := sectioncache.New(dir, 1<<20)
	key, data := section('a', 100_000)
	if got := load(t, c, key, len(data)); got != nil {
		t.Fatalf("%d bytes of nothing", len(got))
	}
	c.Store(key, data)
	c.Store(key, data) // as another process may at the same time
	if got := load(t, c, key, len(data)); !bytes.Equal(got, data) {
		t.Fatalf("%d bytes, expected the %d that were stored", len(got), len(data))
	}
	// A different size in the header makes a different section.
	if got := load(t, c, key, len(data)-1); got != nil {
		t.Errorf("%d bytes of a section of another size", len(got))
	}
	if other, _ := section('b', 1); load(t, c, other, len(data)) != nil {
		t.Error("a section under another's key")
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 {
		t.Errorf("%v, %v: expected the section alone", list, err)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, list[0].Name()): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%v, %v: expected mode %v", info.Mode(), err, mode)
		}
	}
}

// A file that is not a regular file of the user is not mapped.
func TestOthersFiles(t *testing.T) {
	dir := private(t)
	c := sectioncache.New(dir, 1<<20)
	key, data := section('a', 5000)
	path := filepath.Join(dir, hex.EncodeToString(key[:]))
	beside := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(beside, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(beside, path); err != nil {
		t.Fatal(err)
	}
	if load(t, c, key, len(data)) != nil {
		t.Error("a link was followed")
	}
	os.Remove(path)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if load(t, c, key, 4096) != nil {
		t.Error("a directory was mapped")
	}
	c.Store(key, data) // which cannot replace it
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%v: a temporary file is left", list)
	}
	os.Remove(path)
	if err := os.Rename(beside, path); err != nil {
		t.Fatal(err)
	}
	if load(t, c, key, len(data)) == nil {
		t.Fatal("the user's own file was not mapped")
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if load(t, c, key, len(data)) != nil {
		t.Error("another user's file was mapped")
	}
}

// The cache writes nothing where others can write, or through a link.
func TestOthersDirectories(t *testing.T) {
	key, data := section('a', 1000)
	refuses := func(what, dir, in string) {
		t.Helper()
		c := sectioncache.New(dir, 1<<20)
		c.Store(key, data)
		if list, err := os.ReadDir(in); err != nil || len(list) > 0 {
			t.Errorf("%s: %v, %v", what, list, err)
		}
	}
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	refuses("a directory that all can write to", open, open)
	in, beside := t.TempDir(), t.TempDir()
	if err := os.Symlink(beside, filepath.Join(in, "sections")); err != nil {
		t.Fatal(err)
	}
	refuses("a link", filepath.Join(in, "sections"), beside)
	if err := os.Symlink(beside, filepath.Join(in, "clew")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(beside, "sections"), 0o700); err != nil {
		t.Fatal(err)
	}
	refuses("through a link", filepath.Join(in, "clew", "sections"), filepath.Join(beside, "sections"))
	if os.Geteuid() != 0 {
		return
	}
	other := t.TempDir()
	if err := os.Chown(other, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	refuses("another user's directory", other, other)
}

// Truncating a file while it is mapped results in an error.
func TestCutOff(t *testing.T) {
	dir := private(t)
	c := sectioncache.New(dir, 1<<20)
	key, data := section('a', 4*os.Getpagesize())
	c.Store(key, data)
	mapped, release := c.Load(key, int64(len(data)))
	if mapped == nil {
		t.Fatal("nothing is kept")
	}
	defer release()
	if err := os.Truncate(filepath.Join(dir, hex.EncodeToString(key[:])), 10); err != nil {
		t.Fatal(err)
	}
	var last byte
	err := object.Guard(func() error {
		last = mapped[len(mapped)-1]
		return nil
	})
	if !errors.Is(err, filemap.ErrFault) {
		t.Errorf("%v, %q", err, last)
	}
}

// Above the limit the least recently used section is removed.
func TestLimit(t *testing.T) {
	dir := private(t)
	c := sectioncache.New(dir, 100_000)
	const size = 20_000
	start := time.Now().Add(-100 * time.Hour)
	for i := range byte(5) {
		key, data := section('0'+i, size)
		c.Store(key, data)
		stored := start.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, hex.EncodeToString(key[:])), stored, stored); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := section('0', size)
	if load(t, c, first, size) == nil { // which is used now
		t.Fatal("a section below the limit is not kept")
	}
	abandoned := filepath.Join(dir, "1.section.tmp")
	if err := os.WriteFile(abandoned, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(abandoned, start, start); err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(dir, "2.section.tmp")
	if err := os.WriteFile(written, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "notes")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(foreign, start, start); err != nil {
		t.Fatal(err)
	}
	key, data := section('5', size)
	c.Store(key, data)
	for i, want := range []bool{true, false, false, false, true, true} {
		key, _ := section('0'+byte(i), size)
		if got := load(t, c, key, size) != nil; got != want {
			t.Errorf("section %d is kept: %t", i, got)
		}
	}
	if _, err := os.Stat(abandoned); err == nil {
		t.Error("an abandoned temporary file is left")
	}
	for _, path := range []string{written, foreign} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("a new temporary file, or a file that is not a section, is gone: %v", err)
		}
	}
	key, data = section('6', 25_001)
	c.Store(key, data)
	if load(t, c, key, len(data)) != nil {
		t.Error("a section that takes most of the limit is kept")
	}
}

func TestDefault(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", home)
	c := sectioncache.Default()
	if c == nil {
		t.Fatal("no cache in a home directory")
	}
	key, data := section('a', 1000)
	c.Store(key, data)
	if _, err := os.Stat(filepath.Join(home, ".cache", "clew", "sections", hex.EncodeToString(key[:]))); err != nil {
		t.Error(err)
	}
	t.Setenv("HOME", filepath.Join(home, "nobody"))
	if sectioncache.Default() != nil {
		t.Error("a home that does not exist has a cache")
	}
	t.Setenv("HOME", "")
	if sectioncache.Default() != nil {
		t.Error("a cache without a home directory")
	}
	if os.Geteuid() != 0 {
		return
	}
	other := t.TempDir()
	if err := os.Chown(other, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", other)
	if sectioncache.Default() != nil {
		t.Error("another user's home has a cache")
	}
	t.Setenv("XDG_CACHE_HOME", other)
	if sectioncache.Default() != nil {
		t.Error("another user's cache directory is used")
	}
}
