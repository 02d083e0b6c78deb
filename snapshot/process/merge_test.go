// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"slices"
	"testing"

	"github.com/clewdev/clew/snapshot"
)

// The process maps and unmaps meanwhile. The later listing is used, with the mappings of the
// earlier one that do not overlap it.
func TestMerge(t *testing.T) {
	type list = []snapshot.Mapping
	at := func(start, end uint64, path string) snapshot.Mapping {
		return snapshot.Mapping{Start: start, End: end, Path: path}
	}
	for _, test := range []struct {
		name                string
		later, before, want list
	}{
		{"nothing", nil, nil, nil},
		{"gone", nil, list{at(1, 2, "a")}, list{at(1, 2, "a")}},
		{"come", list{at(1, 2, "a")}, nil, list{at(1, 2, "a")}},
		{"the same", list{at(1, 2, "a"), at(2, 3, "b")}, list{at(1, 2, "a"), at(2, 3, "b")}, list{at(1, 2, "a"), at(2, 3, "b")}},
		{"another in its place", list{at(1, 3, "new")}, list{at(1, 3, "old")}, list{at(1, 3, "new")}},
		{"larger", list{at(2, 8, "new")}, list{at(4, 6, "old")}, list{at(2, 8, "new")}},
		{"smaller", list{at(4, 6, "new")}, list{at(2, 8, "old")}, list{at(4, 6, "new")}},
		{"overlaps below and above", list{at(4, 6, "new")}, list{at(1, 5, "x"), at(5, 7, "y"), at(7, 9, "z")}, list{at(4, 6, "new"), at(7, 9, "z")}},
		{"between", list{at(1, 2, "a"), at(5, 6, "c")}, list{at(2, 5, "b"), at(6, 7, "d")},
			list{at(1, 2, "a"), at(2, 5, "b"), at(5, 6, "c"), at(6, 7, "d")}},
	} {
		if got := merge(test.later, test.before); !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, expected %+v", test.name, got, test.want)
		}
	}
}
