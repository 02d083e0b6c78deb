// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/expression"
	"github.com/clewdev/clew/value/stdtype"
)

// values is what the console knows of variables, types and values.
type values struct {
	console     *Console
	images      int // that infos and statics are of
	infos       []*value.Info
	statics     []value.Frame
	data        []object.Symbol // of variables, by address
	history     []value.Value   // $1 is the first
	convenience map[string]value.Value
}

func newValues(c *Console) *values {
	return &values{console: c, convenience: make(map[string]value.Value)}
}

func (v *values) machine() *arch.Machine { return jit.Host() }

// load opens the debugging information of all images.
func (v *values) load() {
	images := v.console.session.Images()
	if len(images) == v.images {
		return
	}
	v.images, v.infos, v.statics, v.data = len(images), nil, nil, nil
	for _, image := range images {
		for _, f := range image.Files() {
			for s := range f.Symbols() {
				// Linkers leave out what assemblers call .L, as clang does strings.
				if s.Type == elf.STT_OBJECT && s.Size > 0 && !strings.HasPrefix(s.Name, ".L") {
					v.data = append(v.data, s)
				}
			}
		}
		for _, f := range image.Functions() {
			info := image.Info(f.Start)
			if info == nil || slices.Contains(v.infos, info) {
				continue
			}
			v.infos = append(v.infos, info)
			v.statics = append(v.statics, &idle{value.Static(v.console.session, info, 0), v.console})
		}
	}
	slices.SortFunc(v.data, func(a, b object.Symbol) int { return cmp.Compare(a.Address, b.Address) })
}

// nowhere is the frame of expressions while nothing is stopped.
func (v *values) nowhere() value.Frame {
	v.load()
	if len(v.statics) > 0 {
		return v.statics[0]
	}
	return &idle{value.Static(v.console.session, nil, 0), v.console}
}

// idle is where variables that have addresses are, also while nothing is stopped.
type idle struct {
	value.Frame
	console *Console
}

func (i *idle) WriteMemory(p []byte, address uint64) error {
	return i.console.session.WriteMemory(p, address)
}

func (i *idle) SetRegisterBytes(uint64, []byte) error {
	return errors.New("there are registers only while a call is stopped")
}

// ThreadAddress knows the thread of the call that is stopped.
func (i *idle) ThreadAddress(offset uint64) (uint64, error) {
	if i.console.session.State() == session.Stopped {
		for level := 0; ; level++ {
			f, err := i.console.frame(level)
			if err != nil {
				break
			}
			if at, err := f.Physical.ThreadAddress(offset); err == nil {
				return at, nil
			}
		}
	}
	return 0, errors.New("a thread-local variable is there only while a call is stopped: \"start\" one, or set a breakpoint")
}

// Get and Set are the convenience variables.
func (v *values) Get(name string) (value.Value, bool) {
	x, ok := v.convenience[name]
	return x, ok
}

func (v *values) Set(name string, x value.Value) error {
	x, err := v.fixed(x)
	if err == nil {
		v.convenience[name] = x
	}
	return err
}

// fixed is a value as it is now, without the frame that it was read in.
func (v *values) fixed(x value.Value) (value.Value, error) {
	if address, ok := x.Address(); ok && x.Type().Size() > value.MaxSize {
		return value.At(x.Type(), address, v.nowhere()), nil
	}
	b, err := x.Bytes()
	if err != nil {
		return value.Value{}, err
	}
	return value.Constant(x.Type(), b, v.nowhere()), nil
}

// record adds a value to the history, and returns its number.
func (v *values) record(x value.Value) int {
	if f, err := v.fixed(x); err == nil {
		x = f
	}
	v.history = append(v.history, x)
	return len(v.history)
}

func (v *values) past(n int, relative bool) (value.Value, error) {
	last := len(v.history)
	if relative {
		n = last - n
	}
	if n < 1 || n > last {
		if last == 0 {
			return value.Value{}, errors.New("the history is empty; \"print\" fills it")
		}
		return value.Value{}, fmt.Errorf("history has not yet reached $%d", n)
	}
	return v.history[n-1], nil
}

