// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debug

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/console"
)

const description = `Call functions of object files, or words of a Forth program, under control: with
breakpoints, steps and watchpoints. A fault stops the code, not Clew.

The commands are those of gdb: break, call, continue, step, print and others; 'help'
lists them. --gdb and --lldb start the debugger that is installed instead, stopped at the
entry of the call; with --rsp or --dap one that is running, or an editor, connects.`

type options struct {
	call, batch, rsp, dap string
	directories           []string
	breakpoints           []string
	json, allowRemote     bool
	gdb, lldb             bool
}

// Command returns the verb debug.
func Command() *cli.Command {
	var flags options
	return &cli.Command{
		Name:        "debug",
		Usage:       "Call functions of object files under control",
		Description: description,
		Metadata:    manual.SeeAlso("sessions", "json", "exit-codes"),
		UsageText: `clew debug FILE.o... [flags]
  clew debug FILE.fth [flags]

Examples:
  clew debug fib.o                                  a prompt like gdb's
  clew debug fib.o --call 'fib(10)' </dev/null      call it and print the result
  clew debug fib.o --batch commands                 run a file of commands
  clew debug prog.fth --call '10 fib'               a word of a Forth program
  clew debug fib.o --call 'fib(10)' --gdb           a prompt of gdb, in fib`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "call", Destination: &flags.call, Usage: "the call that run and start make: `'fib(10)'`, with numbers, strings and addresses of variables"},
			&cli.StringFlag{Name: "batch", Destination: &flags.batch, Usage: "execute the commands in `SCRIPT` (- is standard input) up to the first that fails"},
			&cli.BoolFlag{Name: "gdb", Destination: &flags.gdb, Usage: "start gdb at the entry of the call, with symbols, sources and the breakpoints of --break"},
			&cli.BoolFlag{Name: "lldb", Destination: &flags.lldb, Usage: "start lldb in the same way"},
			&cli.StringSliceFlag{Name: "break", Destination: &flags.breakpoints, Usage: "set a breakpoint first: `LOCATION` is 'fib', 'fib.c:6' or 'fib if n == 3'"},
			&cli.StringFlag{Name: "rsp", Destination: &flags.rsp, Usage: "serve the GDB remote protocol at `ADDR`: unix:PATH, or :1234 on this machine"},
			&cli.StringFlag{Name: "dap", Destination: &flags.dap, Usage: "serve the Debug Adapter Protocol at `ADDR`"},
			&cli.BoolFlag{Name: "allow-remote", Destination: &flags.allowRemote, Usage: "with --rsp and --dap: accept an ADDR of any interface; its clients are not checked"},
			&cli.BoolFlag{Name: "json", Destination: &flags.json, Usage: "with --call only: call it, and print the result or fault as one JSON object"},
			&cli.StringSliceFlag{Name: "directory", Destination: &flags.directories, Usage: "look for source files in `DIR` too"},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			files := c.Args().Slice()
			if len(files) == 0 {
				return errors.New("name an object file (gcc -g -c fib.c makes fib.o) or a Forth program (.fth)")
			}
			modes := 0
			for _, given := range []bool{flags.batch != "", flags.rsp != "", flags.dap != "", flags.gdb, flags.lldb} {
				if given {
					modes++
				}
			}
			switch {
			case modes > 1:
				return errors.New("--batch, --gdb, --lldb, --rsp and --dap: choose one")
			case flags.json && (modes > 0 || flags.call == "" || len(flags.breakpoints) > 0):
				return errors.New("--json prints the result of one call: name it with --call, without --batch, --break, --gdb, --lldb, --rsp and --dap")
			case len(flags.breakpoints) > 0 && (flags.rsp != "" || flags.dap != ""):
				return errors.New("--break is for the prompt, --batch, --gdb and --lldb; clients of --rsp and --dap set their own breakpoints")
			case slices.ContainsFunc(flags.breakpoints, func(b string) bool { return strings.ContainsAny(b, "\r\n") }):
				return errors.New("--break takes one location, and it contains a newline")
			case flags.allowRemote && flags.rsp == "" && flags.dap == "":
				return errors.New("--allow-remote is for --rsp and --dap")
			}
			return run(files, &flags)
		},
	}
}

