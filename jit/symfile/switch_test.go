// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile_test

import (
	"bytes"
	"testing"

	"github.com/clewdev/clew/jit/symfile"
)

// TestSwitchesStack reads functions that change stacks back, from images and from merged ones.
func TestSwitchesStack(t *testing.T) {
	for _, lines := range []bool{false, true} {
		c := callers(t, amd64, 20, 0, lines)
		for i := range c.Functions {
			c.Functions[i].SwitchesStack = i%3 == 1
		}
		image := mustAppend(t, c)
		list, err := open(t, image).Functions()
		if err != nil || len(list) != len(c.Functions) {
			t.Fatalf("%d functions, want %d (%v)", len(list), len(c.Functions), err)
		}
		for i, f := range list {
			if want := &c.Functions[i]; f.Name != want.Name || f.Start != c.Start(want) || f.Size != want.Size || f.SwitchesStack != want.SwitchesStack {
				t.Errorf("%+v, want %+v", f, want)
			}
		}
		for _, n := range []int{1, 3, 20} {
			if got := mustMerge(t, split(t, c, n), nil); !bytes.Equal(got, image) {
				t.Errorf("merged from %d images: %d bytes, want the %d of one batch", n, len(got), len(image))
			}
		}
		merged, err := symfile.Merge(nil, [][]byte{image}, func(start uint64) bool { return start == c.Start(&c.Functions[4]) })
		if err != nil {
			t.Fatal(err)
		}
		if list, err := open(t, merged).Functions(); err != nil || len(list) != 1 || !list[0].SwitchesStack || list[0].Size != c.Functions[4].Size {
			t.Errorf("%+v (%v)", list, err)
		}
	}
}
