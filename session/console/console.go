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

var (
	// ErrQuit is the error of Execute for the command quit.
	ErrQuit = errors.New("quit")
	// ErrInterrupted is the error of a script or of a long output that Interrupt has ended.
	ErrInterrupted = errors.New("interrupted")
)

// Options are the options of a console. nil stands for the zero value.
type Options struct {
	// Output gets the output of commands. If it is nil, they print nothing.
	Output io.Writer

	// Palette has the colours of the output.
	Palette style.Palette

	// UTF8 prints text as UTF-8: see print.Printer.
	UTF8 bool

	// Directories are searched, before the current directory, for source files that are
	// not at their path in debugging information.
	Directories []string

	// Language is the language of calls. nil means C.
	Language Language

	// Call is the call that run and start make before any other call: "fib(10)".
	Call string
}

// Console interprets commands for a session, which nothing else may control. Only one
// goroutine may call its methods, except Interrupt.
type Console struct {
	session  *session.Session
	out      io.Writer
	palette  style.Palette
	utf8     bool
	language Language
	source   *sourceFiles

	callText string        // the call of run
	running  *Call         // until it has ended
	outer    []*Call       // the calls around it, outermost first, while it is nested
	ended    *session.Stop // the end of the last nested call
	unwind   bool          // abort a nested call that stops at a fault

	constructed []*session.Image // images with called constructors, or with constructors in toConstruct
	toConstruct []uint64
	planned     *planned // the call after the constructors

	stop     *session.Stop    // the last; nil before the first
	frames   *frontend.Frames // of the stop
	selected int              // level of the selected frame
	shown    frameID          // the frame of the last stop

	breakpoints *frontend.Breakpoints[gdbBreakpoint]
	displays    []*display
	lastDisplay int
	values      *frontend.Values
	symbols     *frontend.Symbols
	calls       *frontend.Calls

	last      string   // the command that an empty line repeats
	repeatAs  string   // last after the current command
	list      listing  // position of list
	listSize  int      // lines of one list, 0 for all
	examined  examined // position of x
	block     *block   // commands of a breakpoint, while they are read
	scripts   int      // nesting of scripts
	pending   []string // queued commands of breakpoints
	interrupt atomic.Bool
}

// New returns a console for a session. The caller closes the session.
func New(s *session.Session, o *Options) *Console {
	if o == nil {
		o = new(Options)
	}
	c := &Console{
		session: s, out: o.Output, palette: o.Palette, utf8: o.UTF8, language: o.Language, callText: o.Call,
		listSize: 10, source: newSourceFiles(o.Directories), frames: frontend.NewFrames(s), symbols: frontend.NewSymbols(s),
	}
	if c.out == nil {
		c.out = io.Discard
	}
	c.values = frontend.NewValues(s, c.frames)
	c.values.History = c.past
	c.calls = frontend.NewCalls(c.values, c.symbols)
	c.breakpoints = frontend.NewBreakpoints[gdbBreakpoint](c.values, conditions)
	if c.language == nil {
		c.language = &cLanguage{console: c}
	}
	return c
}

// Session returns the session.
func (c *Console) Session() *session.Session { return c.session }

// Prompt returns the prompt for the next line: "(clew) ", or ">" in the commands of a
// breakpoint.
func (c *Console) Prompt() string {
	if c.block != nil {
		return ">"
	}
	return "(clew) "
}

// Interrupt interrupts Execute: it stops running code, repeated steps and long output. Any
// goroutine may call it at any time.
func (c *Console) Interrupt() {
	c.interrupt.Store(true)
	_ = c.session.Interrupt() // fails if no code runs
}

// Execute executes one line. An empty line repeats the last command, unless the command
// cannot be repeated. Execute returns the error of the command. A fault of the code is not
// an error. For the command quit the error is [ErrQuit].
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
	name, args := splitCommand(line)
	if name == "" {
		if line[0] == '#' {
			return nil
		}
		return fmt.Errorf("undefined command: %q; try \"help\"%s", strings.Fields(line)[0], inGDB)
	}
	cmd, err := find(commands(), name, "")
	if err != nil {
		return err
	}
	c.repeatAs, c.last = line, ""
	err = cmd.run(c, args)
	if !cmd.once {
		c.last = c.repeatAs
	}
	return err
}

// executePending executes the queued commands of breakpoints, including those that these
// commands queue.
func (c *Console) executePending() error {
	defer func() { c.pending = nil }()
	for n := 0; len(c.pending) > 0; n++ {
		if n == maxScript {
			return fmt.Errorf("the breakpoints have executed more than %d commands without a prompt", maxScript)
		}
		line := c.pending[0]
		c.pending = c.pending[1:]
		if err := c.execute(line); err != nil || c.interrupt.Load() {
			return err
		}
	}
	return nil
}

// printf prints. It ignores errors of the output, because then nobody reads it. Names come
// from untrusted files, so it escapes control characters other than newlines, tabs and
// colours.
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

// controls matches sequences for colours, and single control characters.
var controls = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f-\x{9f}]`)
})

// Prepare parses the text of a call as the command call does. The caller makes the call
// itself, and can pass its stop to ShowStop.
func (c *Console) Prepare(text string) (*Call, error) {
	call, err := c.language.Call(text)
	if err == nil && call.result != nil && call.result.InRegister() {
		return nil, fmt.Errorf("%s returns a value in memory, whose address only the console passes", call.Text)
	}
	return call, err
}

// ShowStop prints the stop or the end of a prepared call.
func (c *Console) ShowStop(call *Call, stop *session.Stop) error {
	c.running = call
	return c.stopped(stop)
}

// Stop returns the last stop or end of a call, nil before the first.
func (c *Console) Stop() *session.Stop { return c.stop }

// Abnormal reports whether the last call is stopped at a fault, or has ended the process
// with an exit code other than 0.
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
