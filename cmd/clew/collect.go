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

// collectFrom is the size of the heap from which on garbage is collected, bytes.
const collectFrom = 256 << 20

// collectLate has garbage collected only where there is much. The data of most commands
// lives as long as the print takes, and to collect on the way would take a third of the
// time. Where most of collectFrom turns out to be in use, the collector would run all
// the time to stay below it: from then on the heap may grow by a half between collections.
func collectLate() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(collectFrom)
	watchCollection()
}

// watchCollection looks at the heap after the next collection.
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
