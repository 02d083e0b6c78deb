// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
)

// ErrQuit is the error that Execute returns for the command quit.
var ErrQuit = errors.New("quit")

// ErrInterrupted is the error of a script, or of a command that prints much, that
// Interrupt has ended.
var ErrInterrupted = errors.New("interrupted")

// Options are the options of a console. nil stands for the zero value.
type Options struct {
	// Output is where commands print to. If it is nil, they print nothing.
	Output io.Writer

	// Palette has the colours of the output.
	Palette style.Palette

	// UTF8 reports that the output is UTF-8: see print.Printer.
	UTF8 bool

	// Directories are searched, before the current directory, for source files that are
	// not at the paths of the debugging information.
	Directories []string

	// Language is that of calls; nil is C.
	Language Language

	// Call is the call that run and start make before the first call: "fib(10)".
	Call string
}

// Console interprets commands over one session, which it controls alone. Its methods,
// except Interrupt, must be called from one goroutine.
type Console struct {
	session  *session.Session
	out      io.Writer
	palette  style.Palette
	utf8     bool
	language Language
	source   *sourceFiles

	callText string // of run
	running  *Call  // while it was not left

	constructed []*session.Image // whose constructors were called, or are in toConstruct
	toConstruct []uint64
	planned     *planned // after the constructors

	stop     *session.Stop    // the last; nil before the first
	frames   *frontend.Frames // of the stop
	selected int
	shown    frameID // the frame of the last stop

	breakpoints *frontend.Breakpoints[gdbBreakpoint]
	displays    []*display
	lastDisplay int
	values      *values
	symbols     *frontend.Symbols

	last      string   // the command that an empty line repeats
	repeatAs  string   // the command that an empty line repeats after the running one
	list      listing  // where list continues
	examined  examined // and x
	block     *block   // commands that are being read
	scripts   int      // how many run inside each other
	pending   []string // commands of breakpoints that were met
	interrupt atomic.Bool
}

// New makes a console for a session.
func New(s *session.Session, o *Options) *Console {
	if o == nil {
		o = new(Options)
	}
	c := &Console{
		session: s, out: o.Output, palette: o.Palette, utf8: o.UTF8, language: o.Language, callText: o.Call,
		source: newSourceFiles(o.Directories), frames: frontend.NewFrames(s), symbols: frontend.NewSymbols(s),
	}
	if c.out == nil {
		c.out = io.Discard
	}
	c.values = &values{frontend.NewValues(s, c.frames), c}
	c.values.History = c.values.past
	c.breakpoints = frontend.NewBreakpoints[gdbBreakpoint](c.values.Values, conditions)
	if c.language == nil {
		c.language = &cLanguage{console: c}
	}
	return c
}

// Session returns the session.
func (c *Console) Session() *session.Session { return c.session }

// Prompt returns the prompt for the next line: "(clew) ", or ">" while the commands of
// a breakpoint are read.
func (c *Console) Prompt() string {
	if c.block != nil {
		return ">"
	}
	return "(clew) "
}

// Interrupt interrupts Execute: running code stops, and a command that is repeated or
// prints much ends. It may be called from any goroutine at any time.
func (c *Console) Interrupt() {
	c.interrupt.Store(true)
	_ = c.session.Interrupt() // without running code there is nothing to stop
}

// Execute executes one line. The empty line repeats the last command, if that makes
// sense. The error is about the command; a fault of the code is not an error. It is
// ErrQuit for quit, after which the caller closes the session.
func (c *Console) Execute(line string) error {
	c.interrupt.Store(false)
	if c.block != nil {
		return c.take(line)
	}
	line = strings.TrimSpace(line)
	if line == "" {
		line = c.last
	}
	if line == "" {
		return nil
	}
	if err := c.execute(line); err != nil {
		return err
	}
	return c.executePending()
}

func (c *Console) execute(line string) error {
	name, rest := splitCommand(line)
	if name == "" {
		if line[0] == '#' {
			return nil
		}
		return fmt.Errorf("undefined command: %q; try \"help\"", firstWord(line))
	}
	cmd, err := find(commands(), name, "")
	if err != nil {
		return err
	}
	c.repeatAs, c.last = line, ""
	err = cmd.run(c, rest)
	if !cmd.once {
		c.last = c.repeatAs
	}
	return err
}

// executePending executes the commands of the breakpoints that were met, and of those
// that these commands meet.
func (c *Console) executePending() error {
	for n := 0; len(c.pending) > 0; n++ {
		line := c.pending[0]
		c.pending = c.pending[1:]
		if n == maxScript {
			c.pending = nil
			return fmt.Errorf("more than %d commands of breakpoints one after the other", maxScript)
		}
		if err := c.execute(line); err != nil {
			c.pending = nil
			return err
		}
		if c.interrupt.Load() {
			c.pending = nil
		}
	}
	return nil
}

// printf prints. It ignores errors of the output: its reader has gone. Names come from
// files that are not trusted, so of the control characters only ends of lines, tabs and
// colours reach a terminal.
func (c *Console) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.ContainsFunc(text, isControl) {
		text = controls().ReplaceAllStringFunc(text, func(s string) string {
			if len(s) > 1 && s[0] == '\x1b' {
				return s // a colour
			}
			return fmt.Sprintf("\\%03o", []rune(s)[0])
		})
	}
	_, _ = io.WriteString(c.out, text)
}

func isControl(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }

// controls matches colours as a whole, and other control characters.
var controls = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f-\x{9f}]`)
})

// Prepare parses the text of a call as the command call does, for a caller that makes
// the call by other means and passes its stop to ShowStop.
func (c *Console) Prepare(text string) (*Call, error) {
	call, err := c.language.Call(text)
	if err == nil && call.resultAddress != 0 && c.arm64() {
		return nil, fmt.Errorf("%s returns a value in memory, whose address only the console passes", call.Text)
	}
	return call, err
}

// ShowStop prints how a prepared call has stopped or ended.
func (c *Console) ShowStop(call *Call, stop *session.Stop) error {
	c.running = call
	return c.stopped(stop, "")
}

func firstWord(s string) string {
	if f := strings.Fields(s); len(f) > 0 {
		return f[0]
	}
	return s
}

// Stop returns how the last call stopped or ended, nil before.
func (c *Console) Stop() *session.Stop { return c.stop }

// Abnormal reports whether the last call has ended other than by returning, or is
// stopped at a fault.
func (c *Console) Abnormal() bool {
	if c.stop == nil {
		return false
	}
	switch c.stop.Reason {
	case session.Trapped, session.Signalled, session.HostFailed:
		return true
	case session.ExitedProcess:
		return c.stop.ExitCode != 0
	}
	return false
}
