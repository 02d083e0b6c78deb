// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram_test

import (
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// A test starts a process with a known stack.
func Example() {
	test := func(t *testing.T) {
		path := testprogram.Build(t, "chain.c", "-O2", "-g", "-static-pie")
		process := testprogram.Start(t, path)
		process.Settle(t)
		t.Log(process.PID) // innermost, inner, middle, outer, main
	}
	_ = test
}
