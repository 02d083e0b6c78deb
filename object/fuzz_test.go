// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"os"
	"path/filepath"
	"testing"
)

// flat is memory from imageBase on.
type flat []byte

const imageBase = 0x10000

func (m flat) ReadMemory(p []byte, addr uint64) error {
	if at := addr - imageBase; addr >= imageBase && at <= uint64(len(m)) && uint64(len(p)) <= uint64(len(m))-at {
		copy(p, m[at:])
		return nil
	}
	return errUnreadable
}

// FuzzImage reads images in memory, without a section table or an end of file to bound sizes.
func FuzzImage(f *testing.F) {
	for _, name := range []string{"small.elf", "riscv.elf", "big-endian.elf"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := FromMemory(flat(data), imageBase, "fuzz")
		if (err == nil) == (file == nil) {
			t.Fatalf("%v and %v", file, err)
		}
		if file != nil {
			exercise(t, file)
		}
	})
}
