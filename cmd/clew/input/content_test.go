// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package input

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestContentOf(t *testing.T) {
	const (
		little = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		big    = "\x7fELF\x02\x02\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	)
	path := filepath.Join(t.TempDir(), "file")
	for _, test := range []struct {
		head string
		want Content
		core bool
	}{
		{little + "\x04\x00", Core, true},
		{big + "\x00\x04 and more", Core, true},
		{little + "\x03\x00", ELF, true},
		{big + "\x04\x00", ELF, true},
		{little, ELF, true}, // truncated
		{"MDMP\x93\xa7\x00\x00", Minidump, true},
		{"PERFILE2 and more", Recording, false},
		{"2ELIFREP", Recording, false},
		{"DTiJ", Jitdump, false},
		{"\x28\xb5\x2f\xfd", Zstd, true},
		{"#!/bin/sh\n", Script, false},
		{"\x7fEL", Unknown, false},
		{"", Unknown, false},
	} {
		if err := os.WriteFile(path, []byte(test.head), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := ContentOf(path); err != nil || got != test.want || got.MaybeCore() != test.core {
			t.Errorf("%q is content %d, can be a core: %v, error %v; want %d, %v", test.head, got, got.MaybeCore(), err, test.want, test.core)
		}
	}
	if _, err := ContentOf(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
