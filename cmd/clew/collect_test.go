// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// The limit of the collector is removed once the memory in use is close to it, and not before.
func TestCollectLate(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	collectLate()
	for range 3 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if limit := debug.SetMemoryLimit(-1); limit != collectFrom {
		t.Errorf("the limit is %d while little is in use", limit)
	}
	used := make([]byte, collectFrom/2)
	for deadline := time.Now().Add(time.Minute); debug.SetMemoryLimit(-1) != math.MaxInt64; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("the limit stays while most of it is in use")
		}
		time.Sleep(time.Millisecond)
	}
	if percent := debug.SetGCPercent(-1); percent != 50 {
		t.Errorf("the heap may grow by %d %%", percent)
	}
	runtime.KeepAlive(used)
}
