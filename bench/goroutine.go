// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"strconv"
	"time"
)

const (
	goroutines = 10000 // that wait in the program of goroutineMeasurements
	goThreads  = 100   // of the program of goThreadMeasurements, besides the runtime's own
)

// goThreadMeasurements are of a Go program with debugging information and many threads:
// one snapshot, and many.
func goThreadMeasurements(clew string, pid int) []*measurement {
	process := strconv.Itoa(pid)
	return []*measurement{{
		name:  fmt.Sprintf("stack of a Go program's %d threads, with arguments", goThreads),
		clew:  clewStack(goThreads, clew, process, "--args"),
		peers: installed(gdbStacks(0, goThreads, process)),
	},
		stackMemory("peak memory for its arguments", peakMemory, 0, clew, process),
		stackMemory("memory for them that belongs to no file", anonymousMemory, 0, clew, process),
		watchMeasurement(clew, fmt.Sprintf("longest pause of a Go program's %d threads, watched 20 times", goThreads), pid)}
}

// watchMeasurement is of the longest time for which a thread stands still while clew
// watches its process.
func watchMeasurement(clew, name string, pid int) *measurement {
	return &measurement{
		name:  name,
		clew:  pause(clew, longestPause, "--watch", "20ms", "-n", "20", strconv.Itoa(pid)),
		peers: []contender{limit(time.Millisecond)},
	}
}

// goroutineMeasurements are of the list of a process's goroutines.
func goroutineMeasurements(clew string, pid int) []*measurement {
	process := strconv.Itoa(pid)
	return []*measurement{{
		name:  "10,000 goroutines, with names and lines",
		clew:  command("clew", 0, 100, clew, "stack", "--goroutines", process),
		peers: []contender{limit(300 * time.Millisecond)},
	}, {
		name:  "pause of 10,000 goroutines, as clew reports it",
		clew:  pause(clew, wholePause, "--goroutines", process),
		peers: []contender{limit(2 * time.Millisecond)},
	}}
}
