// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"strconv"
	"time"
)

// goroutines is how many wait in the program that goroutineMeasurements is of.
const goroutines = 10000

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
		clew:  contender{name: "clew", run: func() (outcome, error) { return pause(clew, "--goroutines", process) }},
		peers: goal("2 ms", 2*time.Millisecond),
	}}
}
