// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command bench compares Clew with the programs that do the same work today:
// gimli, Delve, libunwind, readelf, llvm-dwarfdump, elfutils and gdb. scripts/bench
// installs and builds what it runs.
//
// On a shared machine ratios mean more than times: the contenders of one measurement run
// in turn, round after round, and bench compares their medians. If two of them do the same
// work, it compares their results too.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"
)

// inputs are the files that measurements need. A measurement without its input is omitted.
type inputs struct {
	object, clew, gimli, threads, states, watched, units, jit, stack string
	recording, jitted, busy, functions, session                      string
	largeUnits, work, starts                                         string
	musl                                                             string
	traceback, cgosymbolizer                                         string
	dir                                                              string // for temporary files

	costTime, recordTime, churnTime time.Duration
}

// longRecording is the file that recordingMeasurements writes.
func (in *inputs) longRecording() string { return filepath.Join(in.dir, "long.data") }

func main() {
	if len(os.Args) > 2 && (os.Args[1] == anonymousMemory || os.Args[1] == peakMemory) {
		fail(printMemory(os.Args[1], os.Args[2:]))
		return
	}
	var in inputs
	rounds := flag.Int("rounds", 9, "timed rounds of every measurement, at least 7")
	asJSON := flag.Bool("json", false, "print a JSON array instead of a table")
	only := flag.String("only", "", "a regular expression that selects measurements")
	flag.StringVar(&in.object, "object", "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "the ELF file to read")
	flag.StringVar(&in.clew, "clew", "", "the clew command")
	flag.StringVar(&in.gimli, "gimli", "", "the gimli-bench program")
	flag.StringVar(&in.threads, "threads", "", "the threads65 program")
	flag.StringVar(&in.states, "states", "", "a Go program that starts the given number of goroutines")
	flag.StringVar(&in.watched, "watched", "", "a Go program that starts the given number of threads")
	flag.StringVar(&in.units, "units", "", "the program of testdata/units.cc")
	flag.StringVar(&in.jit, "jit", "", "the program of jit/gdb/testdata/jit")
	flag.StringVar(&in.stack, "stack", "", "the program of testdata/stack.c")
	flag.StringVar(&in.recording, "recording", "", "a recording of some 90,000 frames with copied stacks")
	flag.StringVar(&in.jitted, "jitted", "", "a recording with a jitdump of 175,000 functions")
	flag.StringVar(&in.busy, "busy", "", "the program of shares.c")
	flag.StringVar(&in.largeUnits, "large-units", "", "the program of testdata/units.cc with all debug information, built with -DBUSY")
	flag.StringVar(&in.work, "work", "", "the program of testdata/work.c")
	flag.StringVar(&in.starts, "starts", "", "the program of starts.c")
	flag.DurationVar(&in.costTime, "cost-time", time.Minute, "how long clew record runs where its processor time is measured")
	flag.DurationVar(&in.recordTime, "record-time", 5*time.Second, "how long clew record runs where the end of a recording is measured")
	flag.DurationVar(&in.churnTime, "churn-time", 20*time.Second, "how long clew record runs where its memory is measured; the goal is for an hour")
	flag.StringVar(&in.functions, "functions", "", "programs of many functions; their names end in 400000 and 40000")
	flag.StringVar(&in.musl, "musl", "/usr/lib/x86_64-linux-musl/libc.so", "musl's library")
	flag.StringVar(&in.traceback, "traceback", "", "the program of ./traceback")
	flag.StringVar(&in.cgosymbolizer, "cgosymbolizer", "", "the same program, built with the tag cgosymbolizer")
	flag.StringVar(&in.session, "session", "", "session.o, beside the program that it was linked to")
	flag.Parse()
	if *rounds < 7 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: bench [flags], with -rounds of at least 7")
		os.Exit(2)
	}
	pattern, err := regexp.Compile(*only)
	if err == nil {
		err = run(in, pattern, *rounds, *asJSON)
	}
	fail(err)
}

// fail prints an error and exits, unless the error is nil.
func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run makes the measurements that pattern selects, and prints their results.
func run(in inputs, pattern *regexp.Regexp, rounds int, asJSON bool) error {
	// One core: no contender may use a second one, not even for garbage collection.
	runtime.GOMAXPROCS(1)
	dir, err := os.MkdirTemp("", "clew-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	in.dir = dir
	os.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache")) // not the caches of the user's own runs

	var s suite
	defer s.stop()
	if err := s.prepare(in); err != nil {
		return err
	}
	results := []*result{}
	failed := false
	for _, m := range s.measurements {
		if !pattern.MatchString(m.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s\n", m.name)
		r, err := m.measure(rounds)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: not measured: %s: %v\n", m.name, err)
			failed = true
		}
		results = append(results, r...)
	}
	if asJSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		err = out.Encode(results)
	} else {
		err = printTable(os.Stdout, results, rounds)
	}
	if err == nil && failed {
		err = errors.New("some measurements failed")
	}
	return err
}

// suite is the list of measurements, and the functions that stop their programs.
type suite struct {
	measurements []*measurement
	stops        []func()
	err          error // the first error
}

func (s *suite) stop() {
	for _, stop := range s.stops {
		stop()
	}
}

// add adds measurements, and the function to call after all of them, which may be nil.
func (s *suite) add(m []*measurement, stop func(), err error) {
	if stop != nil {
		s.stops = append(s.stops, stop)
	}
	s.measurements = append(s.measurements, m...)
	if s.err == nil {
		s.err = err
	}
}

// start starts a program that is measured, unless its name is empty.
func (s *suite) start(program string, args []string, measurements func(pid int) []*measurement) {
	if program == "" || s.err != nil {
		return
	}
	pid, stop, err := startWaiting(exec.Command(program, args...))
	if err != nil {
		s.err = err
		return
	}
	s.add(measurements(pid), stop, nil)
}

// prepare starts the programs, and adds all measurements.
func (s *suite) prepare(in inputs) error {
	o, err := openObject(in.object)
	if err != nil {
		return err
	}
	g, err := startGimli(in.gimli, o)
	if err != nil {
		return err
	}
	add := func(m []*measurement, err error) { s.add(m, nil, err) }
	add(rowMeasurements(o, g))
	add(encodeMeasurements(o, g))
	s.add(walkMeasurements(in.stack, o))
	add(switchMeasurements(o.frame.Machine))
	add(publishMeasurements(in.dir))
	add(gdbMeasurements(in.jit), nil)
	add(sessionMeasurements(in.session))
	add(checkMeasurements(in.clew, o, in.session))
	s.add(analysisMeasurements(in.musl))
	add(tracebackMeasurements(in.traceback, in.cgosymbolizer), nil)
	if in.clew == "" || s.err != nil {
		return s.err
	}
	add(tableMeasurements(in.clew, in.object), nil)
	s.start(in.threads, nil, func(pid int) []*measurement {
		return append(stackMeasurements(in.clew, pid), coreMeasurements(in.clew, in.dir, pid)...)
	})
	s.start(in.states, []string{strconv.Itoa(goroutines)}, func(pid int) []*measurement { return goroutineMeasurements(in.clew, pid) })
	s.start(in.watched, []string{strconv.Itoa(goThreads)}, func(pid int) []*measurement { return goThreadMeasurements(in.clew, pid) })
	s.start(in.units, nil, func(pid int) []*measurement { return unitMeasurements(in.clew, pid) })
	s.add(generatedMeasurements(in.clew, in.dir, in.jit))
	add(recordingMeasurements(in))
	add(recordMeasurements(in), nil)
	growing, stop := growthMeasurements(in)
	s.add(growing, stop, nil)
	return s.err
}
