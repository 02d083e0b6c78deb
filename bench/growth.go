// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"strconv"
	"time"
)

// A row of this file is of much work, and has as a peer Clew itself with a part of it:
// the ratio is how the cost grows.

// growth is one kind of work at two sizes.
type growth struct {
	name         string // of the large work
	small        string // the name of the small one
	clew         string // the command
	largeWork    *work
	smallWork    *work
	goal         float64       // most that the large work may take, by the small one
	limit        time.Duration // most that it may take, 0 for no limit
	memory       uint64        // bytes that it may take, 0 for no limit
	growsMemory  float64       // most that it may take, by the small one; 0 for no goal
	lines        int           // that are printed at least
	beforeTarget []string      // arguments
}

// work is a program, started when it is measured first, or a file.
type work struct {
	program string
	n       int
	file    string // where that is not "" there is no program

	pid  int
	stop func()
}

// target returns what clew gets as its last argument.
func (w *work) target() (string, error) {
	if w.file != "" {
		return w.file, nil
	}
	if w.pid == 0 {
		var args []string
		if w.n > 0 {
			args = append(args, strconv.Itoa(w.n))
		}
		var err error
		if w.pid, w.stop, err = startThreads(w.program, args...); err != nil {
			return "", err
		}
	}
	return strconv.Itoa(w.pid), nil
}

// end ends the program.
func (w *work) end() {
	if w.stop != nil {
		w.stop()
	}
}

// contender runs clew on some work, with what makes a contender of it.
func (g *growth) contender(name string, goal float64, w *work, how func(name string, goal float64, path string, arguments ...string) contender) contender {
	var made *contender
	return contender{name: name, goal: goal, run: func() (outcome, error) {
		if made == nil {
			target, err := w.target()
			if err != nil {
				return outcome{}, err
			}
			arguments := append(append([]string{}, g.beforeTarget...), target)
			c := how(name, goal, g.clew, arguments...)
			made = &c
		}
		return made.run()
	}}
}

// measurements are of the time and of the memory that the work takes.
func (g *growth) measurements() []*measurement {
	timed := func(name string, goal float64, path string, arguments ...string) contender {
		return command(name, goal, g.lines, path, arguments...)
	}
	// One round takes seconds.
	took := &measurement{name: g.name, most: 3, clew: g.contender("clew", 0, g.largeWork, timed),
		peers: []contender{g.contender("clew, "+g.small, g.goal, g.smallWork, timed)}}
	if g.limit > 0 {
		took.peers = append(took.peers, contender{name: g.limit.String(), goal: 1, run: func() (outcome, error) { return outcome{took: g.limit}, nil }})
	}
	held := &measurement{name: "peak memory for " + g.name, most: 3, memory: true, clew: g.contender("clew", 0, g.largeWork, peak),
		peers: []contender{g.contender("clew, "+g.small, g.growsMemory, g.smallWork, peak)}}
	if g.memory > 0 {
		held.peers = append(held.peers, contender{name: fmt.Sprintf("%d MB", g.memory/1e6), goal: 1,
			run: func() (outcome, error) { return outcome{peak: g.memory}, nil }})
	}
	return []*measurement{took, held}
}

// growthPrograms are what growthMeasurements run; those that are "" are left out.
type growthPrograms struct {
	clew      string
	states    string // starts as many goroutines as it is told
	threads   string // starts as many threads as it is told
	functions string // with 400000 and 40000 behind it a program of so many functions
	recording string // a recording; beside it .long, one of ten times the samples
}

// growthMeasurements show how cost grows with the work. The caller must call stop.
func growthMeasurements(p growthPrograms) (all []*measurement, stop func()) {
	var works []*work
	stop = func() {
		for _, w := range works {
			w.end()
		}
	}
	if p.clew == "" {
		return nil, stop
	}
	add := func(there string, g growth) {
		if there != "" {
			g.clew = p.clew
			works = append(works, g.largeWork, g.smallWork)
			all = append(all, g.measurements()...)
		}
	}
	add(p.states, growth{
		name: "stacks of 1,000,000 goroutines", small: "100,000 goroutines", beforeTarget: []string{"stack", "--goroutines"}, lines: 100,
		largeWork: &work{program: p.states, n: 1_000_000}, smallWork: &work{program: p.states, n: 100_000},
		goal: 11, limit: 4 * time.Second, memory: 500e6,
	})
	add(p.threads, growth{
		name: "stacks of 8,000 threads", small: "800 threads", beforeTarget: []string{"stack"}, lines: 100,
		largeWork: &work{program: p.threads, n: 8000}, smallWork: &work{program: p.threads, n: 800},
		goal: 11, growsMemory: 11,
	})
	add(p.functions, growth{
		name: "table of 400,000 functions", small: "40,000 functions", beforeTarget: []string{"table"}, lines: 40_000,
		largeWork: &work{file: p.functions + "400000"}, smallWork: &work{file: p.functions + "40000"},
		goal: 11, growsMemory: 11,
	})
	add(p.functions, growth{
		name: "stack of a program of 400,000 functions", small: "40,000 functions", beforeTarget: []string{"stack"}, lines: 3,
		largeWork: &work{program: p.functions + "400000"}, smallWork: &work{program: p.functions + "40000"},
		goal: 11, growsMemory: 11,
	})
	add(p.recording, growth{
		name: "perf.data of ten times the samples", small: "of a tenth", beforeTarget: []string{"perf", "--no-lines"}, lines: 20,
		largeWork: &work{file: p.recording + ".long"}, smallWork: &work{file: p.recording},
		goal: 11, growsMemory: 1.25,
	})
	return all, stop
}
