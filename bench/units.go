// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import "strconv"

// unitMeasurements are of a stack that leads through many units of C++, in a program
// with much debugging information.
func unitMeasurements(clew string, pid int) []*measurement {
	if clew == "" {
		return nil
	}
	const frames = 420
	process := strconv.Itoa(pid)
	return []*measurement{{
		name: "stack through 60 units of C++, with arguments",
		clew: command("clew", 0, frames, clew, "stack", "--args", "--no-group", "--all-frames", process),
		peers: installed(
			gdbStacks(0, frames, process),
		),
	}, {
		name:   "peak memory for 60 units of C++",
		memory: true,
		clew:   peak("clew", 0, clew, "stack", "--args", "--no-group", "--all-frames", process),
		peers: installed(
			gdbMemory(peak, 0.2, process),
		),
	}}
}
