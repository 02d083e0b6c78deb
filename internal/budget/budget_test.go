// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package budget_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/budget"
)

// Files are read as far as something was written and the budget goes.
func TestRead(t *testing.T) {
	const page = 1 << 16
	text := bytes.Repeat([]byte("x"), page)
	dir := t.TempDir()
	left := budget.Files(2*page + 100)
	for i, test := range []struct {
		size int64
		want int
		left budget.Files
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
