// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"fmt"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
)

// arguments adds the arguments of a call, with the types of the function's parameters if
// they are known.
func (l *cLanguage) arguments(call *Call, name string, fn *value.Function, arguments []string) error {
	var types []*value.Type
	if fn != nil && fn.Type != nil {
		types = fn.Type.Params()
		if len(arguments) < len(types) || len(arguments) > len(types) && !fn.Type.Variadic() {
			return fmt.Errorf("%s takes %s, got %d: %s", name, plural(len(types), "argument"), len(arguments), declarationOf(fn))
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

// argument adds one argument. t is the type of the parameter, nil if unknown.
func (l *cLanguage) argument(a *session.Arguments, t *value.Type, text string) error {
	if s, ok := unquote(text); ok && (t == nil || t.Strip().Kind() == value.Pointer) {
		a.Words = append(a.Words, l.console.calls.Store(append([]byte(s), 0)))
		return nil
	}
	v, err := l.console.evaluate(text)
	if err != nil {
		return err
	}
	if t != nil {
		if kind := t.Strip().Kind(); kind == value.Reference || kind == value.RvalueReference {
			address, ok := v.Address()
			if !ok {
				return fmt.Errorf("%s is not in memory and cannot be a %s", text, t)
			}
			a.Words = append(a.Words, address)
			return nil
		}
		if v = v.Decay().Cast(t); v.Err() != nil {
			return fmt.Errorf("%s is not of type %s: %w", text, t, v.Err())
		}
	}
	return l.console.calls.Pass(a, v, t != nil)
}
