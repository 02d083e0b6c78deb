// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"math"
	"testing"
)

// Copies of a thread end after its outermost frame once that has stayed, and no longer once a walk needs more.
func TestLimits(t *testing.T) {
	const tid, sp, end = 7, 0x7000, 0x7400
	w, l, empty := newWalks(), make(limits), make(map[uint32]walked)
	update := func() {
		empty = w.take(empty)
		l.update(empty)
	}
	walk := func(n int, end uint64, whole bool) {
		for range n {
			w.add(tid, tid, sp, end, whole)
		}
	}
	check := func(when string, want uint64) {
		t.Helper()
		update()
		if got := l.of(tid); got != want {
			t.Errorf("%s: %#x, expected %#x", when, got, want)
		}
	}
	check("no walk", math.MaxUint64)
	walk(minSame-1, end, true)
	check("a few walks", math.MaxUint64)
	walk(1, end, true)
	check("enough walks", end+beyondEnd)
	walk(1, end+8, true)
	check("another end", math.MaxUint64)
	walk(minSame, end+8, true)
	check("as many walks as before", math.MaxUint64)
	walk(minSame, end+8, true)
	check("twice as many", end+8+beyondEnd)
	walk(1, sp+8193, false)
	check("a cut walk", math.MaxUint64)
	walk(3*minSame, end, true)
	walk(3*minSame, end+8, true)
	check("two ends at once", math.MaxUint64)
	walk(64*minSame, end+8, true)
	check("many walks", end+8+beyondEnd)
	w.add(1, 1, sp, sp+4, true)
	check("another thread", end+8+beyondEnd)
	for tid := range uint32(2 * maxWalked) {
		w.add(tid+100, tid+100, sp, sp+4, true)
	}
	update()
	if len(l) > maxWalked || len(w.threads) > maxWalked {
		t.Errorf("%d limits, %d threads", len(l), len(w.threads))
	}
	for tid := range uint32(2 * maxWalked) { // threads that have ended since
		w.add(tid+10000, tid+10000, sp, sp+4, true)
		update()
	}
	const last = 1 << 20
	for range minSame {
		w.add(last, last, sp, end, true)
	}
	update()
	if got := l.of(last); got != end+beyondEnd || len(l) > maxWalked {
		t.Errorf("after many threads: %#x, expected %#x; %d limits", got, end+beyondEnd, len(l))
	}
}
