// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit/symfile"
	"github.com/clewdev/clew/jit/symfile/reader"
)

func seeds(f *testing.F) [][]byte {
	var list [][]byte
	for _, m := range []*arch.Machine{amd64, arm64} {
		for _, lines := range []bool{false, true} {
			list = append(list, mustAppend(f, callers(f, m, 3, 5, lines)))
		}
	}
	a, b := callers(f, amd64, 3, 5, true), callers(f, amd64, 3, 0, true)
	b.Address += 1 << 40
	list = append(list, mustMerge(f, [][]byte{mustAppend(f, a), mustAppend(f, b)}, nil))
	list = append(list, mustAppend(f, inlined(f, amd64, 3)))
	for _, test := range runtimes {
		data, err := os.ReadFile(filepath.Join("testdata", "runtimes", test.file))
		if err != nil {
			f.Fatal(err)
		}
		list = append(list, data)
	}
	return list
}

// FuzzMerge checks that images result in an error, or in an image with the kept
// functions at their addresses, and that merging it again does not change it.
func FuzzMerge(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, uint8(0))
		f.Add(s, uint8(0x55))
	}
	good := mustAppend(f, inlined(f, amd64, 2))
	f.Fuzz(func(t *testing.T, image []byte, mask uint8) {
		before := bytes.Clone(image)
		kept := 0
		keep := func(start uint64) bool {
			if mask>>(start/16%8)&1 != 0 {
				return false
			}
			kept++
			return true
		}
		got, err := symfile.Merge([]byte("dst"), [][]byte{good, image}, keep)
		if !bytes.Equal(image, before) {
			t.Fatal("Merge changed an image")
		}
		if err != nil {
			if !errors.Is(err, symfile.ErrImage) && !errors.Is(err, symfile.ErrTooLarge) && !isRange(err) || string(got) != "dst" {
				t.Fatalf("Merge = %d bytes, %v", len(got), err)
			}
			return
		}
		if got = got[3:]; kept == 0 {
			if len(got) > 0 {
				t.Fatal("an image of no function")
			}
			return
		}
		list, err := open(t, got).Functions()
		if err != nil || len(list) != kept {
			t.Fatalf("%d functions, %v; kept %d", len(list), err, kept)
		}
		again, err := symfile.Merge(nil, [][]byte{got}, nil)
		if err != nil {
			t.Fatalf("the image cannot be merged: %v", err)
		}
		if again, err = symfile.Merge(nil, [][]byte{again}, nil); err != nil || len(again) > 2*len(got) {
			t.Fatalf("merged twice it has %d bytes, %d before, %v", len(again), len(got), err)
		}
	})
}

// isRange reports whether an error is about a value in an FDE of a damaged image that a
// new FDE cannot have.
func isRange(err error) bool {
	var e *cfi.Error
	return errors.As(err, &e)
}

// FuzzOpen checks that any registered data results in an error, or in functions in
// order with FDEs and lines.
func FuzzOpen(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		image, err := reader.Open(data)
		if err != nil {
			if image != nil {
				t.Fatal("an image and an error")
			}
			return
		}
		list, _ := image.Functions()
		names := 0
		for i, fn := range list {
			names += len(fn.Name)
			if i > 0 && fn.Start < list[i-1].Start {
				t.Fatalf("function %d starts at %#x, before %#x", i, fn.Start, list[i-1].Start)
			}
		}
		if names > 16*len(data)+64<<20 {
			t.Fatalf("%d bytes of names from %d", names, len(data))
		}
		if !slices.IsSortedFunc(image.Code(), func(a, b reader.Range) int { return int(min(1, a.Start-min(a.Start, b.Start))) }) {
			t.Fatal("ranges out of order")
		}
		frames, _ := image.Frames()
		var fde cfi.FDE
		for _, fn := range list[:min(len(list), 20)] {
			if found, ok := image.Find(fn.Start); ok && fn.Size > 0 && fn.Start-found.Start >= found.Size {
				t.Fatalf("Find(%#x) = %+v", fn.Start, found)
			}
			image.Locate(fn.Start)
			for _, s := range frames {
				s.Find(fn.Start, &fde)
			}
		}
		image.Damage()
	})
}
