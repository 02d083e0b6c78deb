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

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

// Language defines how calls are written and how their results are shown. Only C can call a function
// while another call is stopped.
type Language interface {
	// Call parses the text of a call, and prepares it. The user sees its error.
	Call(text string) (*Call, error)

	// Functions returns the names of the functions that can be called, for hints and
	// completion.
	Functions() []string
}

// Call is a prepared call.
type Call struct {
	Text      string // for results: "fib(10)"
	Function  uint64 // address
	Begin     uint64 // address after the prologue, where start stops; 0 means Function
	Arguments session.Arguments

	// Main are the arguments of a C main. If it is not nil, Arguments is ignored.
	Main []string

	// Result returns the text of the function's result, "" for none. It is called
	// after the call has ended with Returned.
	Result func(*session.Stop) (string, error)
	result *frontend.Result // of a C function
	name   string           // of the function of an expression

	// Stopped is called at every stop, including the last, before anything is printed.
	// It may be nil.
	Stopped func() error

	constructor bool // a constructor, which the console calls by itself
}

// cLanguage is C: f(1, 2.5, "text", &variable).
type cLanguage struct{ console *Console }

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
	ok = ok && l.console.session.Image(address) != nil // not a variable
	functions := l.console.functions(name)
	n := slices.IndexFunc(functions, func(f *value.Function) bool { return ok && f.Entry == address })
	if l.console.session.State() == session.Stopped && len(functions) > 0 && strings.Contains(functions[0].Name, "::") {
		// Within a method of the class, it can be called for the same object.
		if call, err := l.expression(text, nil); err == nil && call != nil {
			return call, nil
		}
	}
	var fn *value.Function
	switch {
	case n >= 0 && (len(functions) == 1 || functions[n].External):
		fn = functions[n]
	case ok && len(functions) == 0:
	case len(functions) > 1:
		return l.choose(text, name, functions)
	case len(functions) == 1: // a static function
		fn, address, ok = functions[0], functions[0].Entry, true
	default:
		for f := range frontend.Functions(l.console.session) { // a local symbol
			if f.Name == name {
				address, ok = f.Start, true
				break
			}
		}
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
	r, err := l.console.calls.PassResult(&call.Arguments, name, t)
	if err != nil {
		return nil, err
	}
	l.setResult(call, r)
	if main, ok := l.main(name, fn, arguments); ok {
		call.Main = main
	} else if err := l.arguments(call, name, fn, arguments); err != nil {
		return nil, err
	}
	return call, nil
}

// isExpression reports whether a text is an expression other than a single call.
func (l *cLanguage) isExpression(text string) bool {
	e, _, err := l.console.compile(text)
	if err != nil || e.IsCall() || e.IsType() {
		return false
	}
	if _, _, err := splitCall(text); err != nil {
		return true
	}
	t, err := e.Type() // the name of a function is a call without arguments
	return err == nil && t.Strip().Kind() != value.Func
}

