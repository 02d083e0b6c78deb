// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

// formats are the letters of print/x.
const formats = "xduotzcafs"

// raw is the letter of print/r: values of the types of standard libraries are shown as the
// members that they are made of.
const raw = 'r'

// print is the command print.
func (c *Console) print(args string) error {
	text, v, err := c.printed(args)
	if err != nil || v.Type() == nil {
		return err
	}
	c.printf("$%d = %s\n", c.values.Record(v), text)
	return nil
}

// output is print without a number and an end of line.
func (c *Console) output(args string) error {
	text, _, err := c.printed(args)
	if err == nil {
		c.printf("%s", text)
	}
	return err
}

func (c *Console) printed(args string) (string, value.Value, error) {
	f, text, err := cutFormat(args)
	switch {
	case err != nil:
		return "", value.Value{}, err
	case f.size != 0 || f.count != 0:
		return "", value.Value{}, errors.New("size letters and counts are for the command x; an array is x@10")
	case f.letter != 0 && f.letter != raw && strings.IndexByte(formats, f.letter) < 0:
		return "", value.Value{}, fmt.Errorf("format letter %q is undefined; there are %s", f.letter, strings.Join(strings.Split(formats, ""), " "))
	case text == "":
		text = "$"
	}
	v, err := c.evaluate(text)
	if err != nil {
		if _, ok := c.language.(*cLanguage); !ok && c.isCall(text) && c.session.State() != session.Stopped {
			return "", value.Value{}, c.call(text)
		}
		return "", value.Value{}, err
	}
	s, err := c.printer(f.letter).Print(v)
	return s, v, err
}

// isCall reports whether a text is the call of a function.
func (c *Console) isCall(text string) bool {
	name, _, err := splitCall(text)
	if err != nil || !strings.Contains(text, "(") {
		return false
	}
	_, ok := c.session.Symbol(name)
	return ok
}

func (c *Console) set(args string) error {
	word, rest, _ := strings.Cut(args, " ")
	switch word {
	case "":
		return errors.New("set what? \"set var x = 5\", \"set $rax = 5\"")
	case "var", "variable":
		args = strings.TrimSpace(rest)
	case "confirm", "pagination", "height", "width", "print", "style":
		return nil // in scripts for gdb; they have no meaning here
	case "args", "logging":
		return fmt.Errorf("there is no setting %q here", word)
	}
	if args == "" {
		return errors.New("set what? \"set var x = 5\", \"set $rax = 5\"")
	}
	before := c.programCounter()
	if _, err := c.evaluate(args); err != nil {
		return err
	}
	if c.programCounter() != before {
		c.selected = 0
	}
	c.frames.Forget() // their names and callers may depend on it
	return nil
}

func (c *Console) programCounter() uint64 {
	if r, err := c.session.Registers(); err == nil {
		return r.PC()
	}
	return 0
}

// typed compiles an expression for its type.
func (c *Console) typed(args string) (*value.Type, bool, error) {
	if args == "" {
		args = "$"
	}
	e, f, err := c.compile(args)
	if err != nil {
		return nil, false, err
	}
	if e.IsType() {
		t, err := e.Type()
		return t, true, err
	}
	t, err := e.Type()
	if err != nil {
		var v value.Value
		if v, err = e.Evaluate(f); err == nil {
			t = v.Type()
		}
	}
	return t, false, err
}

func (c *Console) whatis(args string) error {
	t, isType, err := c.typed(args)
	if err != nil {
		return err
	}
	// gdb shows the target of a typedef that is given by name.
	if isType && t.Kind() == value.Typedef {
		t = t.Elem()
	}
	c.printf("type = %s\n", t)
	return nil
}

func (c *Console) ptype(args string) error {
	t, _, err := c.typed(args)
	if err != nil {
		return err
	}
	c.printf("type = %s\n", typeText(t))
	return nil
}

// printLocals prints the local variables of a frame, each after a prefix, and
// reports whether there are any.
func (c *Console) printLocals(f *frontend.Frame, prefix string) bool {
	any := false
	if f.Scope != nil {
		p := c.printer(0)
		for _, block := range f.Scope.Blocks {
			for _, v := range block.Variables {
				any = true
				c.printf("%s%s = %s\n", prefix, v.Name, p.Text(v.Read(f.Physical)))
			}
		}
	}
	if l, ok := c.language.(LocalsLanguage); ok {
		for _, line := range l.Locals(f.Physical) {
			any = true
			c.printf("%s%s\n", prefix, line)
		}
	}
	return any
}

// LocalsLanguage is a Language with local variables that no debugging information
// describes.
type LocalsLanguage interface {
	Language
	// Locals returns lines that info locals shows of a frame: "x = 5".
	Locals(f *session.Frame) []string
}

func (c *Console) infoLocals(string) error {
	f, err := c.selectedFrame()
	if err != nil {
		return err
	}
	if !c.printLocals(f, "") {
		if f.Scope == nil {
			c.printf("No symbol table info available.\n")
		} else {
			c.printf("No locals.\n")
		}
	}
	return nil
}

func (c *Console) infoArguments(string) error {
	f, err := c.selectedFrame()
	switch {
	case err != nil:
		return err
	case f.Scope == nil:
		c.printf("No symbol table info available.\n")
		return nil
	case len(f.Scope.Arguments) == 0:
		c.printf("No arguments.\n")
		return nil
	}
	p := c.printer(0)
	for _, v := range f.Scope.Arguments {
		c.printf("%s = %s\n", v.Name, p.Text(v.Read(f.Physical)))
	}
	return nil
}
