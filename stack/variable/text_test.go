// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// Text equals gdb's in the locale, except for characters that are invisible or change how the
// text around them is displayed.
func TestText(t *testing.T) {
	program := compile(t, "gcc -fexec-charset=UTF-8 -w", "text.c")
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	for _, test := range []struct {
		locale string
		utf8   bool
		other  map[string]string // than gdb's
	}{
		// If a string ends within a character, gdb 13 drops the previous one.
		{"C", false, map[string]string{"half": `u"a", <incomplete sequence \xd83d>`}},
		{"C.UTF-8", true, map[string]string{
			"terminal": `"\033[2J\302\205\302\23331m\177"`,
			"hidden":   `"a\342\200\256b\342\201\246c\342\200\213d\342\200\215e\357\273\277f\357\270\217g\342\200\250h"`,
			"turned":   `L"a\x202e\061"`,
			"ignored":  `u"\x2069\x3164\x115f"`,
			"half":     `u"a", <incomplete sequence \xd83d>`,
			"cut":      `"ab", <incomplete sequence \344\270>`,
		}},
	} {
		want, got := frameOf(gdbText(t, test.locale, []string{"set auto-load no"}, program, path), "last"), frameOf(coreText(t, path, textOptions{utf8: test.utf8}), "last")
		if len(want) < 20 || len(want) != len(got) {
			t.Fatalf("%s: %q, gdb: %q", test.locale, got, want)
		}
		for i := range want {
			name, _, _ := strings.Cut(strings.TrimSpace(want[i]), " = ")
			if other, ok := test.other[name]; ok {
				want[i] = "        " + name + " = " + other
			}
			if got[i] != want[i] {
				t.Errorf("%s: %q, expected %q", test.locale, got[i], want[i])
			}
		}
	}
}

// frameOf returns the lines of a function's frame: its arguments, and then each local
// variable.
func frameOf(text, function string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch _, after, ok := strings.Cut(line, " "+function+" ("); {
		case ok:
			arguments, _, _ := strings.Cut(after, ") at ")
			lines = append(lines, arguments)
		case len(lines) > 0 && strings.HasPrefix(line, "        "):
			lines = append(lines, line)
		case len(lines) > 0:
			return lines
		}
	}
	return lines
}

// gdbText is gdb's output for the stack in a core, with local variables, after commands
// that set its options.
func gdbText(t *testing.T, locale string, before []string, program, core string) string {
	t.Helper()
	args := []string{"-batch", "-nx", "-iex", "set debuginfod enabled off"}
	for _, command := range before {
		args = append(args, "-iex", command)
	}
	args = append(args, "-ex", "set width 0", "-ex", `echo STACK\n`, "-ex", "backtrace full", program, core)
	cmd := exec.Command(testprogram.RequireTool(t, "gdb"), args...)
	cmd.Env = append(os.Environ(), "LC_ALL="+locale)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	// The output before it shows the innermost frame, sometimes before printers are loaded.
	_, stack, _ := strings.Cut(string(out), "STACK\n")
	return stack
}
