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

// ErrQuit is what Execute returns for the command quit.
var ErrQuit = errors.New("quit")

// ErrInterrupted is what ends a script, or a command that prints much, after a call
// of Interrupt.
var ErrInterrupted = errors.New("interrupted")

// Options says how a console is. The zero value, like nil, is good.
type Options struct {
	// Output is what commands print to; nil is nowhere.
	Output io.Writer

	// Palette colours what is printed.
	Palette style.Palette

	// UTF8 says that the output is read as UTF-8: see print.Printer.
	UTF8 bool

	// Directories are searched for source files that are not where debugging
	// information says, before the current directory.
	Directories []string

	// Language says how calls are written; nil is C's way.
	Language Language

	// Call is what run and start call until a call was made: "fib(10)".
	Call string
}

// Console interprets commands over one session, which nobody else controls
// meanwhile. Its methods are called from one goroutine, but for Interrupt.
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
	planned     *planned // behind the constructors

	stop     *session.Stop    // the last; nil before the first
	frames   *frontend.Frames // of the stop
	selected int
	shown    frameID // what the last stop showed

	breakpoints *frontend.Breakpoints[gdbBreakpoint]
	displays    []*display
	lastDisplay int
	values      *values
	symbols     *frontend.Symbols

	last      string   // the command that an empty line repeats
	again     string   // what the running command wants to be repeated as
	list      listing  // where list goes on
	examined  examined // and x
	block     *block   // commands that are being taken down
	scripts   int      // how many are in each other
	pending   []string // commands of a breakpoint that the stop has asked for
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

// Prompt returns what stands before the next command: "(clew) ", or ">" while
// the commands of a breakpoint are taken down.
func (c *Console) Prompt() string {
	if c.block != nil {
		return ">"
	}
	return "(clew) "
}

// Interrupt ends what Execute is doing: code that runs is stopped, and a command
// that is repeated or prints without end gives up. It may be called from any
// goroutine at any time.
func (c *Console) Interrupt() {
	c.interrupt.Store(true)
	_ = c.session.Interrupt() // where nothing runs, there is nothing to stop
}

// Execute executes one line. The empty line repeats the last command, where that
// makes sense. The error says what was wrong with the command; that code stopped
// or faulted is none. It is ErrQuit for quit, after which the caller closes the
// session.
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
	c.again, c.last = line, ""
	err = cmd.run(c, rest)
	if !cmd.once {
		c.last = c.again
	}
	return err
}

// executePending executes the commands of the breakpoints that were met, and
// those that they meet in turn.
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

// printf prints. Errors of the output are not the commands': who reads it has
// left, and the next command of them is quit. Names come from files that nobody
// vouches for: of the control characters only those that end lines, tabs and
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

// Prepare understands the text of a call as the command call does, for whoever
// then makes it by other means. Tell is told how it ended.
func (c *Console) Prepare(text string) (*Call, error) {
	call, err := c.language.Call(text)
	if err == nil && call.room != 0 && c.arm64() {
		return nil, fmt.Errorf("%s returns a value in memory, whose address only the console passes", call.Text)
	}
	return call, err
}

// Tell prints how a call that was prepared has stopped or ended.
func (c *Console) Tell(call *Call, stop *session.Stop) error {
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

// Abnormal reports whether the last call has ended otherwise than by its return,
// or stands at a fault now.
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
