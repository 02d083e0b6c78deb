// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

// Language defines how calls are written and how their results are shown.
type Language interface {
	// Call parses the text of a call, and prepares it. The user sees its error.
	Call(text string) (*Call, error)

	// Functions returns the names of the functions that can be called, for hints and
	// completion.
	Functions() []string
}

// Call is a prepared call.
type Call struct {
	Text      string // as results name it: "fib(10)"
	Function  uint64 // address
	Begin     uint64 // where start stops: after the prologue; 0 is at Function
	Arguments session.Arguments

	// Main are the arguments of a C main. If it is not nil, Arguments is ignored.
	Main []string

	// Result returns the text of the function's result, "" for none. It is called
	// when the call has ended with Returned.
	Result func(*session.Stop) (string, error)
	value  func(*session.Stop) (value.Value, error) // the result in an expression

	// Stopped is called at every stop, also the last, before anything is printed. It
	// may be nil.
	Stopped func() error

	constructor   bool   // the console calls it by itself
	resultAddress uint64 // where the result is written to; in x8 on arm64
}

// cLanguage is C: f(1, 2.5, "text", &variable).
type cLanguage struct {
	console *Console
	given   [][]byte // strings and buffers for results; the code may keep their addresses
}

func (l *cLanguage) Functions() []string {
	var names []string
	for _, image := range l.console.session.Images() {
		if image.IsHost() {
			continue
		}
		for _, f := range image.Functions() {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (l *cLanguage) Call(text string) (*Call, error) {
	name, arguments, err := splitCall(text)
	if err != nil {
		return l.expression(text, err)
	}
	address, ok := l.console.session.Symbol(name)
	ok = ok && l.console.session.Image(address) != nil // and not a variable
	functions := l.console.values.functions(name)
	n := slices.IndexFunc(functions, func(f *value.Function) bool { return ok && f.Entry == address })
	var fn *value.Function
	switch {
	case n >= 0 && (len(functions) == 1 || functions[n].External):
		fn = functions[n]
	case ok && len(functions) == 0:
	case len(functions) > 1:
		return l.choose(text, name, functions)
	case len(functions) == 1: // a static one
		fn, address, ok = functions[0], functions[0].Entry, true
	default:
		address, ok = l.static(name)
	}
	if !ok {
		return l.expression(text, fmt.Errorf("no function %q in the images%s", name, l.didYouMean(name)))
	}
	call := &Call{Text: text, Function: address}
	if !strings.Contains(text, "(") {
		call.Text = text + "()"
	}
	if at, err := l.console.session.Locate(name); err == nil {
		call.Begin = at[0]
	}
	var t *value.Type
	if fn != nil {
		t = fn.Type
	}
	if err := l.prepareResult(call, name, t); err != nil {
		return nil, err
	}
	if main, ok := l.main(name, fn, arguments); ok {
		call.Main = main
	} else if err := l.arguments(call, name, fn, arguments); err != nil {
		return nil, err
	}
	return call, nil
}

// isExpression reports whether a text is an expression that is not a call as a whole.
func (l *cLanguage) isExpression(text string) bool {
	if _, _, err := splitCall(text); err == nil {
		return false
	}
	e, _, err := l.console.compile(text)
	return err == nil && !e.IsCall() && !e.IsType()
}

// choose calls one of several functions of a name: of C++, the one that the arguments
// fit. Static functions of several files are an error.
func (l *cLanguage) choose(text, name string, functions []*value.Function) (*Call, error) {
	var places []string
	for n, fn := range functions {
		if slices.ContainsFunc(functions[:n], func(f *value.Function) bool { return f.Type.Equal(fn.Type) }) {
			places = nil
			for _, fn := range functions {
				r := frontend.Row(l.console.session, fn.Entry)
				places = append(places, fmt.Sprintf("%#x (%s:%d)", fn.Entry, l.console.source.shown(r.File), r.Line))
			}
			return nil, fmt.Errorf("there are several functions %s, at %s; call one by its address: ((%s) %#x)(...)",
				name, strings.Join(places, " and "), value.PointerTo(fn.Type), functions[0].Entry)
		}
	}
	if !strings.Contains(text, "(") {
		text += "()"
	}
	return l.expression(text, fmt.Errorf("there are several functions %s", name))
}

// expression prepares an expression that is a call: through a pointer, or of one of
// several functions of a name. If it is not a call, the error is otherwise.
func (l *cLanguage) expression(text string, otherwise error) (*Call, error) {
	e, f, err := l.console.compile(strings.TrimSuffix(strings.TrimSpace(text), ";"))
	if err != nil || !e.IsCall() {
		return nil, cmp.Or(otherwise, err)
	}
	function, arguments, _, err := e.Call(f)
	if err != nil {
		return nil, err
	}
	return l.prepare(text, function, arguments)
}

// prepare prepares the call of a function with values.
func (l *cLanguage) prepare(text string, function value.Value, arguments []value.Value) (*Call, error) {
	address, _ := function.Address()
	name, _, ok := l.console.symbols.Symbol(address)
	if !ok {
		name = fmt.Sprintf("%#x", address)
	}
	if text == "" {
		text = name + "(...)"
	}
	call := &Call{Text: text, Function: address}
	if at, err := l.console.session.Locate(fmt.Sprintf("*%#x", address)); err == nil && len(at) == 1 {
		call.Begin = at[0]
	}
	t := function.Type()
	if fn := l.console.values.functionOf(address); fn == nil && len(t.Strip().Params()) == 0 {
		t = nil // a symbol alone
	}
	if err := l.prepareResult(call, name, t); err != nil {
		return nil, err
	}
	for i, v := range arguments {
		if err := l.pass(&call.Arguments, v, true); err != nil {
			return nil, fmt.Errorf("argument %d of %s: %w", i+1, name, err)
		}
	}
	return call, nil
}

// prepareResult allocates the memory that a function of a type returns a value in, and
// sets how the result is read. It precedes the arguments, as the address is the first.
func (l *cLanguage) prepareResult(call *Call, name string, t *value.Type) error {
	result := value.Base(l.console.values.machine(), "long") // not known: an int of C, at most as wide as a register
	if t != nil {
		result = t.Strip().Elem()
	}
	r, err := l.console.returning(result)
	if err != nil {
		return fmt.Errorf("%s cannot be called here: %w", name, err)
	}
	if r.inMemory {
		size := result.Size()
		if size > value.MaxSize {
			return fmt.Errorf("%s cannot be called here: it returns %d bytes", name, size)
		}
		call.resultAddress = l.place(make([]byte, size))
		if !l.console.arm64() {
			call.Arguments.Words = append(call.Arguments.Words, call.resultAddress)
		}
	}
	call.value = func(stop *session.Stop) (value.Value, error) { return r.value(l.console, call.resultAddress, stop) }
	call.Result = func(stop *session.Stop) (string, error) {
		v, err := call.value(stop)
		if err != nil || v.Type() == nil {
			return "", err
		}
		l.console.values.Record(v)
		return l.console.printer(0).Print(v)
	}
	return nil
}

// static finds a function whose symbol is local to its file.
func (l *cLanguage) static(name string) (uint64, bool) {
	for f := range frontend.Functions(l.console.session) {
		if f.Name == name {
			return f.Start, true
		}
	}
	return 0, false
}

func (l *cLanguage) didYouMean(name string) string {
	var near []string
	for _, f := range l.Functions() {
		if strings.Contains(f, name) || strings.Contains(name, f) {
			near = append(near, f)
		}
	}
	switch {
	case len(near) == 0:
		return "; \"info functions\" lists them"
	case len(near) > 3:
		near = near[:3]
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// main returns the arguments of a C main that has parameters, if all are strings.
func (l *cLanguage) main(name string, fn *value.Function, arguments []string) ([]string, bool) {
	if name != "main" || fn != nil && len(fn.Type.Params()) == 0 {
		return nil, false
	}
	main := []string{name}
	for _, a := range arguments {
		text, ok := unquote(a)
		if !ok {
			return nil, false
		}
		main = append(main, text)
	}
	return main, true
}

// evaluateCall calls a function in the middle of an expression.
func (l *cLanguage) evaluateCall(_ value.Frame, function value.Value, arguments []value.Value) (value.Value, error) {
	c := l.console
	if c.session.State() == session.Stopped {
		return value.Value{}, fmt.Errorf("functions can be called only while no call is stopped; \"continue\" or \"kill\" %s first", c.runningText())
	}
	call, err := l.prepare("", function, arguments)
	if err != nil {
		return value.Value{}, err
	}
	c.planned = nil
	if err := c.startPlanned(); err != nil {
		return value.Value{}, err
	}
	if c.session.State() == session.Stopped {
		return value.Value{}, fmt.Errorf("%s has stopped: the expression has no value", c.runningText())
	}
	stop, err := c.begin(call, false)
	if err != nil {
		return value.Value{}, err
	}
	c.running = call
	if stop.Reason != session.Returned {
		return value.Value{}, errors.Join(c.stopped(stop, ""), fmt.Errorf("%s has not returned: the expression has no value", call.Text))
	}
	c.frames.Forget()
	c.selected, c.stop, c.running = 0, stop, nil
	v, err := call.value(stop)
	c.leaveScopes()
	if err == nil && v.Type() == nil {
		v = value.Constant(value.Base(c.values.machine(), "void"), nil, c.values.Outside())
	}
	return v, err
}

// splitCall splits the text of a call into the name of the function and its
// arguments. Without parentheses there are no arguments.
func splitCall(text string) (name string, arguments []string, err error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	name, rest, ok := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	if name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
		return "", nil, fmt.Errorf("%q is not a call; write it like fib(10)", text)
	}
	if !ok {
		return name, nil, nil
	}
	depth, start, end := 0, 0, -1
	for i := 0; i < len(rest) && end < 0; i++ {
		switch rest[i] {
		case '"', '\'':
			n := quotedLength(rest[i:])
			if n == 0 {
				return "", nil, fmt.Errorf("%s is not closed", rest[i:])
			}
			i += n - 1
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				end = i
			}
			depth--
		case ',':
			if depth == 0 {
				arguments = append(arguments, strings.TrimSpace(rest[start:i]))
				start = i + 1
			}
		}
	}
	switch {
	case end < 0:
		return "", nil, fmt.Errorf("%q has no closing parenthesis", text)
	case strings.TrimSpace(rest[end+1:]) != "":
		return "", nil, fmt.Errorf("%q follows the call; a call stands alone", strings.TrimSpace(rest[end+1:]))
	}
	if last := strings.TrimSpace(rest[start:end]); last != "" || len(arguments) > 0 {
		arguments = append(arguments, last)
	}
	if slices.Contains(arguments, "") {
		return "", nil, errors.New("an argument is empty")
	}
	return name, arguments, nil
}

// quotedLength returns the length of the quoted text that s begins with, 0 if the
// closing quote is missing.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}
