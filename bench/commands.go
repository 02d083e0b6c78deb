// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// command is a contender that runs a program, its output thrown away. A first
// run must print as many lines as the work has at least: a program that fails
// is fast.
func command(name string, goal float64, lines int, path string, arguments ...string) contender {
	checked := false
	return contender{name: name, goal: goal, run: func() (outcome, error) {
		cmd := exec.Command(path, arguments...)
		var stdout, stderr bytes.Buffer
		cmd.Stderr = &stderr
		if !checked {
			cmd.Stdout = &stdout
		}
		start := time.Now()
		err := cmd.Run()
		took := time.Since(start)
		if err != nil {
			why, _, _ := bytes.Cut(stderr.Bytes(), []byte("\n"))
			return outcome{}, fmt.Errorf("%q: %w: %s", cmd.Args, err, why)
		}
		if n := bytes.Count(stdout.Bytes(), []byte("\n")); !checked && n < lines {
			return outcome{}, fmt.Errorf("%q printed %d lines, and %d at least were expected", cmd.Args, n, lines)
		}
		checked = true
		return outcome{took: took}, nil
	}}
}

// installed returns those contenders whose program is there.
func installed(all ...struct {
	contender
	tool string
}) []contender {
	var there []contender
	for _, c := range all {
		if _, err := exec.LookPath(c.tool); err == nil {
			there = append(there, c.contender)
		}
	}
	return there
}

type peer = struct {
	contender
	tool string
}

// allStacks has gdb print the stacks of a process, and is what that is called.
const allStacks = "thread apply all bt"

// gdbStacks is gdb that prints the stacks of a process, in so many lines at least.
func gdbStacks(goal float64, lines int, process string) peer {
	return peer{command("gdb, "+allStacks, goal, lines, "gdb", "-nx", "-batch", "-p", process, "-ex", allStacks), "gdb"}
}

// gdbMemory is the memory that gdb takes for that, as peak or own counts it.
func gdbMemory(count func(name string, goal float64, path string, arguments ...string) contender, goal float64, process string) peer {
	return peer{count("gdb, "+allStacks, goal, "gdb", "-nx", "-batch", "-p", process, "-ex", allStacks), "gdb"}
}

func tableMeasurements(clew, object string) ([]*measurement, error) {
	if clew == "" {
		return nil, nil
	}
	// Every FDE takes more than one line, whoever prints it.
	const rows = 100
	return []*measurement{{
		name: "clew table --format=readelf",
		clew: command("clew", 0, rows, clew, "table", "--format=readelf", object),
		peers: installed(
			peer{command("readelf -wF", 0.1, rows, "readelf", "-wF", object), "readelf"},
			peer{command("llvm-dwarfdump --eh-frame", 0, rows, "llvm-dwarfdump", "--eh-frame", object), "llvm-dwarfdump"},
		),
	}, {
		name: "clew table --format=readelf --raw",
		clew: command("clew", 0, rows, clew, "table", "--format=readelf", "--raw", object),
		peers: installed(
			peer{command("readelf -wf", 0, rows, "readelf", "-wf", object), "readelf"},
		),
	}}, nil
}

// startThreads starts the program of 65 threads, or that of many goroutines, and returns
// when all of them are blocked.
func startThreads(path string, args ...string) (pid int, stop func(), err error) {
	cmd := exec.Command(path, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, nil, err
	}
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	stop = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	ready := make([]byte, 1)
	if _, err := out.Read(ready); err != nil {
		stop()
		return 0, nil, err
	}
	time.Sleep(200 * time.Millisecond) // from "ready" to the last system call
	return cmd.Process.Pid, stop, nil
}

func stackMeasurements(clew string, pid int) ([]*measurement, error) {
	if clew == "" {
		return nil, nil
	}
	const frames = 2900
	process := strconv.Itoa(pid)
	return []*measurement{{
		name: "stack of 65 threads, with names",
		clew: command("clew", 0, frames, clew, "stack", "--no-group", "--all-frames", "--no-lines", process),
		peers: installed(
			peer{command("eu-stack -q (no names)", 1, frames, "eu-stack", "-q", "-p", process), "eu-stack"},
			peer{command("eu-stack", 0, frames, "eu-stack", "-p", process), "eu-stack"},
		),
	}, {
		name: "the same with lines and inlined calls",
		clew: command("clew", 0, frames, clew, "stack", "--no-group", "--all-frames", process),
		peers: installed(
			peer{command("eu-stack -i -s", 0, frames, "eu-stack", "-i", "-s", "-p", process), "eu-stack"},
			gdbStacks(0, frames, process),
		),
	}, {
		name: "the same with arguments",
		clew: command("clew", 0, frames, clew, "stack", "--args", "--no-group", "--all-frames", process),
		peers: installed(
			gdbStacks(0.05, frames, process),
		),
	}, {
		name: "the same with nothing kept of other runs",
		clew: command("clew", 0, frames, "env", "CLEW_CACHE=off", clew, "stack", "--args", "--no-group", "--all-frames", process),
		peers: installed(
			gdbStacks(0, frames, process),
		),
	}, {
		name:   "its peak memory",
		memory: true,
		clew:   peak("clew", 0, clew, "stack", "--args", "--no-group", "--all-frames", process),
		peers: installed(
			gdbMemory(peak, 0.2, process),
		),
	}, {
		name:   "its memory that is no file's",
		memory: true,
		clew:   own("clew", 0, clew, "stack", "--args", "--no-group", "--all-frames", process),
		peers: installed(
			gdbMemory(own, 0.2, process),
		),
	}, {
		name: "pause of 65 threads, as clew tells it",
		clew: contender{name: "clew", run: func() (outcome, error) { return pause(clew, stoodStill, process) }},
		peers: []contender{{name: "2 ms", goal: 1, run: func() (outcome, error) {
			return outcome{took: 2 * time.Millisecond}, nil
		}}},
	}, watchMeasurement(clew, "longest pause of one of the 65 threads, watched 20 times", pid)}, nil
}

// What clew stack prints of pauses.
var (
	stoodStill   = regexp.MustCompile(`stood still for (\S+)`)
	longestPause = regexp.MustCompile(`each time, (\S+) at the longest`)
)

// pause is how long the process stood still, by what clew stack prints.
func pause(clew string, told *regexp.Regexp, args ...string) (outcome, error) {
	text, err := exec.Command(clew, append([]string{"stack"}, args...)...).Output()
	if err != nil {
		return outcome{}, err
	}
	m := told.FindSubmatch(text)
	if m == nil {
		return outcome{}, errors.New("clew stack tells no pause")
	}
	took, err := time.ParseDuration(string(m[1]))
	return outcome{took: took}, err
}