func run(files []string, flags *options) error {
	if flags.dap != "" {
		return serveDAP(files, flags)
	}
	codeOutput := output.Stdout.Raw()
	if flags.json {
		codeOutput = output.Stderr.Raw() // standard output is for the JSON
	}
	p, err := load(files, codeOutput)
	if err != nil {
		return err
	}
	defer p.close()
	s, err := session.New(&session.Options{Images: p.images})
	if err != nil {
		return output.InputError(err)
	}
	defer s.Close()
	switch {
	case flags.rsp != "":
		return serveRSP(s, p, flags)
	case flags.gdb || flags.lldb:
		return underDebugger(s, p, flags)
	}
	consoleOptions := &console.Options{
		Output: output.Stdout, Palette: output.Stdout.Palette(), UTF8: flags.json || output.UTF8(), Directories: flags.directories, Language: p.language, Call: flags.call,
	}
	if flags.json {
		consoleOptions.Output, consoleOptions.Palette = io.Discard, style.Palette{}
	}
	d := &debugger{Console: console.New(s, consoleOptions)}
	defer d.catchSignals()()
	for _, b := range flags.breakpoints {
		if err := d.Execute("break " + b); err != nil {
			return output.InputError(err)
		}
	}
	switch {
	case flags.json:
		return d.writeJSON(flags.call)
	case flags.batch != "":
		return d.batch(flags.batch)
	case term.IsTerminal(int(os.Stdin.Fd())):
		return d.interact(p, flags)
	}
	return d.pipe(flags.call != "")
}

// debugger is a console at a terminal or a pipe.
type debugger struct {
	*console.Console
	editor      atomic.Pointer[editor] // nil unless a line is read
	interrupted atomic.Bool            // by Ctrl-C
}

// catchSignals makes Ctrl-C stop the code. Other signals restore the terminal and end clew.
func (d *debugger) catchSignals() (stop func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				if s == syscall.SIGINT {
					d.interrupted.Store(true)
					d.Interrupt()
					continue
				}
				if e := d.editor.Load(); e != nil {
					e.restore()
				}
				os.Exit(128 + int(s.(syscall.Signal))) // the worker ends with this process
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// batch executes a script up to the first command that fails.
func (d *debugger) batch(path string) error {
	in := os.Stdin
	if path != "-" {
		f, err := untrusted.OpenInput(path)
		if err != nil {
			return output.InputError(err)
		}
		defer f.Close()
		in = f
	}
	var failed *console.ScriptError
	err := d.Run(path, in)
	switch {
	case errors.Is(err, console.ErrInterrupted):
	case errors.As(err, &failed):
		return output.Partial(failed)
	case err != nil && !errors.Is(err, console.ErrQuit):
		return output.InputError(err)
	}
	return d.outcome(false)
}

// outcome returns the error for the exit code at the end of the commands.
func (d *debugger) outcome(failed bool) error {
	if d.interrupted.Load() {
		return output.Status(128 + int(syscall.SIGINT))
	}
	if failed || d.Abnormal() {
		return output.Status(output.ExitNo)
	}
	return nil
}

// pipe executes the commands from standard input. Without commands it makes the call of --call.
func (d *debugger) pipe(call bool) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<16)
	commands, failed := 0, false
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		commands++
		err := d.Execute(line)
		if errors.Is(err, console.ErrQuit) {
			return d.outcome(failed)
		}
		if err != nil {
			failed = true
			d.complain(err)
		}
		if d.interrupted.Load() {
			return d.outcome(failed)
		}
	}
	if err := lines.Err(); err != nil {
		return output.InputErrorf("standard input: %w", err)
	}
	if commands > 0 || !call {
		return d.outcome(failed)
	}
	if err := d.Execute("run"); err != nil {
		if d.Session().State() == session.Idle {
			return output.InputError(err) // the call did not begin
		}
		return output.Partial(err)
	}
	if d.Session().State() == session.Stopped {
		if err := d.Report(); err != nil {
			return output.Partialf("%w", err)
		}
		return output.Status(output.ExitNo)
	}
	return d.outcome(false)
}

func (d *debugger) complain(err error) {
	ink := output.Stderr.Palette().Error
	for _, line := range printable.Lines(err) {
		fmt.Fprintln(output.Stderr, ink.Text(line))
	}
}

func (d *debugger) interact(p *program, flags *options) error {
	fmt.Fprintln(output.Stdout, p.welcome(flags.call))
	e := newEditor(d.Console)
	for {
		d.editor.Store(e)
		line, err := e.readLine(d.Prompt())
		d.editor.Store(nil)
		switch {
		case errors.Is(err, io.EOF):
			fmt.Fprintln(output.Stdout, "quit")
			d.interrupted.Store(false) // an earlier Ctrl-C does not count
			return d.outcome(false)
		case err != nil:
			return output.InputError(err)
		}
		if err := d.Execute(line); errors.Is(err, console.ErrQuit) {
			d.interrupted.Store(false)
			return d.outcome(false)
		} else if err != nil {
			d.complain(err)
		}
	}
}
