// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/expression"
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
	if v.Type().Strip().Kind() == value.Void {
		c.printf("$%d = %s\n", c.values.record(v), text)
		return nil
	}
	c.printf("$%d = %s\n", c.values.record(v), text)
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
		return nil // of gdb's scripts: there is nothing here that they would change
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
		c.frames, c.all, c.selected = nil, false, 0
	}
	// What frames show may depend on it.
	c.forget()
	return nil
}

func (c *Console) programCounter() uint64 {
	if r, err := c.session.Registers(); err == nil {
		return r.PC()
	}
	return 0
}

// forget makes frames be read anew.
func (c *Console) forget() { c.frames, c.all = nil, false }

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
	// Of the name of a typedef gdb shows what it stands for.
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

// typeText is a type in full: a structure with its fields, a typedef by what it
// stands for.
func typeText(t *value.Type) string {
	// What is named is behind pointers, arrays and qualifiers.
	inner := t
	for depth := 0; depth < 64; depth++ {
		switch inner.Kind() {
		case value.Const, value.Volatile, value.Restrict, value.Atomic, value.Pointer, value.Array, value.Func:
			inner = inner.Elem()
			continue
		}
		break
	}
	text := ""
	if inner.Kind() == value.Typedef {
		text = typeText(inner.Elem())
	} else {
		text = bodyText(inner)
	}
	if before, after, ok := strings.Cut(t.String(), inner.String()); ok && text != "" {
		return before + text + after
	}
	return t.String()
}

// bodyText is what a structure, union or enumeration is made of, "" for other types.
func bodyText(t *value.Type) string {
	var b strings.Builder
	switch t = t.Strip(); t.Kind() {
	case value.Struct, value.Union, value.Class:
		if t.Incomplete() {
			return t.String() + " {\n    <incomplete type>\n}"
		}
		b.WriteString(head(t) + "{\n")
		for _, f := range t.Fields() {
			field := declare(f.Type, f.Name)
			if f.Name == "" {
				field = strings.ReplaceAll(typeText(f.Type), "\n", "\n    ")
			}
			if f.BitSize > 0 {
				field += fmt.Sprintf(" : %d", f.BitSize)
			}
			fmt.Fprintf(&b, "    %s;\n", field)
		}
		if len(t.Fields()) == 0 {
			b.WriteString("    <no data fields>\n")
		}
		b.WriteString("}")
	case value.Enum:
		b.WriteString(head(t) + "{")
		next := int64(0)
		for i, e := range t.Enumerators() {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(e.Name)
			if e.Value != next {
				fmt.Fprintf(&b, " = %d", e.Value)
			}
			next = e.Value + 1
		}
		b.WriteString("}")
	}
	return b.String()
}

func head(t *value.Type) string {
	word := map[value.Kind]string{value.Struct: "struct ", value.Union: "union ", value.Class: "class ", value.Enum: "enum "}[t.Kind()]
	if t.Name() != "" {
		return word + t.Name() + " "
	}
	return word
}

// declare is the declaration of a name with a type: "int (*compare)(int)".
func declare(t *value.Type, name string) string {
	suffix := ""
	for t.Kind() == value.Array {
		if n, ok := t.Len(); ok {
			suffix += fmt.Sprintf("[%d]", n)
		} else {
			suffix += "[]"
		}
		t = t.Elem()
	}
	text := t.String()
	if i := strings.Index(text, "(*"); i >= 0 && strings.Contains(text[i:], ")(") {
		end := i + strings.Index(text[i:], ")")
		return text[:end] + name + suffix + text[end:]
	}
	if !strings.HasSuffix(text, "*") {
		text += " "
	}
	return text + name + suffix
}

// printLocals prints the local variables of a frame, each after a prefix, and
// reports whether there are any.
func (c *Console) printLocals(f *frame, prefix string) bool {
	any := false
	if f.scope != nil {
		p := c.printer(0)
		for _, block := range f.scope.Blocks {
			for _, v := range block.Variables {
				any = true
				c.printf("%s%s = %s\n", prefix, v.Name, p.Text(v.Read(f.physical)))
			}
		}
	}
	if l, ok := c.language.(LocalsLanguage); ok {
		for _, line := range l.Locals(f.physical) {
			any = true
			c.printf("%s%s\n", prefix, line)
		}
	}
	return any
}

// LocalsLanguage is a Language that knows variables which no debugging information
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
		if f.scope == nil {
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
	case f.scope == nil:
		c.printf("No symbol table info available.\n")
		return nil
	case len(f.scope.Arguments) == 0:
		c.printf("No arguments.\n")
		return nil
	}
	p := c.printer(0)
	for _, v := range f.scope.Arguments {
		c.printf("%s = %s\n", v.Name, p.Text(v.Read(f.physical)))
	}
	return nil
}

// truth compiles a condition for the frames at an address.
func (c *Console) truth(text string, address uint64) (*expression.Expression, error) {
	c.values.load()
	x := &expression.Context{
		Machine: c.values.machine(), Objects: c.values.statics, Convenience: c.values, History: c.values.past, Symbol: c.values.symbol,
		Address: address,
	}
	if image := c.session.Image(address); image != nil {
		x.Info = image.Info(address)
	}
	return expression.Compile(text, x)
}
