// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command bench compares Clew with the programs that do the same work today:
// gimli, Delve, libunwind, readelf, llvm-dwarfdump, elfutils and gdb. scripts/bench
// installs and builds what it runs.
//
// On a shared machine times are worth little and ratios something: the
// contenders of one measurement run in turn, round after round, and medians
// are compared. Where two do the same work their results are compared too.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == ownArgument {
		printOwn(os.Args[2:])
		return
	}
	if len(os.Args) > 2 && os.Args[1] == peakArgument {
		printPeak(os.Args[2:])
		return
	}
	rounds := flag.Int("rounds", 9, "timed rounds of every measurement, at least 7")
	asJSON := flag.Bool("json", false, "print a JSON array instead of a table")
	only := flag.String("only", "", "a regular expression of the measurements to make")
	object := flag.String("object", "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "the ELF file to read")
	clew := flag.String("clew", "", "the clew command; measurements of it are left out where empty")
	gimli := flag.String("gimli", "", "the gimli-bench program; left out where empty")
	threads := flag.String("threads", "", "the threads65 program; left out where empty")
	states := flag.String("states", "", "a Go program that starts as many goroutines as it is told; left out where empty")
	watched := flag.String("watched", "", "a Go program that starts as many threads as it is told; left out where empty")
	units := flag.String("units", "", "the program of testdata/units.cc; left out where empty")
	jit := flag.String("jit", "", "the program of jit/gdb/testdata/jit; left out where empty")
	stack := flag.String("stack", "", "the program of testdata/stack.c; left out where empty")
	recorded := flag.String("recording", "", "a recording of some 90,000 frames with copied stacks; left out where empty")
	jitted := flag.String("jitted", "", "a recording with a jitdump of 175,000 functions; left out where empty")
	functions := flag.String("functions", "", "programs of many functions, whose names end in 400000 and 40000; left out where empty")
	debugged := flag.String("session", "", "session.o, beside the program that it was linked to; left out where empty")
	flag.Parse()
	if *rounds < 7 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: bench [flags], with -rounds of at least 7")
		os.Exit(2)
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		fail(err)
	}
	// One core: neither half may use a second one, the collector's least of all.
	runtime.GOMAXPROCS(1)

	var all []*measurement
	add := func(m []*measurement, err error) {
		if err != nil {
			fail(err)
		}
		all = append(all, m...)
	}
	o, err := openObject(*object)
	if err != nil {
		fail(err)
	}
	g, err := startGimli(*gimli, o)
	if err != nil {
		fail(err)
	}
	add(rowMeasurements(o, g))
	add(encodeMeasurements(o, g))
	walks, stopWalks, err := walkMeasurements(*stack, o)
	add(walks, err)
	add(tableMeasurements(*clew, *object))
	// What clew keeps of other runs is of this one's, and not of who runs it.
	cache, err := os.MkdirTemp("", "clew-bench-")
	if err != nil {
		fail(err)
	}
	defer os.RemoveAll(cache)
	os.Setenv("XDG_CACHE_HOME", cache)
	stop, removeCore := func() {}, func() {}
	if *threads != "" {
		pid, end, err := startThreads(*threads)
		if err != nil {
			fail(err)
		}
		stop = end
		add(stackMeasurements(*clew, pid))
		cores, drop, err := coreMeasurements(*clew, pid)
		removeCore = drop
		add(cores, err)
	}
	stopStates := func() {}
	if *states != "" {
		pid, end, err := startThreads(*states, strconv.Itoa(goroutines))
		if err != nil {
			fail(err)
		}
		stopStates = end
		add(goroutineMeasurements(*clew, pid), nil)
	}
	stopWatched := func() {}
	if *watched != "" {
		pid, end, err := startThreads(*watched, strconv.Itoa(goThreads))
		if err != nil {
			fail(err)
		}
		stopWatched = end
		add(goThreadMeasurements(*clew, pid), nil)
	}
	stopUnits := func() {}
	if *units != "" {
		pid, end, err := startThreads(*units)
		if err != nil {
			fail(err)
		}
		stopUnits = end
		add(unitMeasurements(*clew, pid), nil)
	}
	publishing, remove, err := publishMeasurements()
	if err != nil {
		fail(err)
	}
	add(publishing, nil)
	add(gdbMeasurements(*jit))
	generated, stopGenerated, err := generatedMeasurements(*clew, *jit)
	add(generated, err)
	recordings, removeRecordings, err := recordingMeasurements(*clew, *recorded, *jitted)
	add(recordings, err)
	growing, stopGrowing := growthMeasurements(growthPrograms{*clew, *states, *watched, *functions, *recorded})
	add(growing, nil)
	add(sessionMeasurements(*debugged))
	results := []*result{}
	failed := false
	for _, m := range all {
		if !pattern.MatchString(m.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s\n", m.name)
		r, err := m.measure(*rounds)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: not measured: %s: %v\n", m.name, err)
			failed = true
		}
		results = append(results, r...)
	}
	stop()
	stopStates()
	stopWatched()
	stopUnits()
	stopGrowing()
	stopWalks()
	stopGenerated()
	removeCore()
	remove()
	removeRecordings()
	if *asJSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		err = out.Encode(results)
	} else {
		err = printTable(os.Stdout, results, *rounds)
	}
	if err != nil {
		fail(err)
	}
	if failed {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}
