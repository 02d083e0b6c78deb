// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// recorded is how long a run records a program that keeps all processors busy.
const recorded = 5 * time.Second

// recordMeasurements compare the processor time of recording a program and naming its
// functions.
func recordMeasurements(in inputs) []*measurement {
	if in.busy == "" {
		return nil
	}
	seconds := strconv.FormatFloat(recorded.Seconds(), 'f', -1, 64)
	clew := func(frequency string) contender {
		return contender{name: "clew", run: func() (outcome, error) {
			return in.whileBusy([]string{in.clew, "record", "--no-lines", "--frequency", frequency, "--duration", recorded.String(), "PID"})
		}}
	}
	data := filepath.Join(in.dir, "busy.data")
	perf := contender{name: "perf record --call-graph dwarf, perf script", program: "perf", goal: 1.0 / 3, run: func() (outcome, error) {
		return in.whileBusy(
			[]string{"perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "--call-graph", "dwarf", "-o", data, "-p", "PID", "--", "sleep", seconds},
			[]string{"perf", "script", "-i", data})
	}}
	processors := runtime.NumCPU()
	return []*measurement{{
		name: fmt.Sprintf("recording of %d busy processors at 999 Hz, processor time", processors), maxRounds: 3,
		clew:  clew("999"),
		peers: installed(perf),
	}, {
		name: "the same at 99 Hz", maxRounds: 3,
		clew:  clew("99"),
		peers: []contender{limit(recorded * time.Duration(processors) / 50)},
	}}
}

// whileBusy runs commands while a program keeps all processors busy, and returns their processor
// time. PID in the arguments stands for the program. A command that lost samples is an
// error.
func (in *inputs) whileBusy(commands ...[]string) (outcome, error) {
	pid, stop, err := startWaiting(exec.Command(in.busy, strconv.Itoa(runtime.NumCPU()), "0"))
	if err != nil {
		return outcome{}, err
	}
	defer stop()
	var o outcome
	for _, args := range commands {
		args = slices.Clone(args)
		if i := slices.Index(args, "PID"); i >= 0 {
			args[i] = strconv.Itoa(pid)
		}
		var stderr bytes.Buffer
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stderr = &stderr
		err := cmd.Run()
		if err != nil {
			return outcome{}, fmt.Errorf("%q: %w: %s", args, err, &stderr)
		}
		if strings.Contains(stderr.String(), "lost") {
			return outcome{}, errors.New(stderr.String())
		}
		o.took += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return o, nil
}
