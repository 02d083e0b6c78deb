// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// Arguments and local variables of some functions are those that gdb shows.
func TestFull(t *testing.T) {
	for _, test := range []struct {
		command, source string
		functions       []string
	}{
		{"g++ -O0", "members.cc", []string{"last", "main"}},
		{"clang++ -O0", "members.cc", []string{"last", "main"}},
		{"gcc -O0 -w", "values.c", []string{"last", "main"}},
		{"clang -O0 -w", "values.c", []string{"last", "main"}},
		{"gcc -O0 -w", "statics.c", []string{"last", "call", "main"}},
		// What the library's classes and types are made of: nobody has told gdb how to show them otherwise.
		{"g++ -O0 -std=c++17", "library.cc", []string{"last", "main"}},
		{"clang++ -O0 -std=c++17", "library.cc", []string{"last", "main"}},
		{"rustc -Awarnings -Cpanic=abort", "values.rs", []string{"values::last"}},
	} {
		t.Run(test.command+" "+test.source, func(t *testing.T) {
			program := compile(t, test.command, test.source)
			path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
			theirs, ours := gdbText(t, "C", program, path), coreText(t, path, false)
			for _, function := range test.functions {
				want, got := frameOf(theirs, function), frameOf(ours, function)
				want = slices.DeleteFunc(want, func(line string) bool { return line == "No locals." })
				if len(want) == 0 || !slices.Equal(got, want) {
					t.Errorf("%s:\n%q\ngdb:\n%q", function, got, want)
				}
			}
		})
	}
}
