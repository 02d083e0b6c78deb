// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// peakArgument as the first argument has this program run a command and print how
// many bytes it had in memory at most. The kernel counts for a command what the
// program had that started it, until it executes: that has to be a small one, which
// this program is only before it has measured anything.
const peakArgument = "peak"

func printPeak(command []string) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		fail(err)
	}
	fmt.Println(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10)
}

// peak is a contender that runs a program for how much memory it takes.
func peak(name string, goal float64, path string, arguments ...string) contender {
	return memory(peakArgument, name, goal, path, arguments...)
}

// own is a contender that runs a program for how much memory it has of its own.
func own(name string, goal float64, path string, arguments ...string) contender {
	return memory(ownArgument, name, goal, path, arguments...)
}

// memory is a contender that runs a program for how much memory it takes, as this
// program tells with an argument.
func memory(argument, name string, goal float64, path string, arguments ...string) contender {
	return contender{name: name, goal: goal, run: func() (o outcome, err error) {
		self, err := os.Executable()
		if err != nil {
			return o, err
		}
		out, err := exec.Command(self, append([]string{argument, path}, arguments...)...).Output()
		if err != nil {
			return o, fmt.Errorf("%s %q: %w", path, arguments, err)
		}
		_, err = fmt.Sscan(string(out), &o.peak)
		return o, err
	}}
}
