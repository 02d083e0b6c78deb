// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package main

import (
	"context"
	"errors"
	"runtime"

	"github.com/urfave/cli/v3"
)

func stackCommand() *cli.Command { return onlyOnLinux("stack", "Print the stacks of live processes") }

func jitCommand() *cli.Command { return onlyOnLinux("jit", "List generated code") }

func recordCommand() *cli.Command {
	return onlyOnLinux("record", "Record profiles of running programs")
}

func demoCommand() *cli.Command { return onlyOnLinux("demo", "See clew at work") }

// coreFlags are the flags for cores, which are read on Linux only.
type coreFlags struct{}

func (*coreFlags) flags() []cli.Flag { return nil }

var checkOpeners = []func(in *checkInput, name string, flags *coreFlags) error{(*checkInput).openFile}

func (*checkInput) runCommand([]string) error {
	return errors.New("clew follows commands on Linux only, not on " + runtime.GOOS)
}

func isDemo() bool { return false }

func onlyOnLinux(name, usage string) *cli.Command {
	return &cli.Command{Name: name, Usage: usage, Action: func(context.Context, *cli.Command) error {
		return errors.New("clew reads processes on Linux only, not on " + runtime.GOOS)
	}}
}
