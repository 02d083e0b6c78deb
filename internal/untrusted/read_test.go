// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package untrusted

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Files are read up to their first hole and within the budget.
func TestBudgetStopsAtHoles(t *testing.T) {
	const page = 1 << 16
	text := bytes.Repeat([]byte("x"), page)
	dir := t.TempDir()
	left := Budget(2*page + 100)
	for i, test := range []struct {
		size int64
		want int
		left Budget
		cut  bool
	}{
		{page, page, page + 100, false},
		{1 << 40, page, 100, true}, // all but a page is a hole
		{page, 100, 0, true},
		{page, 0, 0, true},
	} {
		path := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, test.size); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		data, info, err := left.Read(f)
		if len(data) != test.want || left != test.left || (err != nil) != test.cut || info == nil || info.Size() != test.size {
			t.Errorf("file %d: %d bytes, %d left, %v", i, len(data), left, err)
		}
	}
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, _, err := left.Read(d); err == nil {
		t.Error("a folder was read")
	}
}

// If only the end of a file is read, the budget counts only the end.
func TestBudgetReadsEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("first middle last"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	left := Budget(30)
	for _, test := range []struct {
		most  int64
		want  string
		start int64
		left  Budget
		cut   bool
	}{
		{4, "last", 13, 26, true},
		{17, "first middle last", 0, 9, false},
		{11, "ddle last", 8, 0, true},
		{11, "", 17, 0, true},
	} {
		data, start, err := left.ReadEnd(f, test.most)
		if string(data) != test.want || start != test.start || left != test.left || (err != nil) != test.cut {
			t.Errorf("the last %d bytes: %q from %d on, %d left, %v", test.most, data, start, left, err)
		}
	}
}

// Stored counts the written bytes of a file, not its size.
func TestStoredCountsNoHoles(t *testing.T) {
	const block = 1 << 16 // a multiple of the block size of every file system
	dir := t.TempDir()
	for name, test := range map[string]struct {
		writes []int64 // offsets of a block each
		size   int64
		stored int64
	}{
		"empty":  {nil, 0, 0},
		"whole":  {[]int64{0, block}, 2 * block, 2 * block},
		"tail":   {[]int64{0}, 1 << 40, block},
		"hole":   {nil, 1 << 40, 0},
		"middle": {[]int64{0, 1 << 39, 1<<40 - block}, 1 << 40, 3 * block},
		"cut":    {[]int64{0}, 100, 100},
	} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, at := range test.writes {
			if _, err := f.WriteAt(bytes.Repeat([]byte("x"), block), at); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Truncate(test.size); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(7, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		stored := Stored(f, info)
		if position, err := f.Seek(0, io.SeekCurrent); stored != test.stored || position != 7 || err != nil {
			t.Errorf("%s: %d bytes are stored, expected %d; the position is %d, %v", name, stored, test.stored, position, err)
		}
	}
}

// Parts after maxExtents count as allocated.
func TestStoredOfManyParts(t *testing.T) {
	const parts, apart = maxExtents + 100, 1 << 20
	f, err := os.Create(filepath.Join(t.TempDir(), "parts"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range int64(parts) {
		if _, err := f.WriteAt([]byte("x"), i*apart); err != nil {
			t.Fatal(err)
		}
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if stored := Stored(f, info); stored < parts*512 || stored > parts*(64<<10) {
		t.Errorf("%d bytes are stored in %d parts", stored, parts)
	}
}

// growing is a file that grows at each read.
func TestReadAllOfWhatGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "growing")
	for _, test := range []struct {
		size, grown int
		limit       int64
		ok          bool
	}{{10, 10, 10, true}, {0, 0, 0, true}, {11, 11, 10, false}, {5, 10, 10, true}, {5, 11, 10, false}, {0, 5000, 4000, false}} {
		if err := os.WriteFile(path, make([]byte, test.size), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, test.grown), 0o600); err != nil {
			t.Fatal(err)
		}
		data, err := readAll(f, info.Size(), test.limit)
		if (err == nil) != test.ok || test.ok && len(data) != test.grown || int64(cap(data)) > 2*test.limit+2048 {
			t.Errorf("%+v: %d bytes (capacity %d), %v", test, len(data), cap(data), err)
		}
	}
}
