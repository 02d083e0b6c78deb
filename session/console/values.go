// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/expression"
	"github.com/clewdev/clew/value/print"
)

// past returns a value of the history for an expression.
func (c *Console) past(n int, relative bool) (value.Value, error) {
	x, n := c.values.Past(n, relative)
	switch last := c.values.Recorded(); {
	case last == 0:
		return x, errors.New("the history is empty; \"print\" fills it")
	case n < 1 || n > last:
		return x, fmt.Errorf("history has not yet reached $%d", n)
	}
	return x, nil
}

// current returns the selected frame, or nil if no call is stopped.
func (c *Console) current() *frontend.Frame {
	if c.session.State() != session.Stopped {
		return nil
	}
	f, err := c.selectedFrame()
	if err != nil {
		return nil
	}
	return f
}

// compile compiles an expression for the selected frame, and returns the frame for its
// evaluation.
func (c *Console) compile(text string) (*expression.Expression, value.Frame, error) {
	x := c.values.Context(c.current())
	x.Warn = func(text string) { c.printf("warning: %s\n", text) }
	if l, ok := c.language.(*cLanguage); ok {
		x.Call = l.evaluateCall
	}
	e, err := expression.Compile(text, x)
	return e, c.values.Frame(c.current()), err
}

func (c *Console) evaluate(text string) (value.Value, error) {
	e, f, err := c.compile(text)
	if err != nil {
		return value.Value{}, err
	}
	return e.Evaluate(f)
}

func (c *Console) printer(format byte) *print.Printer {
	p := c.symbols.Printer()
	p.UTF8, p.Format = c.utf8, format
	switch format {
	case raw:
		p.Format, p.Present = 0, nil
	case 'a':
		p.Symbols = c.symbols // not demangled, as in gdb
	}
	return &p
}

// arguments returns the arguments of a frame as in a backtrace.
func (c *Console) arguments(f *frontend.Frame) (list []string) {
	if f.Scope == nil {
		return nil
	}
	p := c.printer(0)
	for _, a := range f.Scope.Arguments {
		list = append(list, p.Argument(a, f.Physical))
	}
	return list
}

// functions returns the functions with a name in debugging information.
func (c *Console) functions(name string) (all []*value.Function) {
	for _, object := range c.values.Objects() {
		if list, err := object.Info().Functions(name); err == nil {
			all = append(all, list...)
		}
	}
	return all
}

// fileNamed returns the path of the source file with the given last components, or "".
func (c *Console) fileNamed(name string) string {
	for f := range frontend.Functions(c.session) {
		r := frontend.Row(c.session, f.Start)
		if r.File == name || strings.HasSuffix(r.File, string(filepath.Separator)+name) {
			return r.File
		}
	}
	return ""
}

func declarationOf(fn *value.Function) string {
	if fn.Type == nil {
		return fn.Name + "()"
	}
	result := fn.Type.Elem().String()
	if !strings.HasSuffix(result, "*") {
		result += " "
	}
	// The mangled name of a C++ function has its parameters, without this.
	if text := style.DemangleCode(fn.LinkageName); fn.Language == value.CPlusPlus && text != fn.LinkageName && strings.Contains(text, "(") {
		return result + text
	}
	var params []string
	for _, p := range fn.Type.Params() {
		params = append(params, p.String())
	}
	if fn.Type.Variadic() {
		params = append(params, "...")
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	return result + fn.Name + "(" + strings.Join(params, ", ") + ")"
}

// angle returns the symbol for an address as " <fib+4>", or "".
func (c *Console) angle(address uint64) string {
	name, offset, ok := c.symbols.Symbol(address)
	switch {
	case !ok:
		return ""
	case strings.HasPrefix(name, "_Z"):
		// As in gdb, a function has its source name here if the debugging information has no other.
		if i := c.session.Image(address); i != nil && i.Info(address) != nil {
			if fn, err := i.Info(address).FunctionAt(address); err == nil && fn.LinkageName == "" && fn.Language == value.CPlusPlus {
				name = style.DemangleCode(name)
			}
		}
	}
	if offset == 0 {
		return " <" + name + ">"
	}
	return fmt.Sprintf(" <%s+%d>", name, offset)
}
