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

// formats are the format letters of print.
const formats = "xduotzcafs"

// raw is the format letter that shows values of the C++ and Rust libraries as their members.
const raw = 'r'

func (c *Console) print(args string) error {
	text, v, err := c.printed(args)
	if err != nil || v.Type() == nil {
		return err
	}
	c.printf("$%d = %s\n", c.values.Record(v), text)
	return nil
}

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
		return "", value.Value{}, errors.New("size letters and counts are for the command x; write an array as x@10")
	case f.letter != 0 && f.letter != raw && strings.IndexByte(formats, f.letter) < 0:
		return "", value.Value{}, fmt.Errorf("undefined format letter %q; expected one of %s", f.letter, strings.Join(strings.Split(formats, ""), " "))
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
	word, assignment, _ := strings.Cut(args, " ")
	switch word {
	case "var", "variable":
		args = strings.TrimSpace(assignment)
	case "confirm", "pagination", "height", "width", "print", "style":
		return nil // scripts for gdb have these; they do nothing here
	case "unwindonsignal", "unwind-on-signal":
		switch assignment = strings.TrimSpace(assignment); assignment {
		case "", "on", "1", "yes", "enable":
			c.unwind = true
		case "off", "0", "no", "disable":
			c.unwind = false
		default:
			return fmt.Errorf("\"on\" or \"off\" expected, got %q", assignment)
		}
		return nil
	case "args", "logging":
		return fmt.Errorf("the setting %q is not supported", word)
	}
	if args == "" {
		return errors.New("set what? \"set var x = 5\", \"set $rax = 5\"")
	}
	oldPC := c.programCounter()
	if _, err := c.evaluate(args); err != nil {
		return err
	}
	if c.programCounter() != oldPC {
		c.selected = 0
	}
	c.frames.Forget() // names and callers may have changed
	return nil
}

func (c *Console) programCounter() uint64 {
	if r, err := c.session.Registers(); err == nil {
		return r.PC()
	}
	return 0
}

// typed returns the type of an expression, and reports whether the expression is a type.
func (c *Console) typed(args string) (t *value.Type, isType bool, err error) {
	if args == "" {
		args = "$"
	}
	e, f, err := c.compile(args)
	if err != nil {
		return nil, false, err
	}
	if t, err = e.Type(); err == nil || e.IsType() {
		return t, e.IsType(), err
	}
	v, err := e.Evaluate(f)
	if err != nil {
		return nil, false, err
	}
	return v.Type(), false, nil
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
	if name, ok := libraryClass(t); ok {
		return fmt.Errorf("ptype does not print classes of the C++ library: %s (\"clew debug --gdb\" prints it in full; print/r shows the members of a value)", name)
	}
	c.printf("type = %s\n", typeText(t))
	return nil
}

// printLocals prints the local variables of a frame, each after a prefix, and reports
// whether there are any.
func (c *Console) printLocals(f *frontend.Frame, prefix string) bool {
	var lines []string
	if f.Scope != nil {
		p := c.printer(0)
		for _, block := range f.Scope.Blocks {
			for _, v := range block.Variables {
				lines = append(lines, v.Name+" = "+p.Text(v.Read(f.Physical)))
			}
		}
	}
	if l, ok := c.language.(LocalsLanguage); ok {
		lines = append(lines, l.Locals(f.Physical)...)
	}
	for _, line := range lines {
		c.printf("%s%s\n", prefix, line)
	}
	return len(lines) > 0
}

// LocalsLanguage is a Language that knows local variables without debugging information.
type LocalsLanguage interface {
	Language
	// Locals returns a line for each local variable of a frame: "x = 5".
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
