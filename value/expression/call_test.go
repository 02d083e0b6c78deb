// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// TestCallParts selects functions by their arguments and converts these, without a call.
func TestCallParts(t *testing.T) {
	_, _, info := build(t, "classes.cc", "-O0")
	work, err := info.Functions("work")
	if err != nil {
		t.Fatal(err)
	}
	c := &Context{Machine: amd64, Info: info, Address: work[0].Entry,
		Call: func(value.Frame, value.Value, []value.Value) (value.Value, error) {
			t.Error("a function was called")
			return value.Value{}, nil
		}}
	const unclear = "The arguments do not select one function; there are "
	for _, test := range []struct{ expression, want string }{
		{"pick(1)", "char (int): 1"},
		{"pick('a')", "char (int): 97"},
		{"pick(1.5)", "short (double): 1.5"},
		{"pick(1.5f)", "short (double): 1.5"},
		{`pick("text")`, `int (const char *): "text"`},
		{"pick(1, 2)", "double (int, int): 1 2"},
		{"pick(1.5, 2)", "double (int, int): 1 2"},
		{"pick((base *)16, 2)", "long (base *, int): (base *) 0x10 2"},
		{"pick((derived *)16, 2)", "long (base *, int): (base *) 0x10 2"},
		{"pick((void *)16, 2)", "!" + unclear},
		{"pick()", "!" + unclear},
		{"pick(1, 2, 3)", "!" + unclear},
		{"take(0)", "char (void *): (void *) 0x0"},
		{"take((derived *)16)", "char (void *): (void *) 0x10"},
		{"take(5)", "!" + unclear},
		{"take(*(base *)16)", "short (base &): (base *) 0x10"},
		{"take(*(derived *)16)", "short (base &): (base *) 0x10"},
		{"(*callback)(1)", "!Cannot access memory at address "},
		{"plain(1)", "!This is not a function; "},
		{"pick(nosuch)", `!No symbol "nosuch" in current context.`},
		{"pick(1) + 1", "not a call"},
		{"1", "not a call"},
	} {
		text := func() string {
			e, err := Compile(test.expression, c)
			if err != nil {
				return "!" + err.Error()
			}
			function, arguments, ok, err := e.Call(value.Static(&frame{}, info, 0))
			switch {
			case ok != e.IsCall():
				t.Errorf("%s: ok is %v, IsCall %v", test.expression, ok, e.IsCall())
			case !ok:
				return "not a call"
			case err != nil:
				return "!" + err.Error()
			}
			var list []string
			for _, a := range arguments {
				s, err := (&print.Printer{}).Print(a)
				if err != nil {
					t.Errorf("%s: %v", test.expression, err)
				}
				if n := a.Type().Strip().Kind(); n == value.Char || n == value.Int {
					s, _, _ = strings.Cut(s, " ")
				}
				list = append(list, s)
			}
			return function.Type().String() + ": " + strings.Join(list, " ")
		}()
		if text != test.want && !(strings.HasPrefix(test.want, "!") && strings.HasPrefix(text, test.want)) {
			t.Errorf("%s: %s, want %s", test.expression, text, test.want)
		}
	}
}
