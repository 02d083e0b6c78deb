// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitCall(t *testing.T) {
	for _, test := range []struct {
		text, name string
		arguments  []string
		invalid    bool
	}{
		{"fib(10)", "fib", []string{"10"}, false},
		{" fib ( 10 ) ;", "fib", []string{"10"}, false},
		{"fib", "fib", nil, false},
		{"fib()", "fib", nil, false},
		{`f(1, "a,b)", 'x', ')', g[2, 3], (4, 5))`, "f", []string{"1", `"a,b)"`, "'x'", "')'", "g[2, 3]", "(4, 5)"}, false},
		{`f("a\"b")`, "f", []string{`"a\"b"`}, false},
		{"fib(", "", nil, true},
		{"fib(1", "", nil, true},
		{`fib("x)`, "", nil, true},
		{"fib(1) + 2", "", nil, true},
		{"fib(1,)", "", nil, true},
		{"fib(,1)", "", nil, true},
		{"(1)", "", nil, true},
		{"", "", nil, true},
		{"two words(1)", "", nil, true},
	} {
		name, arguments, err := splitCall(test.text)
		if (err != nil) != test.invalid {
			t.Errorf("%q: %v", test.text, err)
		} else if err == nil && (name != test.name || !slices.Equal(arguments, test.arguments)) {
			t.Errorf("%q is %q with %q", test.text, name, arguments)
		}
	}
}

func TestUnquote(t *testing.T) {
	for text, want := range map[string]string{
		`""`: "", `"a"`: "a", `"\n\t\\\"\'"`: "\n\t\\\"'", `"\0"`: "\x00", `"\101\x42C"`: "ABC", `"\1018"`: "A8", `"\e"`: "e",
	} {
		if got, ok := unquote(text); !ok || got != want {
			t.Errorf("%s is %q, %v", text, got, ok)
		}
	}
	for _, invalid := range []string{``, `"`, `a`, `"a`, `"a"b"`, `"\"`, `"\x"`, `'a'`} {
		if got, ok := unquote(invalid); ok {
			t.Errorf("%s is %q", invalid, got)
		}
	}
}

func TestCutFormat(t *testing.T) {
	for _, test := range []struct {
		args    string
		want    format
		text    string
		invalid bool
	}{
		{"n", format{}, "n", false},
		{"/x n", format{letter: 'x', flags: "x"}, "n", false},
		{"/4xw $sp", format{count: 4, letter: 'x', size: 'w', flags: "xw"}, "$sp", false},
		{"/i", format{letter: 'i', flags: "i"}, "", false},
		{"/rs fib", format{letter: 's', flags: "rs"}, "fib", false},
		{"/-3x n", format{}, "", true},
		{"/99999999x n", format{}, "", true},
		{"/X n", format{}, "", true},
	} {
		got, text, err := cutFormat(test.args)
		if (err != nil) != test.invalid || err == nil && (got != test.want || text != test.text) {
			t.Errorf("%q is %+v and %q: %v", test.args, got, text, err)
		}
	}
}

func TestCutCondition(t *testing.T) {
	for _, test := range []struct{ args, location, condition string }{
		{"fib", "fib", ""},
		{"fib if n == 3", "fib", "n == 3"},
		{"fib if(n == 3)", "fib", "(n == 3)"},
		{"if n", "", "n"},
		{"notif.c:3", "notif.c:3", ""},
		{"iffy", "iffy", ""},
		{"", "", ""},
	} {
		if location, condition := CutCondition(test.args); location != test.location || condition != test.condition {
			t.Errorf("%q is %q if %q", test.args, location, condition)
		}
	}
}

func TestControlCharactersAreEscaped(t *testing.T) {
	var out strings.Builder
	c := &Console{out: &out}
	c.printf("%s\t%s\n", "\x1b[1mfib\x1b[22m", "\x1b]0;title\a\x1b[2J\r\u009b\x7fé")
	if want := "\x1b[1mfib\x1b[22m\t\\033]0;title\\007\\033[2J\\015\\233\\177é\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}
