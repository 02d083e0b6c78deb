// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unsafe"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
)

// Language says how calls are written, and what they give.
type Language interface {
	// Call understands the text of a call, and prepares it. Its error tells who
	// wrote the text what is wrong with it.
	Call(text string) (*Call, error)

	// Functions returns the names of what can be called, for hints and completion.
	Functions() []string
}

// Call is a prepared call.
type Call struct {
	Text      string // as results name it: "fib(10)"
	Function  uint64 // address
	Begin     uint64 // where start stops: behind the prologue; 0 is at Function
	Arguments session.Arguments

	// Main, where it is not nil, are the strings that a C main gets; Arguments is
	// not looked at then.
	Main []string

	// Result returns what the function returned, in words, "" where that is
	// nothing: it is called when the call has ended with Returned.
	Result func(*session.Stop) (string, error)

	// Stopped, where it is not nil, is called at every stop, also the last,
	// before anything is printed.
	Stopped func() error

	constructor bool // that the console calls by itself
}

// cLanguage is C: f(1, 2.5, "text", &variable).
type cLanguage struct {
	console *Console
	strings [][]byte // that calls were given; the worker may keep their addresses
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
		return nil, err
	}
	address, ok := l.console.session.Symbol(name)
	fn := l.console.values.function(name)
	switch {
	case fn != nil && fn.HasCode && !ok: // a static one
		address, ok = fn.Entry, true
	case !ok:
		address, ok = l.static(name)
	}
	if !ok {
		return nil, fmt.Errorf("no function %q in the images%s", name, l.didYouMean(name))
	}
	call := &Call{Text: text, Function: address}
	if !strings.Contains(text, "(") {
		call.Text = text + "()"
	}
	if at, err := l.console.session.Locate(name); err == nil {
		call.Begin = at[0]
	}
	if main, ok := l.main(name, fn, arguments); ok {
		call.Main = main
	} else if err := l.arguments(call, name, fn, arguments); err != nil {
		return nil, err
	}
	call.Result = func(stop *session.Stop) (string, error) {
		return l.console.result(fn, stop)
	}
	return call, nil
}

// static finds a function that has a symbol only its own file sees.
func (l *cLanguage) static(name string) (uint64, bool) {
	for _, image := range l.console.session.Images() {
		for _, f := range image.Functions() {
			if f.Name == name {
				return f.Start, true
			}
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

// main takes the arguments of a main that takes some, where they are strings.
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

func (l *cLanguage) arguments(call *Call, name string, fn *value.Function, arguments []string) error {
	var types []*value.Type
	if fn != nil && fn.Type != nil {
		types = fn.Type.Params()
		more := len(arguments) > len(types) && !fn.Type.Variadic()
		if len(arguments) < len(types) || more {
			return fmt.Errorf("%s takes %d arguments, got %d: %s", name, len(types), len(arguments), l.console.values.declaration(fn))
		}
	}
	a := &call.Arguments
	for i, text := range arguments {
		var t *value.Type
		if i < len(types) {
			t = types[i]
		}
		if err := l.argument(a, t, text); err != nil {
			return fmt.Errorf("argument %d of %s: %w", i+1, name, err)
		}
	}
	return nil
}

// argument adds one argument, of type t where that is known.
func (l *cLanguage) argument(a *session.Arguments, t *value.Type, text string) error {
	if s, ok := unquote(text); ok {
		a.Words = append(a.Words, l.string(s))
		return nil
	}
	v, err := l.console.evaluate(text)
	if err != nil {
		return err
	}
	v = v.Decay()
	if t != nil {
		if v = v.Cast(t); v.Err() != nil {
			return fmt.Errorf("%s is not of type %s: %w", text, t, v.Err())
		}
	}
	stripped := v.Type().Strip()
	switch stripped.Kind() {
	case value.Float:
		f, err := v.Float()
		if err != nil {
			return err
		}
		switch {
		case stripped.Size() == 4 && t != nil:
			f = session.Float32(float32(f))
		case stripped.Size() > 8:
			return fmt.Errorf("%s cannot be passed: only float and double are", v.Type())
		}
		a.Floats = append(a.Floats, f)
	case value.Struct, value.Class, value.Union, value.Complex, value.Array:
		return fmt.Errorf("%s cannot be passed: only numbers, pointers and strings are", v.Type())
	default:
		w, err := v.Uint()
		if err != nil {
			return err
		}
		a.Words = append(a.Words, w)
	}
	return nil
}

// splitCall splits the text of a call into the name of the function and its
// arguments. Without parentheses it has none.
func splitCall(text string) (name string, arguments []string, err error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	name, rest, ok := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	if name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
		return "", nil, fmt.Errorf("%q is no call; write it like fib(10)", text)
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

// quotedLength is the length of the text in quotes that s begins with, 0 where it
// does not end.
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

// string puts a string into memory, and returns its address.
func (l *cLanguage) string(s string) uint64 {
	b := append([]byte(s), 0)
	l.strings = append(l.strings, b)
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}
