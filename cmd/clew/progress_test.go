// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"testing"
	"time"
)

func TestProgressText(t *testing.T) {
	for _, test := range []struct {
		what        string
		done, total int
		want        string
	}{
		{"entries", 12, 340, "12 of 340 entries"},
		{"MB read", 0, 340, "0 of 340 MB read"},
		{"MB read", 12, 0, "12 MB read"}, // of a pipe
		{"naming the stacks", 0, 0, "naming the stacks, 3 s"},
	} {
		if got := progressText(test.what, test.done, test.total, 3700*time.Millisecond); got != test.want {
			t.Errorf("%d of %d %s is shown as %q, want %q", test.done, test.total, test.what, got, test.want)
		}
	}
}
