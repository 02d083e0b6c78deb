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
	"slices"
	"strconv"
	"time"
)

// command is a contender that runs a program and discards its output. The first run
// must print at least the given number of lines, because a program that fails is fast.
func command(name string, goal float64, lines int, path string, arguments ...string) contender {
	checked := false
	return contender{name: name, program: path, goal: goal, run: func() (outcome, error) {
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
			return outcome{}, fmt.Errorf("%q printed %d lines, expected at least %d", cmd.Args, n, lines)
		}
		checked = true
		return outcome{took: took}, nil
	}}
}

// installed returns the contenders whose program is installed.
func installed(all ...contender) []contender {
	return slices.DeleteFunc(all, func(c contender) bool {
		_, err := exec.LookPath(c.program)
		return err != nil
	})
}

// limit is a contender that takes a fixed time: a goal that is not another program.
func limit(d time.Duration) contender {
	return contender{name: d.String(), goal: 1, run: func() (outcome, error) { return outcome{took: d}, nil }}
}

// allStacks is gdb's command that prints the stacks of all threads.
const allStacks = "thread apply all bt"

// gdbArguments are those with which gdb prints the stacks of a process.
func gdbArguments(process string) []string {
	return []string{"-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", process, "-ex", allStacks}
}

// stackArguments are those with which clew prints every frame of a process.
func stackArguments(process string, options ...string) []string {
	return slices.Concat([]string{"stack"}, options, []string{"--no-group", "--all-frames", process})
}

// clewStack and gdbStacks print the stacks of a process, in at least the given number of lines.
func clewStack(lines int, clew, process string, options ...string) contender {
	return command("clew", 0, lines, clew, stackArguments(process, options...)...)
}

func gdbStacks(goal float64, lines int, process string) contender {
	return command("gdb, "+allStacks, goal, lines, "gdb", gdbArguments(process)...)
}

// stackMemory compares the memory that clew and gdb take to print the stacks of a
// process with arguments. The kind is peakMemory or anonymousMemory.
func stackMemory(name, kind string, goal float64, clew, process string) *measurement {
	return &measurement{
		name:   name,
		memory: true,
		clew:   memory(kind, "clew", 0, clew, stackArguments(process, "--args")...),
		peers:  installed(memory(kind, "gdb, "+allStacks, goal, "gdb", gdbArguments(process)...)),
	}
}

// startWaiting starts a program that prints a line when it is ready, and returns when it
// is blocked or runs generated code.
func startWaiting(cmd *exec.Cmd) (pid int, stop func(), err error) {
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
	if _, err := out.Read(make([]byte, 1)); err != nil {
		stop()
		return 0, nil, err
	}
	time.Sleep(200 * time.Millisecond) // from "ready" to the last system call
	return cmd.Process.Pid, stop, nil
}

func tableMeasurements(clew, object string) []*measurement {
	const rows = 100 // every program prints more than one line for an FDE
	return []*measurement{{
		name: "clew table --format=readelf",
		clew: command("clew", 0, rows, clew, "table", "--format=readelf", object),
		peers: installed(
			command("readelf -wF", 0.1, rows, "readelf", "-wF", object),
			command("llvm-dwarfdump --eh-frame", 0, rows, "llvm-dwarfdump", "--eh-frame", object),
		),
	}, {
		name:  "clew table --format=readelf --raw",
		clew:  command("clew", 0, rows, clew, "table", "--format=readelf", "--raw", object),
		peers: installed(command("readelf -wf", 0, rows, "readelf", "-wf", object)),
	}}
}

func stackMeasurements(clew string, pid int) []*measurement {
	const frames = 2900
	process := strconv.Itoa(pid)
	uncached := append([]string{"CLEW_CACHE=off", clew}, stackArguments(process, "--args")...)
	return []*measurement{{
		name: "stack of 65 threads, with names",
		clew: clewStack(frames, clew, process, "--no-lines"),
		peers: installed(
			command("eu-stack -q (no names)", 1, frames, "eu-stack", "-q", "-p", process),
			command("eu-stack", 0, frames, "eu-stack", "-p", process),
		),
	}, {
		name: "the same with lines and inlined calls",
		clew: clewStack(frames, clew, process),
		peers: installed(
			command("eu-stack -i -s", 0, frames, "eu-stack", "-i", "-s", "-p", process),
			gdbStacks(0, frames, process),
		),
	}, {
		name:  "the same with arguments",
		clew:  clewStack(frames, clew, process, "--args"),
		peers: installed(gdbStacks(0.05, frames, process)),
	}, {
		name:  "the same without the cache of previous runs",
		clew:  command("clew", 0, frames, "env", uncached...),
		peers: installed(gdbStacks(0, frames, process)),
	},
		stackMemory("its peak memory", peakMemory, 0.2, clew, process),
		stackMemory("its memory that belongs to no file", anonymousMemory, 0.2, clew, process),
		{
			name:  "pause of 65 threads, as clew reports it",
			clew:  pause(clew, wholePause, process),
			peers: []contender{limit(2 * time.Millisecond)},
		}, watchMeasurement(clew, "longest pause of one of the 65 threads, watched 20 times", pid)}
}

// unitMeasurements are of a stack that leads through many units of C++, in a program
// with much debugging information.
func unitMeasurements(clew string, pid int) []*measurement {
	const frames = 420
	process := strconv.Itoa(pid)
	return []*measurement{{
		name:  "stack through 60 units of C++, with arguments",
		clew:  clewStack(frames, clew, process, "--args"),
		peers: installed(gdbStacks(0, frames, process)),
	}, stackMemory("peak memory for 60 units of C++", peakMemory, 0.2, clew, process)}
}

// Pauses in the JSON of clew stack, in nanoseconds.
var (
	wholePause   = regexp.MustCompile(`"pause_ns":(\d+)`)
	longestPause = regexp.MustCompile(`"longest":(\d+)`)
)

// pause is a contender that takes the pause which clew stack reports. The first group of
// the pattern is the time.
func pause(clew string, pattern *regexp.Regexp, args ...string) contender {
	return contender{name: "clew", run: func() (outcome, error) {
		text, err := exec.Command(clew, append([]string{"stack", "--json"}, args...)...).Output()
		if err != nil {
			return outcome{}, err
		}
		m := pattern.FindSubmatch(text)
		if m == nil {
			return outcome{}, errors.New("clew stack printed no pause")
		}
		took, err := time.ParseDuration(string(m[1]) + "ns")
		return outcome{took: took}, err
	}}
}
