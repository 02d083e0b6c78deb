// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const collectFrom = 256 << 20 // bytes of heap at which garbage collection starts

// collectLate delays garbage collection up to a heap of collectFrom bytes. The data of most
// commands lives until the end, and earlier collections would take a third of the time. Once half
// of collectFrom is in use, the heap may grow by half between collections, because the limit would
// make the collector run all the time.
func collectLate() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(collectFrom)
	watchCollection()
}

// watchCollection checks the heap after the next collection.
func watchCollection() {
	type garbage struct{ _ *byte }
	runtime.SetFinalizer(new(garbage), func(*garbage) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		if metrics.Read(live); live[0].Value.Uint64() < collectFrom/2 {
			watchCollection()
			return
		}
		debug.SetGCPercent(50)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}
