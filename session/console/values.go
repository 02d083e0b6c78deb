// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/expression"
	"github.com/clewdev/clew/value/print"
	"github.com/clewdev/clew/value/stdtype"
)

// values adds the console's functions and types to the shared values.
type values struct {
	*frontend.Values
	console *Console
}

func (v *values) machine() *arch.Machine { return jit.Host() }

// past returns a value of the history.
func (v *values) past(n int, relative bool) (value.Value, error) {
	x, n := v.Past(n, relative)
	switch last := v.Recorded(); {
	case last == 0:
		return x, errors.New("the history is empty; \"print\" fills it")
	case n < 1 || n > last:
		return x, fmt.Errorf("history has not yet reached $%d", n)
	}
	return x, nil
}

// context returns the meaning of names in a frame, or outside of calls if f is nil.
func (v *values) context(f *frontend.Frame) (*expression.Context, value.Frame) {
	x := v.Context(f)
	if l, ok := v.console.language.(*cLanguage); ok {
		x.Call = l.evaluateCall
	}
	return x, v.Frame(f)
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

func (c *Console) compile(text string) (*expression.Expression, value.Frame, error) {
	x, f := c.values.context(c.current())
	e, err := expression.Compile(text, x)
	return e, f, err
}

// evaluate evaluates an expression in the selected frame.
func (c *Console) evaluate(text string) (value.Value, error) {
	x, f := c.values.context(c.current())
	return frontend.Evaluate(text, x, f)
}

func (c *Console) printer(format byte) *print.Printer {
	p := &print.Printer{Symbols: style.Demangled{Symbolizer: c.symbols}, Demangle: style.Demangle, UTF8: c.utf8, Format: format, Present: stdtype.Present}
	if format == raw {
		p.Format, p.Present = 0, nil
	}
	if format == 'a' {
		p.Symbols = c.symbols // with the names of symbols, as gdb shows addresses of code
	}
	return p
}

// arguments returns the arguments of a frame as backtraces show them.
func (v *values) arguments(f *frontend.Frame) (list []string) {
	if f.Scope == nil {
		return nil
	}
	p := v.console.printer(0)
	for _, a := range f.Scope.Arguments {
		list = append(list, p.Argument(a, f.Physical))
	}
	return list
}

// function returns a function by its name, or nil if no debugging information has it.
func (v *values) function(name string) *value.Function {
	if list := v.functions(name); len(list) > 0 {
		return list[0]
	}
	return nil
}

// functions returns all functions of a name.
func (v *values) functions(name string) (all []*value.Function) {
	for _, object := range v.Objects() {
		if list, err := object.Info().Functions(name); err == nil {
			all = append(all, list...)
		}
	}
	return all
}

// functionOf returns the function at an address, or nil.
func (v *values) functionOf(address uint64) *value.Function {
	if image := v.console.session.Image(address); image != nil {
		if info := image.Info(address); info != nil {
			if fn, err := info.FunctionAt(address); err == nil {
				return fn
			}
		}
	}
	return nil
}

// file returns the path of a source file by its last components, or "".
func (v *values) file(name string) string {
	for f := range frontend.Functions(v.console.session) {
		r := frontend.Row(v.console.session, f.Start)
		if r.File == name || strings.HasSuffix(r.File, string(filepath.Separator)+name) {
			return r.File
		}
	}
	return ""
}

// declaration returns the declaration of a function in C.
func (v *values) declaration(fn *value.Function) string {
	if fn.Type == nil {
		return fn.Name + "()"
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
	result := fn.Type.Elem().String()
	if !strings.HasSuffix(result, "*") {
		result += " "
	}
	return result + fn.Name + "(" + strings.Join(params, ", ") + ")"
}

// angle returns " <fib+4>" for an address, or "".
func (c *Console) angle(address uint64) string {
	name, offset, ok := c.symbols.Symbol(address)
	switch {
	case !ok:
		return ""
	case offset == 0:
		return " <" + name + ">"
	}
	return fmt.Sprintf(" <%s+%d>", name, offset)
}

// returned returns the value that a function has just returned to the frame that is
// stopped.
func (c *Console) returned(fn *value.Function) (value.Value, error) {
	if fn == nil || fn.Type == nil {
		return value.Value{}, nil
	}
	r, err := c.returning(fn.Type.Elem())
	if err != nil {
		return value.Value{}, err
	}
	return r.value(c, 0, nil)
}
