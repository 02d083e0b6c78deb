// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"testing"

	"github.com/clewdev/clew/jit"
)

// upTo returns the numbers from..to-1.
func upTo(from, to int) (numbers []int) {
	for n := from; n < to; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

// The rest of a split file is merged with files of other batches, and does not cost
// them their functions when its own batch is withdrawn.
func TestSplitAndMerge(t *testing.T) {
	p := &Publisher{MergeAt: 2}
	const n = 2*fullFunctions + 100
	large := publish(t, p, code(1<<32, n))
	withdraw(t, large, upTo(fullFunctions, n-100)...)
	want := make(map[uint64]string)
	add := func(start uint64, n int) jit.Registration {
		c := code(start, n)
		for i := range c.Functions {
			want[c.Start(&c.Functions[i])] = c.Functions[i].Name
		}
		return publish(t, p, c)
	}
	low, high := add(1<<31, 100), add(1<<33, 100)
	withdraw(t, large)
	expect(t, want)
	withdraw(t, low)
	withdraw(t, high)
	expect(t, map[uint64]string{})
}

// Two parts of a split batch come together again in one file.
func TestSplitAndRejoin(t *testing.T) {
	p := &Publisher{MergeAt: 2}
	const n = 3*fullFunctions + 100
	large := publish(t, p, code(1<<32, n))
	withdraw(t, large, upTo(0, fullFunctions-100)...)
	withdraw(t, large, upTo(2*fullFunctions, n-100)...)
	withdraw(t, large)
	expect(t, map[uint64]string{})
	if s := p.Stats(); s.Functions != 0 || s.Files != 0 {
		t.Errorf("all is withdrawn: %+v", s)
	}
}
