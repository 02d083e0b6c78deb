// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"os"
	"os/exec"
	"time"

	"github.com/clewdev/clew/check/survey"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/snapshot/process"
)

// checkOpeners open the kinds of arguments. They are asked in this order. The error of one that does
// not know the argument wraps snapshot.ErrUnknown.
var checkOpeners = []func(in *checkInput, name string, flags *coreFlags) error{
	(*checkInput).openFile,
	(*checkInput).openTarget,
}

// openTarget opens a process, a core, a jitdump or a recording.
func (in *checkInput) openTarget(name string, flags *coreFlags) error {
	t, err := openJIT(name, &jitFlags{core: *flags})
	if err != nil {
		return err
	}
	in.close = append(in.close, t.close)
	in.partly = !t.warnOfDamage() || in.partly
	if t.objects != nil {
		parts, err := survey.Target(t.objects)
		if err != nil {
			output.Warn("%v", err)
			in.partly = true
		}
		in.parts = append(in.parts, parts...)
		return nil
	}
	for _, source := range t.sources {
		in.parts = append(in.parts, survey.Source(source, t.machine))
	}
	return nil
}

// commandInterval is how often a command is examined, at most.
const commandInterval = time.Millisecond

// runCommand runs a command, and opens the code that it generates.
func (in *checkInput) runCommand(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	// Standard output is for the report.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, output.Stderr.File, output.Stderr.File
	code := new(survey.Collector)
	err := exitAs(cmd, process.Follow(cmd, commandInterval, code.Add))
	in.close = append(in.close, func() { code.Close() })
	if _, exited := err.(output.Status); exited {
		output.Warn("%s ended with %v", args[0], cmd.ProcessState)
	} else if err != nil {
		return err
	}
	parts, err := code.Parts()
	if err != nil {
		output.Warn("%v", err)
		in.partly = true
	}
	in.parts = append(in.parts, parts...)
	return nil
}
