// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/debug"
	"github.com/clewdev/clew/cmd/clew/demo"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
)

func demoCommand() *cli.Command {
	var wait bool
	return &cli.Command{
		Name:  "demo",
		Usage: "See clew at work on a small program of its own",
		Description: `Compile a small Forth program to machine code, run it until it waits deep in a
recursion, and print its stack: frames of Go, of generated words, and of Go again.
Then print the unwind table of a word. No other program is needed.`,
		UsageText: `clew demo [flags]

Examples:
  clew demo
  clew demo --wait    keep the program running, to inspect it with gdb and perf`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "wait", Destination: &wait, Usage: "keep the program running until Ctrl-C, and print commands to inspect it with gdb and perf"},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return fmt.Errorf("expected no arguments, got %s", c.Args().First())
			}
			return runDemo(wait)
		},
	}
}

// isDemo runs the program of the demo and returns true, if the demo has started this process for it.
func isDemo() bool { return demo.Main() }

func runDemo(wait bool) error {
	// The program must not outlive this process after Ctrl-C, or when a pager exits.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer signal.Stop(signals)
	program, err := demo.Start()
	if err != nil {
		return output.InputError(err)
	}
	defer program.Close()
	shown := make(chan error, 1)
	go func() { shown <- showDemo(program, wait) }()
	select {
	case err := <-shown:
		if errors.Is(err, syscall.EPIPE) {
			return output.Status(128 + int(syscall.SIGPIPE))
		}
		if err != nil || !wait {
			return err
		}
	case s := <-signals:
		return output.Status(128 + int(s.(syscall.Signal)))
	}
	if s := <-signals; s != syscall.SIGINT {
		return output.Status(128 + int(s.(syscall.Signal)))
	}
	return nil
}

func showDemo(program *demo.Program, wait bool) error {
	fmt.Fprintf(output.Stdout, `A Go program has compiled %[1]s to machine code
and waits in it. Its stack, as 'clew stack --thread %[2]d %[2]d' prints it:

`, program.Source(), program.PID)
	s, err := process.Snapshot(program.PID, &process.Options{Threads: []int{program.PID}})
	if err != nil {
		return output.InputError(err)
	}
	if _, err := printStacks(output.Stdout, output.Stdout.Palette(), &stack.Walked{Snapshot: s, Objects: newObjects(s)}, stackFlags{}); err != nil {
		return err
	}
	const word = "minotaur"
	fmt.Fprintf(output.Stdout, "\nClew walked it by the unwind tables that the program publishes for debuggers, here that of one word:\n\n")
	path, err := program.SymbolFile()
	if err != nil {
		return err
	}
	if err := printTable(path, &tableFlags{format: "text", functions: []string{word}}); err != nil {
		return err
	}
	if !wait {
		fmt.Fprint(output.Stdout, `Now try 'clew stack PID' with a process of yours, 'clew table FILE' with a program,
or 'clew demo --wait', which keeps this program running for gdb and perf.
`)
		return nil
	}
	if err := program.Wander(); err != nil {
		return err
	}
	fmt.Fprintf(output.Stdout, `The program runs on until you press Ctrl-C here. In another terminal:

  clew stack --thread %[1]d %[1]d
  gdb -p %[1]d -ex bt

  cd %[2]s
  perf record -k mono -g -p %[1]d -o perf.data -- sleep 2
  perf inject --jit -i perf.data -o jit.data
  perf script -i jit.data
`, program.PID, program.Folder)
	if !debug.HasSymbols() {
		fmt.Fprint(output.Stdout, `
This clew has no symbols ('go run' strips them), and gdb needs one of them to find the
generated words. For gdb: go build ./cmd/clew && ./clew demo --wait
`)
	}
	return nil
}
