// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/clewdev/clew/internal/untrusted"
)

const (
	maxScript = 1000     // commands of breakpoints without a prompt
	maxLine   = 64 << 10 // bytes of a line of a script
	maxDepth  = 20       // nested scripts
)

// ScriptError is the error of a command in a script.
type ScriptError struct {
	File string
	Line int // from 1
	Err  error
}

func (e *ScriptError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

func (e *ScriptError) Unwrap() error { return e.Err }

// Run executes the lines of a script up to the first that fails. Its error is a *ScriptError
// with the name of the script, or ErrQuit for the command quit.
func (c *Console) Run(name string, r io.Reader) error {
	c.scripts++
	defer func() { c.scripts-- }()
	if c.scripts > maxDepth {
		return fmt.Errorf("more than %d nested scripts", maxDepth)
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if c.block == nil && line == "" {
			continue
		}
		err := c.Execute(line)
		if errors.Is(err, ErrQuit) {
			return err
		}
		if err == nil && c.interrupt.Load() {
			err = ErrInterrupted
		}
		if err != nil {
			return &ScriptError{name, n, err}
		}
	}
	if err := lines.Err(); err != nil {
		return &ScriptError{name, n + 1, err}
	}
	if c.block != nil {
		c.block = nil
		return &ScriptError{name, n + 1, errors.New("\"commands\" without \"end\"")}
	}
	return nil
}

func (c *Console) sourceCommand(args string) error {
	if args == "" {
		return errors.New("source needs the name of a file")
	}
	f, err := untrusted.OpenInput(args)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.Run(args, f)
}

// block has the commands of a breakpoint while they are read.
type block struct {
	breakpoint *breakpoint
	lines      []string
}

// take adds a line to the block, or ends it.
func (c *Console) take(line string) error {
	line = strings.TrimSpace(line)
	if line == "end" {
		c.block.breakpoint.Own.commands = c.block.lines
		c.block = nil
		return nil
	}
	if line != "" {
		if len(c.block.lines) == maxScript {
			c.block = nil
			return fmt.Errorf("more than %d commands", maxScript)
		}
		c.block.lines = append(c.block.lines, line)
	}
	return nil
}

func (c *Console) echo(args string) error {
	text, ok := unescape(args)
	if !ok {
		return errors.New("the text ends inside an escape sequence")
	}
	_, err := io.WriteString(c.out, text)
	return err
}

// unquote returns the contents of a C string literal.
func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || quotedLength(s) != len(s) {
		return "", false
	}
	return unescape(s[1 : len(s)-1])
}

// unescape resolves the escape sequences of C (C11 §6.4.4.4).
func unescape(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i >= len(s) {
			return "", false
		}
		if at := strings.IndexByte("abfnrtv", s[i]); at >= 0 {
			b.WriteByte("\a\b\f\n\r\t\v"[at])
			continue
		}
		digits, base, maxDigits := 0, 8, 3
		if s[i] == 'x' {
			i, base, maxDigits = i+1, 16, 2
		}
		n := 0
		for digits < maxDigits && i < len(s) {
			d := strings.IndexByte("0123456789abcdef", s[i]|0x20*(s[i]&0x40>>6))
			if d < 0 || d >= base {
				break
			}
			n, digits, i = n*base+d, digits+1, i+1
		}
		switch {
		case digits > 0:
			b.WriteByte(byte(n))
			i--
		case base == 16:
			return "", false
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}
