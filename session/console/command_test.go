// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitCommand(t *testing.T) {
	for _, test := range []struct{ line, name, rest string }{
		{"", "", ""},
		{"print", "print", ""},
		{"print x", "print", "x"},
		{"p/x $rax", "p", "/x $rax"},
		{"p $1", "p", "$1"},
		{"p(1)", "p", "(1)"},
		{"x/4xw $sp ", "x", "/4xw $sp"},
		{"set-var 5", "set-var", "5"},
		{"frame\t2", "frame", "2"},
		{"b2 x", "b2", "x"},
		{"2b", "", "2b"},
		{"*x", "", "*x"},
		{" print", "", "print"},
		{"größe", "gr", "öße"},
	} {
		if name, rest := splitCommand(test.line); name != test.name || rest != test.rest {
			t.Errorf("%q is %q and %q, want %q and %q", test.line, name, rest, test.name, test.rest)
		}
	}
}

// Abbreviations stand for the same commands as in gdb.
func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"break": "break", "b": "break", "br": "break", "brea": "break", "tb": "tbreak", "hb": "hbreak",
		"c": "continue", "cont": "continue", "fg": "continue", "s": "step", "si": "stepi", "n": "next", "ni": "nexti",
		"fin": "finish", "u": "until", "k": "kill", "r": "run", "d": "delete", "dis": "disable", "en": "enable",
		"bt": "backtrace", "where": "backtrace", "f": "frame", "do": "down", "p": "print", "inspect": "print", "wa": "watch",
	} {
		if cmd, err := find(commands(), name, ""); err != nil || cmd.name != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for name, want := range map[string]string{
		"nosuch": `undefined command: "nosuch"; try "help"; "clew debug --gdb" starts gdb`,
		"a":      `ambiguous command "a": `,
		"Break":  `undefined command: "Break"; try "help"`,
	} {
		if cmd, err := find(commands(), name, ""); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s is %v, %v; want %s", name, cmd, err, want)
		}
	}
	info, err := find(commands(), "info", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"b": "breakpoints", "lo": "locals", "ar": "args", "reg": "registers", "di": "display"} {
		if cmd, err := find(info.below, name, "info "); err != nil || cmd.name != want {
			t.Errorf("info %s: %v, want %s", name, err, want)
		}
	}
	if _, err := find(info.below, "nosuch", "info "); err == nil || err.Error() != `undefined info command: "nosuch"; try "help info"; "clew debug --gdb" starts gdb` {
		t.Error(err)
	}
}

// Every command has a unique name, a run function and help.
func TestCommands(t *testing.T) {
	var check func(list []*command, path string)
	check = func(list []*command, path string) {
		owner := map[string]string{}
		for _, c := range list {
			for _, name := range append([]string{c.name}, c.aliases...) {
				if other, ok := owner[name]; ok {
					t.Errorf("%s%s is %s and %s", path, name, other, c.name)
				}
				owner[name] = c.name
				if head, rest := splitCommand(name); head != name || rest != "" {
					t.Errorf("%s%s is not a word", path, name)
				}
			}
			if c.run == nil || c.short == "" {
				t.Errorf("%s%s has no run function or no help", path, c.name)
			}
			check(c.below, path+c.name+" ")
		}
	}
	check(commands(), "")
}

func TestNumbersOf(t *testing.T) {
	for _, test := range []struct {
		args string
		want []int
		err  string
	}{
		{"", nil, ""},
		{"1", []int{1}, ""},
		{"1 3-5", []int{1, 3, 4, 5}, ""},
		{"1,2, 7", []int{1, 2, 7}, ""},
		{"4-4", []int{4}, ""},
		{"2 2", []int{2, 2}, ""},
		{"0", nil, "\"0\""},
		{"x", nil, "\"x\""},
		{"-3", nil, "\"-3\""},
		{"5-3", nil, "\"5-3\""},
		{"5-", nil, "\"5-\""},
		{"1-2-3", nil, "\"1-2-3\""},
		{"1-1001", nil, ""},
		{"1-1002", nil, "too long"},
		{"99999999999999999999", nil, "\"99999999999999999999\""},
	} {
		got, err := numbersOf(test.args)
		switch {
		case test.err != "":
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q is %v, %v; want an error with %s", test.args, got, err, test.err)
			}
		case err != nil || test.want != nil && !slices.Equal(got, test.want):
			t.Errorf("%q is %v, %v; want %v", test.args, got, err, test.want)
		}
	}
}
