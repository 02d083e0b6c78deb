// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"fmt"
	"unsafe"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
)

func (l *cLanguage) arguments(call *Call, name string, fn *value.Function, arguments []string) error {
	var types []*value.Type
	if fn != nil && fn.Type != nil {
		types = fn.Type.Params()
		more := len(arguments) > len(types) && !fn.Type.Variadic()
		if len(arguments) < len(types) || more {
			return fmt.Errorf("%s takes %s, got %d: %s", name, plural(len(types), "argument"), len(arguments), l.console.values.declaration(fn))
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

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// argument adds one argument. Its type t is nil if it is not known.
func (l *cLanguage) argument(a *session.Arguments, t *value.Type, text string) error {
	if s, ok := unquote(text); ok && (t == nil || t.Strip().Kind() == value.Pointer) {
		a.Words = append(a.Words, l.string(s))
		return nil
	}
	v, err := l.console.evaluate(text)
	if err != nil {
		return err
	}
	if t != nil {
		switch t.Strip().Kind() {
		case value.Reference, value.RvalueReference:
			address, ok := v.Address()
			if !ok {
				return fmt.Errorf("%s is not in memory, and cannot be a %s", text, t)
			}
			a.Words = append(a.Words, address)
			return nil
		}
		if v = v.Decay().Cast(t); v.Err() != nil {
			return fmt.Errorf("%s is not of type %s: %w", text, t, v.Err())
		}
	}
	return l.pass(a, v, t != nil)
}

// pass adds a value to the arguments. If converted, it has the type of the parameter.
func (l *cLanguage) pass(a *session.Arguments, v value.Value, converted bool) error {
	if _, ok := v.Address(); !ok && v.Type().Strip().Kind() == value.Array {
		b, err := v.Bytes()
		if err != nil {
			return err
		}
		a.Words = append(a.Words, l.place(b)) // a string
		return nil
	}
	v = v.Decay()
	stripped := v.Type().Strip()
	switch stripped.Kind() {
	case value.Float:
		f, err := v.Float()
		if err != nil {
			return err
		}
		switch {
		case stripped.Size() == 4 && converted:
			f = session.Float32(float32(f))
		case stripped.Size() > 8:
			return fmt.Errorf("%s cannot be passed: only float and double are", v.Type())
		}
		a.Floats = append(a.Floats, f)
	case value.Struct, value.Class, value.Union, value.Complex, value.Array:
		return fmt.Errorf("%s cannot be passed: only numbers, pointers and strings are", v.Type())
	default:
		if stripped.Size() > 8 {
			return fmt.Errorf("%s cannot be passed: it has more than 8 bytes", v.Type())
		}
		w, err := v.Uint()
		if err != nil {
			return err
		}
		a.Words = append(a.Words, w)
	}
	return nil
}

// string puts a string into memory, and returns its address.
func (l *cLanguage) string(s string) uint64 { return l.place(append([]byte(s), 0)) }

// place puts bytes into memory, at an address that is aligned for every type.
func (l *cLanguage) place(p []byte) uint64 {
	const alignment = 64
	b := make([]byte, len(p)+alignment)
	l.given = append(l.given, b)
	address := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	padding := -address % alignment
	copy(b[padding:], p)
	return address + padding
}
