// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package sample_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
)

func TestOf(t *testing.T) {
	all := make([]int, 100)
	for i := range all {
		all[i] = i
	}
	t.Setenv("CLEW_FULL", "")
	t.Setenv("CLEW_SEED", "20261123")
	some := sample.Of(t, all, 10)
	if len(some) != 10 || !slices.IsSorted(some) || len(slices.Compact(slices.Clone(some))) != 10 {
		t.Errorf("the sample is %v", some)
	}
	if again := sample.Of(t, all, 10); !slices.Equal(again, some) {
		t.Errorf("the same seed gives %v and %v", some, again)
	}
	t.Setenv("CLEW_SEED", "20261124")
	if other := sample.Of(t, all, 10); slices.Equal(other, some) {
		t.Errorf("two seeds give %v", some)
	}
	if few := sample.Of(t, all[:3], 10); !slices.Equal(few, all[:3]) {
		t.Errorf("a sample of ten of three is %v", few)
	}
	t.Run("another test", func(t *testing.T) {
		t.Setenv("CLEW_SEED", "20261123")
		if other := sample.Of(t, all, 10); slices.Equal(other, some) {
			t.Errorf("two tests take the same sample %v", some)
		}
	})
	t.Setenv("CLEW_FULL", "1")
	if got, want := len(sample.Of(t, all, 10)), 100; !testing.Short() && got != want {
		t.Errorf("%d elements of %d with CLEW_FULL=1", got, want)
	}
}

func TestCovering(t *testing.T) {
	t.Setenv("CLEW_FULL", "")
	all := []string{"gcc -O0 -g", "gcc -O1 -g", "gcc -O2 -g", "clang -O0 -g", "gcc -O0 -flto", "gcc -O0 -flto -g", "clang -O2"}
	for n, want := range map[int]int{0: 3, 1: 3, 3: 3, 5: 5, 7: 7, 9: 7} {
		some := sample.Covering(t, all, n, strings.Fields)
		if len(some) < want || n >= 5 && len(some) != want {
			t.Errorf("a sample of %d is %q", n, some)
		}
		for _, feature := range []string{"gcc", "clang", "-O0", "-O1", "-O2", "-g", "-flto"} {
			if !strings.Contains(strings.Join(some, " "), feature) {
				t.Errorf("a sample of %d has no %s: %q", n, feature, some)
			}
		}
	}
}
