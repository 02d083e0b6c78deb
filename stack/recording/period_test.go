// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"math"
	"strings"
	"testing"
)

// Periods are arbitrary values of 64 bits. Their sum does not wrap, and fits an int64, which
// profiles use.
func TestPeriodsThatOverflow(t *testing.T) {
	for _, test := range []struct {
		periods []uint64
		want    uint64
		whole   bool
	}{
		{[]uint64{1, 2}, 3, true},
		{[]uint64{math.MaxInt64}, math.MaxInt64, true},
		{[]uint64{math.MaxInt64, 1}, math.MaxInt64, false},
		{[]uint64{math.MaxUint64}, math.MaxInt64, false},
		{[]uint64{5, math.MaxUint64, math.MaxUint64, 7}, math.MaxInt64, false},
	} {
		b := newBuilder(nil, Options{})
		b.rec.Events = []Event{{Name: "cycles"}}
		for i, period := range test.periods {
			if err := b.count(pendingSample{period: period, thread: int32(i)}); err != nil {
				t.Fatal(err)
			}
		}
		sum := uint64(0)
		for _, s := range b.rec.Stacks {
			sum += s.Weight
		}
		if got := b.rec.Events[0].Weight; got != test.want || sum != got {
			t.Errorf("%d: the event weighs %d and its stacks %d, want %d", test.periods, got, sum, test.want)
		}
		if said := strings.Contains(strings.Join(b.notes, "\n"), `event "cycles" exceed`); said == test.whole || b.complete != test.whole {
			t.Errorf("%d: complete %t, %q", test.periods, b.complete, b.notes)
		}
	}
}
