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

	"github.com/clewdev/clew/internal/demo"
	"github.com/clewdev/clew/target/process"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "See clew at work on a small program of its own",
		Description: `Start a small program that waits deep in its functions, print its stack, and
the unwind table of one of its functions. It needs nothing but clew itself.

` + exitHelp,
		UsageText: "clew demo",
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return fmt.Errorf("it takes no arguments, got %s", c.Args().First())
			}
			return runDemo()
		},
	}
}

func runDemo() error {
	program, err := demo.Start()
	if err != nil {
		return inputError{err}
	}
	defer program.Close()
	// Neither Ctrl-C nor a pager that has seen enough leaves the program behind.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer signal.Stop(signals)
	shown := make(chan error, 1)
	go func() { shown <- showDemo(program) }()
	select {
	case err := <-shown:
		if errors.Is(err, syscall.EPIPE) {
			return status(128 + int(syscall.SIGPIPE))
		}
		return err
	case s := <-signals:
		return status(128 + int(s.(syscall.Signal)))
	}
}

func showDemo(program *demo.Program) error {
	fmt.Printf("A program waits in its labyrinth. The way back out, as 'clew stack %d' prints it:\n\n", program.PID)
	s, err := process.Snapshot(program.PID, nil)
	if err != nil {
		return inputError{err}
	}
	if _, err := printStacks(os.Stdout, s, stackFlags{}); err != nil {
		return err
	}
	const function = "right"
	fmt.Printf("\nClew found it by rules like these, of one of its functions ('clew table FILE --func %s'):\n\n", function)
	if err := table(program.Path, &tableFlags{format: "text", functions: []string{function}}); err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "Now try 'clew stack PID' on a process of yours, or 'clew table FILE' on a program.\n")
	return nil
}
