// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
)

// command returns the command line of a target, shortened.
func command(s *snapshot.Snapshot) string {
	text := s.Command
	if s.Live {
		text = commandLine(s.PID)
	}
	return shortened(strings.TrimSpace(strings.ReplaceAll(text, "\x00", " ")))
}

// shortened truncates a long command line. It keeps the whole first word, the program.
func shortened(line string) string {
	const maxLength = 60
	r := []rune(line)
	program := slices.Index(r, ' ')
	switch {
	case len(r) <= maxLength || program < 0:
		return line
	case program >= maxLength-1:
		return string(r[:program]) + " …"
	}
	return string(r[:maxLength-1]) + "…"
}

// commandLine returns the arguments of a process, each followed by a zero byte.
func commandLine(pid int) string {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return string(b)
}

// runCommand runs a command and prints its stacks when it crashes or on Ctrl-\.
func runCommand(args []string, flags stackFlags) error {
	if len(flags.threads) > 0 {
		return errors.New("--thread needs process IDs: the threads of a command are not known before it runs")
	}
	if flags.profile.toOutput() {
		return errors.New("a profile needs a file here: standard output belongs to the command")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, output.Stdout.File, output.Stderr.File
	start := time.Now()
	var crashed bytes.Buffer // the stacks of the crash, until their source lines are read
	var source *style.SourceFiles
	err := process.Run(cmd, func(s *snapshot.Snapshot, reason process.Reason) {
		if !flags.json {
			output.Warn("%s after %v: %v", args[0], time.Since(start).Round(time.Millisecond), reason)
		}
		s.Command = commandLine(s.PID) // the process is stopped, not gone
		s.Search = input.SearchBelow(s.Search.Root)
		flags.crashed = true
		if reason.Crash {
			s.Signal = &snapshot.Signal{Number: int(reason.Signal), Thread: reason.Thread}
		}
		// Standard output belongs to the command.
		var w io.Writer = output.Stderr
		if flags.variables.later = reason.Crash && flags.variables.source; flags.variables.later {
			w = &crashed
		}
		objects := newObjects(s)
		if _, err := printStacks(w, output.Stderr.Palette(), &stack.Walked{Snapshot: s, Objects: objects}, flags); err != nil {
			output.Warn("%v", err)
		}
		if flags.variables.later {
			source = flags.variables.text(objects)
		}
	})
	if _, err := output.Stderr.Write(filled(source, crashed.Bytes(), output.Stderr.Palette())); err != nil {
		output.Warn("%v", err)
	}
	if flags.into.Total() > 0 {
		if err := flags.profile.write(flags.into); err != nil {
			output.Warn("%v", err)
		}
	}
	return exitAs(cmd, err)
}

// exitAs returns the error that gives clew the exit code of a command that has ended with err.
func exitAs(cmd *exec.Cmd, err error) error {
	state, ok := cmd.ProcessState, errors.As(err, new(*exec.ExitError))
	switch {
	case err == nil:
		return nil
	case !ok || state == nil:
		return output.InputError(input.StartError(err))
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return output.Status(128 + int(ws.Signal()))
	}
	return output.Status(state.ExitCode())
}
