// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// gdbMeasurements are of code that the program of jit/gdb/testdata/jit publishes while
// gdb debugs it.
func gdbMeasurements(program string) []*measurement {
	if _, err := exec.LookPath("gdb"); err != nil || program == "" {
		return nil
	}
	return []*measurement{{
		name:      "gdb runs: 10,000 functions at once",
		maxRounds: 3,
		clew:      underGDB("clew", program, "batch=10000"),
		peers: []contender{limit(500 * time.Millisecond),
			underGDB("one entry each, 1,000 functions", program, "mergeat=-1", "many=1000")},
	}, {
		name:      "gdb runs: 10,000 functions one at a time",
		maxRounds: 3,
		clew:      underGDB("clew", program, "many=10000"),
		peers:     []contender{limit(10 * time.Second)},
	}, {
		name:      "the same, gathered for 5 ms",
		maxRounds: 3,
		clew:      underGDB("clew", program, "gather=5", "many=10000", "flush"),
		peers:     []contender{limit(2 * time.Second)},
	}, {
		name:      "gdb attaches, bt: 100 batches of 1,000 functions",
		maxRounds: 3,
		clew:      gdbAttach("clew", program, slices.Repeat([]string{"batch=1000"}, 100)...),
		peers: []contender{limit(2 * time.Second),
			gdbAttach("one entry each, 1,000 functions", program, "mergeat=-1", "many=1000")},
	}}
}

var clock = regexp.MustCompile(`(?m)^clock (\S+)$`)

// underGDB takes the time that the program needs for some steps while gdb runs it.
func underGDB(name, program string, steps ...string) contender {
	return contender{name: name, run: func() (outcome, error) {
		args := append([]string{"-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "run", "--args", program, "clock"}, steps...)
		out, err := exec.Command("gdb", append(args, "clock")...).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "No such process") { // gdb prints this when the program exits
			return outcome{}, fmt.Errorf("gdb: %w: %s", err, out)
		}
		clocks := clock.FindAllSubmatch(out, -1)
		if len(clocks) != 2 {
			return outcome{}, fmt.Errorf("the program printed %d times, expected 2: %s", len(clocks), out)
		}
		took, err := time.ParseDuration(string(clocks[1][1]))
		return outcome{took: took}, err
	}}
}

// inGenerated returns the command that runs the program of jit/gdb/testdata/jit: it does
// the steps, and then waits in generated code.
func inGenerated(program string, steps ...string) *exec.Cmd {
	cmd := exec.Command(program, slices.Concat(steps, []string{"publish", "wait"})...)
	cmd.Env = append(cmd.Environ(), "GODEBUG=asyncpreemptoff=1")
	return cmd
}

// gdbAttach takes the time that gdb needs to attach to the program, after the steps, and
// to print its stack.
func gdbAttach(name, program string, steps ...string) contender {
	return contender{name: name, run: func() (outcome, error) {
		pid, stop, err := startWaiting(inGenerated(program, steps...))
		if err != nil {
			return outcome{}, err
		}
		defer stop()
		start := time.Now()
		text, err := exec.Command("gdb", gdbArguments(strconv.Itoa(pid))...).CombinedOutput()
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