// choose calls one of several functions with the same name: the C++ function that fits the
// arguments. Static functions of several files are an error.
func (l *cLanguage) choose(text, name string, functions []*value.Function) (*Call, error) {
	for n, fn := range functions {
		if slices.ContainsFunc(functions[:n], func(f *value.Function) bool { return f.Type.Equal(fn.Type) }) {
			var places []string
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

// expression prepares an expression that is a call: through a pointer, or of one of several
// functions with the same name. If it is not a call, the error is notCall.
func (l *cLanguage) expression(text string, notCall error) (*Call, error) {
	e, f, err := l.console.compile(strings.TrimSuffix(strings.TrimSpace(text), ";"))
	if err != nil || !e.IsCall() {
		return nil, cmp.Or(notCall, err)
	}
	function, arguments, _, err := e.Call(f)
	if err != nil {
		return nil, err
	}
	return l.prepare(text, function, arguments)
}

func (l *cLanguage) prepare(text string, function value.Value, arguments []value.Value) (*Call, error) {
	prepared, err := l.console.calls.Prepare(function, arguments)
	if err != nil {
		return nil, err
	}
	if text == "" {
		if text = prepared.Name; !strings.Contains(text, "(") { // C++ names have their parameters
			text += "(...)"
		}
	}
	call := &Call{Text: text, Function: prepared.Function, Arguments: prepared.Arguments, name: prepared.Name}
	if at, err := l.console.session.Locate(fmt.Sprintf("*%#x", call.Function)); err == nil && len(at) == 1 {
		call.Begin = at[0]
	}
	l.setResult(call, prepared.Result)
	return call, nil
}

// setResult sets the functions that read the result of a call.
func (l *cLanguage) setResult(call *Call, r *frontend.Result) {
	call.result = r
	call.Result = func(stop *session.Stop) (string, error) {
		v, err := r.Value(stop)
		if err != nil || v.Type() == nil {
			return "", err
		}
		l.console.values.Record(v)
		return l.console.printer(0).Print(v)
	}
}

func (l *cLanguage) didYouMean(name string) string {
	var similar []string
	for _, f := range l.Functions() {
		if strings.Contains(f, name) || strings.Contains(name, f) {
			similar = append(similar, f)
		}
	}
	if len(similar) == 0 {
		return "; \"info functions\" lists them"
	}
	return "; did you mean " + strings.Join(similar[:min(len(similar), 3)], " or ") + "?"
}

// main returns the arguments of a C main with parameters. All must be strings.
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

// evaluateCall calls a function in an expression. While a call is stopped, the call is nested.
func (l *cLanguage) evaluateCall(_ value.Frame, function value.Value, arguments []value.Value) (value.Value, error) {
	c := l.console
	call, err := l.prepare("", function, arguments)
	if err != nil {
		return value.Value{}, err
	}
	if c.session.State() == session.Stopped {
		if err := c.callNested(call); err != nil {
			return value.Value{}, err
		}
		return l.resultOf(call, c.ended)
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
		return value.Value{}, errors.Join(c.stopped(stop), fmt.Errorf("%s has not returned: the expression has no value", call.Text))
	}
	c.frames.Forget()
	c.selected, c.stop, c.running = 0, stop, nil
	v, err := l.resultOf(call, stop)
	c.leaveScopes()
	return v, err
}

// resultOf returns the result of a call that has returned, in an expression.
func (l *cLanguage) resultOf(call *Call, stop *session.Stop) (value.Value, error) {
	v, err := call.result.Value(stop)
	if err == nil && v.Type() == nil {
		v = value.Constant(value.Base(jit.Host(), "void"), nil, l.console.values.Outside())
	}
	return v, err
}

// splitCall splits the text of a call into the name of the function and its arguments. The
// parentheses can be absent.
func splitCall(text string) (name string, arguments []string, err error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	name, list, ok := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	if name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
		return "", nil, fmt.Errorf("%q is not a call; write it like fib(10)", text)
	}
	if !ok {
		return name, nil, nil
	}
	depth, start, end := 0, 0, -1
	for i := 0; i < len(list) && end < 0; i++ {
		switch list[i] {
		case '"', '\'':
			n := quotedLength(list[i:])
			if n == 0 {
				return "", nil, fmt.Errorf("%s has no closing quote", list[i:])
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
				arguments = append(arguments, strings.TrimSpace(list[start:i]))
				start = i + 1
			}
		}
	}
	switch {
	case end < 0:
		return "", nil, fmt.Errorf("%q has no closing parenthesis", text)
	case strings.TrimSpace(list[end+1:]) != "":
		return "", nil, fmt.Errorf("unexpected text after the call: %q", strings.TrimSpace(list[end+1:]))
	}
	if last := strings.TrimSpace(list[start:end]); last != "" || len(arguments) > 0 {
		arguments = append(arguments, last)
	}
	if slices.Contains(arguments, "") {
		return "", nil, errors.New("an argument is empty")
	}
	return name, arguments, nil
}

// quotedLength returns the length of the quoted text at the start of s, 0 without a closing
// quote.
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
