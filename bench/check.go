// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check"
	elffile "github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
)

// stepped is how many instructions one run of the dynamic check executes at least.
const stepped = 20_000

// checkMeasurements are of the check of a file's tables, by analysis, and of the check of
// one execution, by stepping through the object file of sessionMeasurements.
func checkMeasurements(clew string, o *object, file string) (list []*measurement, err error) {
	functions := 0
	for range o.frame.FDEs() {
		functions++
	}
	sorted := slices.Sorted(slices.Values(o.addresses))
	middle := sorted[len(sorted)/2]
	half := func(start, end uint64) bool { return start >= middle }
	list = append(list, &measurement{
		name: fmt.Sprintf("check of %d functions, processor time", functions), maxRounds: 3,
		clew: contender{name: "clew", run: func() (outcome, error) { return analysis(o.path, nil) }},
		peers: []contender{
			limit(time.Duration(functions) * 20 * time.Microsecond),
			{name: "clew, half of them", goal: 2.2, run: func() (outcome, error) { return analysis(o.path, half) }},
		},
	})
	if clew != "" {
		list = append(list, &measurement{
			name: "peak memory for its command", maxRounds: 3, memory: true,
			clew:  memory(peakMemory, "clew", 0, clew, "check", o.path),
			peers: []contender{{name: "1 GB", goal: 1, run: func() (outcome, error) { return outcome{peak: 1e9}, nil }}},
		})
	}
	all, chosen := synthesizedRanges(o.frame)
	size := uint64(0)
	for _, r := range chosen {
		size += r.End - r.Start
	}
	list = append(list, &measurement{
		name: fmt.Sprintf("unwind tables from %.1f MB of code, processor time", float64(size)/1e6), maxRounds: 3,
		clew:  contender{name: "clew", run: func() (outcome, error) { return synthesis(o.path, all, chosen) }},
		peers: []contender{limit(time.Duration(size) * time.Microsecond)}, // 1 MB a second
	})
	if file == "" {
		return list, nil
	}
	return append(list, &measurement{
		name:  fmt.Sprintf("check of %d executed instructions", stepped),
		clew:  contender{name: "clew", run: func() (outcome, error) { return inSession(file, false, checkedSteps) }},
		peers: []contender{limit(time.Second)},
	}), nil
}

// analysis returns the processor time of checking a file without the functions for which
// skip returns true.
func analysis(path string, skip func(start, end uint64) bool) (outcome, error) {
	f, err := elffile.Open(path)
	if err != nil {
		return outcome{}, err
	}
	defer f.Close()
	runtime.GC()
	begin := processorTime()
	_, err = check.File(f, check.Options{Skip: skip})
	return outcome{took: processorTime() - begin}, err
}

// synthesized is how much code one run makes tables of, in bytes.
const synthesized = 8 << 20

// synthesizedRanges returns the functions of a file, and those whose tables are made: spread over it.
func synthesizedRanges(section *cfi.Section) (all, chosen []check.Range) {
	size := uint64(0)
	for _, r := range section.Index().Ranges() {
		all = append(all, check.Range{Start: r.Start, End: r.End})
		size += r.End - r.Start
	}
	for i := 0; i < len(all); i += max(1, int(size/synthesized)) {
		chosen = append(chosen, all[i])
	}
	return all, chosen
}

// synthesis returns the processor time of making the tables of functions.
func synthesis(path string, all, chosen []check.Range) (outcome, error) {
	f, err := elffile.Open(path)
	if err != nil {
		return outcome{}, err
	}
	defer f.Close()
	begin := processorTime()
	s, err := check.NewFileSynthesizer(f, all, nil)
	if err != nil {
		return outcome{}, err
	}
	for _, r := range chosen {
		if _, err := s.Function(r.Start, r.End-r.Start); err != nil {
			return outcome{}, err
		}
	}
	return outcome{took: processorTime() - begin}, nil
}

// processorTime is the time that all threads of this process ran.
func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// checkedSteps returns the time for which stepped instructions are checked.
func checkedSteps(s *session.Session) (time.Duration, error) {
	spin, err := address(s, "spin")
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	r, err := check.Session(s, spin, session.Arguments{Words: []uint64{stepped / 10}}, nil)
	took := time.Since(begin)
	if err == nil && (r.Disagree > 0 || r.Instructions < stepped) {
		err = fmt.Errorf("%d of %d instructions disagree, of at least %d", r.Disagree, r.Instructions, stepped)
	}
	if err != nil {
		return 0, err
	}
	return took * stepped / time.Duration(r.Instructions), nil
}
