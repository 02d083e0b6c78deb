// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"math"
	"testing"
)

// An infinity and a NaN have the text that printf of C has for them, with any flags.
func TestNotFinite(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		format string
		n      float64
		want   string
	}{
		{"%f", math.Inf(1), "inf"}, {"%.3e", math.Inf(-1), "-inf"}, {"%G", math.Inf(1), "INF"}, {"%+E", nan, "+NAN"},
		{"%06.2f", math.Inf(1), "   inf"}, {"%-6g", nan, "nan   "}, {"% f", nan, " nan"}, {"%#.f", math.Copysign(nan, -1), "-nan"},
	} {
		parts, err := parseFormat(test.format)
		if err != nil {
			t.Errorf("%s: %v", test.format, err)
			continue
		}
		if got := parts[1].notFinite(test.n); got != test.want {
			t.Errorf("%s of %v: %q, expected %q", test.format, test.n, got, test.want)
		}
	}
}
