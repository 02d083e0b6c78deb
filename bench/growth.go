// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// growth is one kind of work at two sizes. Its measurements compare Clew with itself: the
// ratio is how the cost grows with the work.
type growth struct {
	name        string // of the large work
	small       string // name of the small work
	arguments   []string
	largeWork   *work
	smallWork   *work
	goal        float64       // maximum time of the large work, relative to the small one
	limit       time.Duration // maximum time of the large work; 0 for no limit
	memoryGoal  float64       // maximum peak memory, relative to the small work; 0 for no goal
	memoryLimit uint64        // maximum peak memory in bytes; 0 for no limit
	lines       int           // minimum number of lines printed
}

// work is a program, started when it is first measured, or a file.
type work struct {
	program string
	n       int    // argument of the program, unless it is 0
	file    string // "" for a program

	pid  int
	stop func()
}

// target returns clew's last argument.
func (w *work) target() (string, error) {
	if w.file != "" {
		return w.file, nil
	}
	if w.pid == 0 {
		cmd := exec.Command(w.program)
		if w.n > 0 {
			cmd.Args = append(cmd.Args, strconv.Itoa(w.n))
		}
		var err error
		if w.pid, w.stop, err = startWaiting(cmd); err != nil {
			return "", err
		}
	}
	return strconv.Itoa(w.pid), nil
}

// contender runs clew on the work. It measures the time, or the peak memory.
func (g *growth) contender(clew, name string, goal float64, w *work, ofMemory bool) contender {
	var made *contender
	return contender{name: name, goal: goal, run: func() (outcome, error) {
		if made == nil {
			target, err := w.target()
			if err != nil {
				return outcome{}, err
			}
			arguments := append(slices.Clone(g.arguments), target)
			c := command(name, goal, g.lines, clew, arguments...)
			if ofMemory {
				c = memory(peakMemory, name, goal, clew, arguments...)
			}
			made = &c
		}
		return made.run()
	}}
}

// measurements are of the time and of the memory that the work takes.
func (g *growth) measurements(clew string) []*measurement {
	const maxRounds = 3 // each takes seconds
	took := &measurement{name: g.name, maxRounds: maxRounds, clew: g.contender(clew, "clew", 0, g.largeWork, false),
		peers: []contender{g.contender(clew, "clew, "+g.small, g.goal, g.smallWork, false)}}
	if g.limit > 0 {
		took.peers = append(took.peers, limit(g.limit))
	}
	held := &measurement{name: "peak memory for " + g.name, maxRounds: maxRounds, memory: true, clew: g.contender(clew, "clew", 0, g.largeWork, true),
		peers: []contender{g.contender(clew, "clew, "+g.small, g.memoryGoal, g.smallWork, true)}}
	if g.memoryLimit > 0 {
		held.peers = append(held.peers, contender{name: fmt.Sprintf("%d MB", g.memoryLimit/1e6), goal: 1,
			run: func() (outcome, error) { return outcome{peak: g.memoryLimit}, nil }})
	}
	return []*measurement{took, held}
}

// growthMeasurements show how the cost grows with the work. They omit inputs that are "".
// The caller must call stop.
func growthMeasurements(in inputs) (all []*measurement, stop func()) {
	var works []*work
	stop = func() {
		for _, w := range works {
			if w.stop != nil {
				w.stop()
			}
		}
	}
	add := func(input string, g growth) {
		if input != "" {
			works = append(works, g.largeWork, g.smallWork)
			all = append(all, g.measurements(in.clew)...)
		}
	}
	add(in.states, growth{
		name: "stacks of 1,000,000 goroutines", small: "100,000 goroutines", arguments: []string{"stack", "--goroutines"}, lines: 100,
		largeWork: &work{program: in.states, n: 1_000_000}, smallWork: &work{program: in.states, n: 100_000},
		goal: 11, limit: 4 * time.Second, memoryLimit: 500e6,
	})
	add(in.watched, growth{
		name: "stacks of 8,000 threads", small: "800 threads", arguments: []string{"stack"}, lines: 100,
		largeWork: &work{program: in.watched, n: 8000}, smallWork: &work{program: in.watched, n: 800},
		goal: 11, memoryGoal: 11,
	})
	add(in.functions, growth{
		name: "table of 400,000 functions", small: "40,000 functions", arguments: []string{"table"}, lines: 40_000,
		largeWork: &work{file: in.functions + "400000"}, smallWork: &work{file: in.functions + "40000"},
		goal: 11, memoryGoal: 11,
	})
	add(in.functions, growth{
		name: "stack of a program of 400,000 functions", small: "40,000 functions", arguments: []string{"stack"}, lines: 3,
		largeWork: &work{program: in.functions + "400000"}, smallWork: &work{program: in.functions + "40000"},
		goal: 11, memoryGoal: 11,
	})
	add(in.recording, growth{
		name: "perf.data of ten times the samples", small: "of a tenth", arguments: []string{"perf", "--no-lines"}, lines: 20,
		largeWork: &work{file: in.longRecording()}, smallWork: &work{file: in.recording},
		goal: 11, memoryGoal: 1.25,
	})
	return all, stop
}
