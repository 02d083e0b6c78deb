// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"strconv"
	"time"
)

// goroutines is how many wait in the program that goroutineMeasurements is of.
const goroutines = 10000

// goThreads is how many threads the program of goThreadMeasurements has, beside the
// runtime's own.
const goThreads = 100

// goThreadMeasurements are of a Go program of many threads, which has its debugging
// information, once and watched.
func goThreadMeasurements(clew string, pid int) []*measurement {
	if clew == "" {
		return nil
	}
	process := strconv.Itoa(pid)
	return []*measurement{{
		name: fmt.Sprintf("stack of a Go program's %d threads, with arguments", goThreads),
		clew: command("clew", 0, goThreads, clew, "stack", "--args", "--no-group", "--all-frames", process),
		peers: installed(
			gdbStacks(0, goThreads, process),
		),
	}, {
		name:   "peak memory for its arguments",
		memory: true,
		clew:   peak("clew", 0, clew, "stack", "--args", "--no-group", "--all-frames", process),
		peers: installed(
			gdbMemory(peak, 0, process),
		),
	}, {
		name:   "memory for them that is no file's",
		memory: true,
		clew:   own("clew", 0, clew, "stack", "--args", "--no-group", "--all-frames", process),
		peers: installed(
			gdbMemory(own, 0, process),
		),
	}, watchMeasurement(clew, fmt.Sprintf("longest pause of a Go program's %d threads, watched 20 times", goThreads), pid)}
}

// watchMeasurement is of the longest that a thread of a process stands still which is
// watched.
func watchMeasurement(clew, name string, pid int) *measurement {
	return &measurement{
		name: name,
		clew: contender{name: "clew", run: func() (outcome, error) {
			return pause(clew, longestPause, "--watch", "20ms", "-n", "20", strconv.Itoa(pid))
		}},
		peers: []contender{{name: "1 ms", goal: 1, run: func() (outcome, error) { return outcome{took: time.Millisecond}, nil }}},
	}
}

// goroutineMeasurements times the list of a process's goroutines.
func goroutineMeasurements(clew string, pid int) []*measurement {
	if clew == "" {
		return nil
	}
	process := strconv.Itoa(pid)
	goal := func(name string, d time.Duration) []contender {
		return []contender{{name: name, goal: 1, run: func() (outcome, error) { return outcome{took: d}, nil }}}
	}
	return []*measurement{{
		name:  "10,000 goroutines, with names and lines",
		clew:  command("clew", 0, 100, clew, "stack", "--goroutines", process),
		peers: goal("300 ms", 300*time.Millisecond),
	}, {
		name:  "pause of 10,000 goroutines, as clew tells it",
		clew:  contender{name: "clew", run: func() (outcome, error) { return pause(clew, stoodStill, "--goroutines", process) }},
		peers: goal("2 ms", 2*time.Millisecond),
	}}
}
