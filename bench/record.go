// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// recordMeasurements compare clew record with perf record, and with limits.
func recordMeasurements(in inputs) (all []*measurement) {
	if in.busy != "" {
		all = append(all, in.recordCost()...)
		all = append(all, in.recordEnd("from Ctrl-C to the summary of a recording at 999 Hz, without lines", 2*time.Second, in.busy, "--no-lines"))
	}
	if in.largeUnits != "" {
		all = append(all, in.recordEnd("the same with lines, of a program with over 100 MB of debug information", 5*time.Second, in.largeUnits))
	}
	if in.work != "" {
		all = append(all, in.recordSlowdown())
	}
	if in.starts != "" {
		all = append(all, in.recordMemory()...)
	}
	return all
}

// recordCost compares the processor time of recording a program and naming its functions.
func (in *inputs) recordCost() []*measurement {
	clew := func(frequency string) contender {
		return contender{name: "clew", run: func() (outcome, error) {
			return in.whileBusy([]string{in.clew, "record", "--no-lines", "--frequency", frequency, "--duration", in.costTime.String(), "PID"})
		}}
	}
	data := filepath.Join(in.dir, "busy.data")
	seconds := strconv.FormatFloat(in.costTime.Seconds(), 'f', -1, 64)
	perf := contender{name: "perf record --call-graph dwarf, perf script", program: "perf", goal: 1.0 / 3, run: func() (outcome, error) {
		return in.whileBusy(
			[]string{"perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "--call-graph", "dwarf", "-o", data, "-p", "PID", "--", "sleep", seconds},
			[]string{"perf", "script", "-i", data})
	}}
	processors := runtime.NumCPU()
	return []*measurement{{
		name: fmt.Sprintf("recording of %d busy processors at 999 Hz for %v, processor time", processors, in.costTime), maxRounds: 3,
		clew:  clew("999"),
		peers: installed(perf),
	}, {
		name: "the same at 99 Hz", maxRounds: 3,
		clew:  clew("99"),
		peers: []contender{limit(in.costTime * time.Duration(processors) / 50)},
	}}
}

// recordSlowdown compares the processor time of a recorded program, which includes that of the
// interrupts that take the samples.
func (in *inputs) recordSlowdown() *measurement {
	run := func(name, program string, goal float64, command ...string) contender {
		return contender{name: name, program: program, goal: goal, run: func() (outcome, error) {
			args := append(slices.Clone(command), in.work, strconv.Itoa(runtime.NumCPU()), "20000")
			cmd := exec.Command(args[0], args[1:]...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				return outcome{}, fmt.Errorf("%q: %w: %s", args, err, &stderr)
			}
			var o outcome
			_, err = fmt.Sscan(string(out), (*int64)(&o.took))
			return o, err
		}}
	}
	// Two runs of the same program differ by some percent.
	const noise = 1.03
	return &measurement{
		name: "processor time of a program that is recorded at 999 Hz",
		clew: run("clew", in.clew, 0, in.clew, "record", "--no-lines", "--frequency", "999", "--"),
		peers: installed(
			run("perf record --call-graph dwarf", "perf", noise, "perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "--call-graph", "dwarf", "-o", filepath.Join(in.dir, "work.data"), "--"),
			run("not recorded", in.work, 0)),
	}
}

// recordEnd measures the time from Ctrl-C to the end of the output.
func (in *inputs) recordEnd(name string, most time.Duration, program string, flags ...string) *measurement {
	run := func() (outcome, error) {
		pid, stop, err := startWaiting(exec.Command(program, strconv.Itoa(runtime.NumCPU()), "0"))
		if err != nil {
			return outcome{}, err
		}
		defer stop()
		cmd := exec.Command(in.clew, slices.Concat([]string{"record", "--frequency", "999"}, flags, []string{strconv.Itoa(pid)})...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Start(); err != nil {
			return outcome{}, err
		}
		time.Sleep(in.recordTime)
		start := time.Now()
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || strings.Contains(stderr.String(), "lost") || stdout.Len() == 0 {
			return outcome{}, fmt.Errorf("%q: %w: %s", cmd.Args, err, &stderr)
		}
		return outcome{took: time.Since(start)}, nil
	}
	return &measurement{
		name: name, maxRounds: 3,
		clew:  contender{name: "clew", run: run},
		peers: []contender{limit(most)},
	}
}

// recordMemory measures the peak memory while a program starts 100 processes a second, and how it
// grows after the first minute.
func (in *inputs) recordMemory() []*measurement {
	const first, most = time.Minute, 150e6
	var early, late outcome // while the programs are recorded
	run := func() (outcome, error) {
		pid, stop, err := startWaiting(exec.Command(in.starts, "100", "0"))
		if err != nil {
			return outcome{}, err
		}
		defer stop()
		// At 99 Hz most of the processes end before their first sample, which comes after a whole period.
		cmd := exec.Command(in.clew, "record", "--frequency", "999", "--duration", in.churnTime.String(), strconv.Itoa(pid))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			return outcome{}, err
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var peak outcome
		for began := time.Now(); ; {
			select {
			case err := <-ended:
				if err != nil {
					err = fmt.Errorf("%q: %w: %s", cmd.Args, err, &stderr)
				}
				return peak, err
			case <-time.After(20 * time.Millisecond):
			}
			// That of the resources of the process includes this program, which has started it.
			peak.peak = max(peak.peak, peakOf(cmd.Process.Pid))
			if time.Since(began) < first {
				early = peak
			}
			if time.Since(began) < in.churnTime {
				late = peak
			}
		}
	}
	all := []*measurement{{
		name: fmt.Sprintf("peak memory of recording 100 new processes a second for %v", in.churnTime), once: true, memory: true,
		clew: contender{name: "clew", run: run},
		peers: []contender{{name: "150 MB", goal: 1,
			run: func() (outcome, error) { return outcome{peak: most}, nil }}},
	}}
	if in.churnTime > first {
		all = append(all, &measurement{
			name: "peak memory of recording 100 new processes a second, before they are named", once: true, memory: true,
			clew: contender{name: "clew", run: func() (outcome, error) {
				var err error
				if late.peak == 0 {
					_, err = run()
				}
				return late, err
			}},
			peers: []contender{{name: "clew, in the first minute", goal: 1.25,
				run: func() (outcome, error) { return early, nil }}},
		})
	}
	return all
}

// peakOf returns the peak memory of a process so far in bytes, 0 if it is unknown.
func peakOf(pid int) (size uint64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if m := peakLine.FindSubmatch(text); m != nil {
		size, _ = strconv.ParseUint(string(m[1]), 10, 64)
	}
	return size << 10
}

var peakLine = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// whileBusy runs commands while a program keeps all processors busy, and returns their processor
// time. PID in the arguments stands for the program. If Clew lost samples, that is an error.
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
		if args[0] == in.clew && strings.Contains(stderr.String(), "lost") {
			return outcome{}, errors.New(stderr.String())
		}
		o.took += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return o, nil
}
