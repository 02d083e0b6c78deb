// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/clewdev/clew/cfi"
)

func TestIndex(t *testing.T) {
	type r = cfi.IndexRange
	for _, test := range []struct {
		name string
		fdes [][2]uint64 // in section order; the first is at 0x10
		want []r
	}{
		{"none", nil, nil},
		{"apart, in any order", [][2]uint64{{0x200, 0x240}, {0x100, 0x140}}, []r{{0x100, 0x140, 0x20}, {0x200, 0x240, 0x10}}},
		{"empty functions are left out", [][2]uint64{{0x100, 0x100}, {0x200, 0x240}}, []r{{0x200, 0x240, 0x20}}},
		{"adjacent", [][2]uint64{{0x100, 0x140}, {0x140, 0x180}}, []r{{0x100, 0x140, 0x10}, {0x140, 0x180, 0x20}}},
		{"the later start holds", [][2]uint64{{0x100, 0x180}, {0x140, 0x200}}, []r{{0x100, 0x140, 0x10}, {0x140, 0x200, 0x20}}},
		{"nested", [][2]uint64{{0x100, 0x200}, {0x140, 0x180}}, []r{{0x100, 0x140, 0x10}, {0x140, 0x180, 0x20}, {0x180, 0x200, 0x10}}},
		{"nested twice", [][2]uint64{{0x100, 0x200}, {0x110, 0x1f0}, {0x140, 0x180}},
			[]r{{0x100, 0x110, 0x10}, {0x110, 0x140, 0x20}, {0x140, 0x180, 0x30}, {0x180, 0x1f0, 0x20}, {0x1f0, 0x200, 0x10}}},
		{"two nested in one", [][2]uint64{{0x100, 0x200}, {0x110, 0x120}, {0x140, 0x180}},
			[]r{{0x100, 0x110, 0x10}, {0x110, 0x120, 0x20}, {0x120, 0x140, 0x10}, {0x140, 0x180, 0x30}, {0x180, 0x200, 0x10}}},
		{"the same start: the last holds, the longer goes on", [][2]uint64{{0x100, 0x200}, {0x100, 0x140}},
			[]r{{0x100, 0x140, 0x20}, {0x140, 0x200, 0x10}}},
		{"the same start: the last hides the shorter", [][2]uint64{{0x100, 0x140}, {0x100, 0x200}}, []r{{0x100, 0x200, 0x20}}},
		{"the same twice", [][2]uint64{{0x100, 0x140}, {0x100, 0x140}}, []r{{0x100, 0x140, 0x20}}},
		{"ends together", [][2]uint64{{0x100, 0x200}, {0x140, 0x200}, {0x200, 0x240}},
			[]r{{0x100, 0x140, 0x10}, {0x140, 0x200, 0x20}, {0x200, 0x240, 0x30}}},
		{"a chain", [][2]uint64{{0x100, 0x300}, {0x140, 0x280}, {0x180, 0x400}},
			[]r{{0x100, 0x140, 0x10}, {0x140, 0x180, 0x20}, {0x180, 0x400, 0x30}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := unhex(t, "0c000000 00000000 01 00 01 7c 08 0c0404")
			for _, f := range test.fdes {
				data = append(data, entry(i386, number(i386, 4, uint64(len(data)+4)), word(i386, f[0]), word(i386, f[1]-f[0]))...)
			}
			s := &cfi.Section{Name: ".eh_frame", Data: data, Machine: i386}
			x := s.Index()
			if got := x.Ranges(); !slices.Equal(got, test.want) {
				t.Errorf("%#x, want %#x", got, test.want)
			}
			checkIndex(t, s, x)
		})
	}
}

// checkIndex compares Index.Find with Section.Find at both sides of every bound.
func checkIndex(t *testing.T, s *cfi.Section, x *cfi.Index) {
	t.Helper()
	var bounds []uint64
	for f := range s.FDEs() {
		bounds = append(bounds, f.Start-1, f.Start, f.End-1, f.End)
	}
	for _, pc := range bounds {
		var linear, indexed cfi.FDE
		failed, err := s.Find(pc, &linear), x.Find(pc, &indexed)
		if (failed == nil) != (err == nil) || err != nil && !errors.Is(err, cfi.ErrNoFDE) {
			t.Fatalf("%#x: linear %v, indexed %v", pc, failed, err)
		}
		if err == nil && (pc < indexed.Start || pc >= indexed.End || indexed.Start < linear.Start) {
			t.Fatalf("%#x: linear %v, indexed %v", pc, &linear, &indexed)
		}
	}
}

// FDEs that are nested a hundred thousand deep take no longer than others.
func TestIndexOfNestedFDEs(t *testing.T) {
	const n = 100000
	var functions [][2]uint64
	for i := range uint64(n) {
		functions = append(functions, [2]uint64{0x1000 + i, 0x1000 + 4*n - i})
	}
	data := unhex(t, "0c000000 00000000 01 00 01 7c 08 0c0404")
	for _, f := range functions {
		data = append(data, entry(i386, number(i386, 4, uint64(len(data)+4)), word(i386, f[0]), word(i386, f[1]-f[0]))...)
	}
	x := (&cfi.Section{Name: ".eh_frame", Data: data, Machine: i386}).Index()
	if got := len(x.Ranges()); got != 2*n-1 {
		t.Errorf("%d ranges, want %d", got, 2*n-1)
	}
	var f cfi.FDE
	for _, i := range []uint64{0, 1, n / 2, n - 1} {
		for _, pc := range []uint64{functions[i][0], functions[i][1] - 1} {
			if err := x.Find(pc, &f); err != nil || f.Start != functions[i][0] {
				t.Errorf("%#x: %v, %v; want the one at %#x", pc, &f, err, functions[i][0])
			}
		}
	}
}
