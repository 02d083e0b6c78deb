// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import "time"

// recordingMeasurements are of a recording of some 90,000 frames with copied
// stacks, and of one whose jitdump has 175,000 functions.
func recordingMeasurements(clew, data, jitted string) []*measurement {
	var all []*measurement
	if clew == "" {
		return nil
	}
	if data != "" {
		all = append(all, &measurement{
			name: "perf.data of 90,000 frames, with names",
			clew: command("clew", 0, 20, clew, "perf", "--no-lines", data),
			peers: installed(
				peer{command("perf script --no-inline", 1.0/15, 80_000, "perf", "script", "--no-inline", "-i", data), "perf"},
			),
		}, &measurement{
			name: "the same, each sample printed",
			clew: command("clew", 0, 80_000, clew, "perf", "--no-lines", "--samples", data),
			peers: installed(
				peer{command("perf script --no-inline", 0, 80_000, "perf", "script", "--no-inline", "-i", data), "perf"},
			),
		})
	}
	if jitted != "" {
		all = append(all, &measurement{
			name: "perf.data with a jitdump of 175,000 functions",
			clew: command("clew", 0, 20, clew, "perf", "--no-lines", jitted),
			peers: []contender{{name: "2 s", goal: 1, run: func() (outcome, error) {
				return outcome{took: 2 * time.Second}, nil
			}}},
		})
	}
	return all
}