// context is what names mean in a frame, or where f is nil without one.
func (v *values) context(f *frontend.Frame) (*expression.Context, value.Frame) {
	v.load()
	x := &expression.Context{
		Machine: v.machine(), Objects: v.statics, Convenience: v, History: v.past, Symbol: v.symbol,
	}
	if l, ok := v.console.language.(*cLanguage); ok {
		x.Call = l.evaluateCall
	}
	if f == nil {
		return x, v.nowhere()
	}
	x.Info, x.Address, x.Inlined = f.Physical.Info(), f.Address(), f.Passed
	return x, f.Physical
}

func (v *values) symbol(name string) (address uint64, code, ok bool) {
	if address, ok = v.console.session.Symbol(name); !ok {
		if address, ok = (&cLanguage{console: v.console}).static(name); !ok {
			return 0, false, false
		}
	}
	image := v.console.session.Image(address)
	return address, image != nil && image.Contains(address), true
}

// current is the selected frame, nil where nothing is stopped.
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
	e, f, err := c.compile(text)
	if err != nil {
		return value.Value{}, err
	}
	return e.Evaluate(f)
}

func (c *Console) printer(format byte) *value.Printer {
	p := &value.Printer{Symbols: report.Demangled{Symbolizer: c.symbols()}, Demangle: report.Demangle, UTF8: c.utf8, Format: format, Present: stdtype.Present}
	if format == raw {
		p.Format, p.Present = 0, nil
	}
	if format == 'a' {
		p.Symbols = c.symbols() // with the names of linkers, as gdb has addresses of code
	}
	return p
}

// arguments are a frame's, as backtraces show them.
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

// function finds a function by its name, nil where no debugging information has it.
func (v *values) function(name string) *value.Function {
	if list := v.functions(name); len(list) > 0 {
		return list[0]
	}
	return nil
}

// functions are all functions of a name.
func (v *values) functions(name string) (all []*value.Function) {
	v.load()
	for _, info := range v.infos {
		if list, err := info.Functions(name); err == nil {
			all = append(all, list...)
		}
	}
	return all
}

// functionOf finds the function at an address.
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

func (v *values) functionAt(f *frontend.Frame) *value.Function {
	if f.Scope == nil {
		return nil
	}
	return f.Scope.Function
}

// file finds the path of a source file by its end.
func (v *values) file(name string) string {
	for _, image := range v.console.session.Images() {
		for _, f := range image.Functions() {
			r := v.console.lineRange(image, f.Start)
			if r.File == name || strings.HasSuffix(r.File, string(filepath.Separator)+name) {
				return r.File
			}
		}
	}
	return ""
}

// declaration is a function as C declares it.
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

// symbols names addresses.
func (c *Console) symbols() value.Symbolizer { return symbolizer{c.session, c.values} }

type symbolizer struct {
	session *session.Session
	values  *values
}

func (s symbolizer) Symbol(address uint64) (string, uint64, bool) {
	if image := s.session.Image(address); image != nil {
		if f, ok := image.Function(address); ok {
			return f.Name, address - f.Start, true
		}
	}
	s.values.load()
	data := s.values.data
	i := sort.Search(len(data), func(i int) bool { return data[i].Address > address })
	if i--; i >= 0 && address-data[i].Address < data[i].Size {
		return data[i].Name, address - data[i].Address, true
	}
	return "", 0, false
}

// angle is " <fib+4>", or nothing.
func (c *Console) angle(address uint64) string {
	name, offset, ok := c.symbols().Symbol(address)
	switch {
	case !ok:
		return ""
	case offset == 0:
		return " <" + name + ">"
	}
	return fmt.Sprintf(" <%s+%d>", name, offset)
}

// returned is what a function has just returned to a frame that is stopped now.
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
