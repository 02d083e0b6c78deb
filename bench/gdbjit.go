// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// goal is a peer that is a time to stay below.
func goal(limit time.Duration) contender {
	return contender{name: limit.String(), goal: 1, run: func() (outcome, error) { return outcome{took: limit}, nil }}
}

// gdbMeasurements are of code that is published while gdb watches, by the
// program of package gdb's tests.
func gdbMeasurements(program string) ([]*measurement, error) {
	if _, err := exec.LookPath("gdb"); err != nil || program == "" {
		return nil, nil
	}
	return []*measurement{{
		name: "gdb runs: 10,000 functions at once",
		most: 3,
		clew: underGDB("clew", program, "batch=10000"),
		peers: []contender{goal(500 * time.Millisecond),
			underGDB("one entry each, 1,000 functions", program, "mergeat=-1", "many=1000")},
	}, {
		name:  "gdb runs: 10,000 functions one at a time",
		most:  3,
		clew:  underGDB("clew", program, "many=10000"),
		peers: []contender{goal(10 * time.Second)},
	}, {
		name:  "the same, gathered for 5 ms",
		most:  3,
		clew:  underGDB("clew", program, "gather=5", "many=10000", "flush"),
		peers: []contender{goal(2 * time.Second)},
	}, {
		name: "gdb attaches, bt: 100 batches of 1,000 functions",
		most: 3,
		clew: attached("clew", program, append(repeat("batch=1000", 100), "publish", "wait")...),
		peers: []contender{goal(2 * time.Second),
			attached("one entry each, 1,000 functions", program, "mergeat=-1", "many=1000", "publish", "wait")},
	}}, nil
}

func repeat(step string, n int) []string {
	steps := make([]string, n)
	for i := range steps {
		steps[i] = step
	}
	return steps
}

var clock = regexp.MustCompile(`(?m)^clock (\S+)$`)

// underGDB is how long the program needs for some steps while gdb has it.
func underGDB(name, program string, steps ...string) contender {
	return contender{name: name, run: func() (outcome, error) {
		args := append([]string{"-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "run", "--args", program, "clock"}, steps...)
		out, err := exec.Command("gdb", append(args, "clock")...).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "No such process") { // gdb, when the program exits
			return outcome{}, fmt.Errorf("gdb: %w: %s", err, out)
		}
		clocks := clock.FindAllSubmatch(out, -1)
		if len(clocks) != 2 {
			return outcome{}, fmt.Errorf("the program told %d times: %s", len(clocks), out)
		}
		took, err := time.ParseDuration(string(clocks[1][1]))
		return outcome{took: took}, err
	}}
}

// attached is how long gdb needs to attach to the program after some steps, the
// last of which waits in generated code, and to print its stack.
func attached(name, program string, steps ...string) contender {
	return contender{name: name, run: func() (outcome, error) {
		cmd := exec.Command(program, steps...)
		cmd.Env = append(cmd.Environ(), "GODEBUG=asyncpreemptoff=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			return outcome{}, err
		}
		if err := cmd.Start(); err != nil {
			return outcome{}, err
		}
		defer func() {
			cmd.Process.Kill()
			cmd.Wait()
		}()
		if _, err := out.Read(make([]byte, 1)); err != nil {
			return outcome{}, err
		}
		time.Sleep(100 * time.Millisecond) // from "ready" into generated code
		start := time.Now()
		text, err := exec.Command("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
			"-p", strconv.Itoa(cmd.Process.Pid), "-ex", "thread apply all bt").CombinedOutput()
		took := time.Since(start)
		if err != nil {
			return outcome{}, fmt.Errorf("gdb: %w: %s", err, text)
		}
		if !strings.Contains(string(text), "jit_inner () at /src/labyrinth.jit") {
			return outcome{}, fmt.Errorf("gdb does not know the generated code: %s", text)
		}
		return outcome{took: took}, nil
	}}
}
