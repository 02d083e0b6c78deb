// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace_test

import (
	"math"
	"strings"
	"testing"

	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/stack/recording"
)

// The times of samples are any 64-bit numbers of a file. The last rows caused endless loops.
func TestRecordedSpan(t *testing.T) {
	for _, test := range []struct {
		first, last uint64
		want        string
	}{
		{5, 5, "2 samples of 0 threads of 0 processes\n"},
		{0, 1234567, "in 1.23ms\n"},
		{0, 1234567890123, "in 20m30s\n"},
		{1 << 62, math.MaxInt64, "in 1280555h"},
		{0, math.MaxInt64, "in 2561111h"},
		{1, math.MaxUint64, "in 2561111h"},
	} {
		var b strings.Builder
		r := trace.Recording{Recording: &recording.Recording{Samples: 2, First: test.first, Last: test.last}}
		if err := r.Text(&b, trace.RecordingOptions{}); err != nil || !strings.Contains(b.String(), test.want) {
			t.Errorf("%d to %d: %q, %v; want %q", test.first, test.last, b.String(), err, test.want)
		}
	}
}
