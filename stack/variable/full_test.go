// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// The arguments and local variables of some functions equal gdb's.
func TestFull(t *testing.T) {
	standard := []string{"strings", "sequences", "maps", "pointers", "sums", "main"}
	type fullTest struct {
		command, source string
		functions       []string
		printers        bool // of the library, with gdb
	}
	tests := []fullTest{
		{"g++ -O0", "members.cc", []string{"last", "main"}, false},
		{"clang++ -O0", "members.cc", []string{"last", "main"}, false},
		{"gcc -O0 -w", "values.c", []string{"last", "main"}, false},
		{"clang -O0 -w", "values.c", []string{"last", "main"}, false},
		{"gcc -O0 -w", "statics.c", []string{"last", "call", "main"}, false},
		// The members of the library's classes and types, and the output of the library's
		// printers.
		{"g++ -O0 -std=c++17", "library.cc", []string{"last", "main"}, false},
		{"clang++ -O0 -std=c++17", "library.cc", []string{"last", "main"}, false},
		{"g++ -O0 -std=c++17", "library.cc", []string{"last", "main"}, true},
		{"clang++ -O0 -std=c++17", "library.cc", []string{"last", "main"}, true},
		{"g++ -O0 -std=c++17", "standard.cc", standard, true},
		{"g++ -O2 -std=c++17", "standard.cc", standard, true},
		{"g++ -O0 -std=c++20 -D_GLIBCXX_DEBUG", "standard.cc", standard, true},
		{"clang++ -O0 -std=c++17", "standard.cc", standard, true},
		{"g++ -O0 -std=c++20", "span.cc", []string{"last"}, true},
		{"rustc -Awarnings -Cpanic=abort", "values.rs", []string{"values::last"}, false},
	}
	for _, test := range sample.Covering(t, tests, 5, func(f fullTest) []string { return []string{f.source} }) {
		t.Run(test.command+" "+test.source, func(t *testing.T) {
			program := compile(t, test.command, test.source)
			path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
			printers := []string{"set auto-load no"}
			if test.printers {
				printers = []string{"set auto-load python-scripts on"}
			}
			theirs, ours := gdbText(t, "C", printers, program, path), coreText(t, path, textOptions{raw: !test.printers})
			for _, function := range test.functions {
				want, got := frameOf(theirs, function), frameOf(ours, function)
				want = slices.DeleteFunc(want, func(line string) bool { return line == "No locals." })
				if test.printers && strings.HasPrefix(test.command, "clang") {
					// clang omits the library's description of std::string, without which
					// gdb's printer fails.
					if test.source == "library.cc" && function == "last" && !slices.Contains(got, `        longer = 'x' <repeats 100 times>`) {
						t.Errorf("%q", got)
					}
					want, got = withoutText(want), withoutText(got)
				}
				if len(want) == 0 || !slices.Equal(got, want) {
					t.Errorf("%s:\n%q\ngdb:\n%q", function, got, want)
				}
			}
		})
	}
}

// Values of std::any, std::filesystem::path and std::error_code equal gdb's with the printers
// of GCC. To name the category of an error, gdb needs a build of the library with debugging
// information, which Debian has as a separate build: with the usual one gdb shows
// "std::_V2::error_category" for every category. Clew reads the class's name in the memory of
// the program, and shows the same with both.
func TestSystemLibrary(t *testing.T) {
	libraries, _ := filepath.Glob("/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6")
	if len(libraries) == 0 {
		t.Skip("skipped: libstdc++ with debugging information is not installed")
	}
	const load = "python import sys; sys.path.insert(0, '/usr/share/gcc/python'); " +
		"from libstdcxx.v6 import register_libstdcxx_printers; register_libstdcxx_printers(None)"
	for _, compiler := range sample.Of(t, []string{"g++", "clang++"}, 1) {
		t.Run(compiler, func(t *testing.T) {
			program := compile(t, compiler+" -std=c++17", "system.cc")
			usual := frameOf(coreText(t, testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program), textOptions{}), "last")
			t.Setenv("LD_LIBRARY_PATH", filepath.Dir(libraries[0]))
			path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
			got, want := frameOf(coreText(t, path, textOptions{}), "last"), frameOf(gdbText(t, "C", []string{load}, program, path), "last")
			if compiler == "clang++" {
				// clang omits the library's description of std::string, without which gdb's
				// printer fails.
				got, want, usual = withoutText(got), withoutText(want), withoutText(usual)
			}
			if len(want) < 20 || !slices.Equal(got, want) {
				t.Errorf("%q\ngdb:\n%q", got, want)
			}
			if !slices.Equal(usual, got) {
				t.Errorf("%q\nwith debugging information of the library:\n%q", usual, got)
			}
		})
	}
}

// Values of the types of Rust's library equal gdb's with the printers of Rust, except for
// values that these cannot show.
func TestRustLibrary(t *testing.T) {
	testprogram.RequireTool(t, "rust-gdb")
	program := compile(t, "rustc -Awarnings --edition=2021", "standard.rs")
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	sysroot, err := exec.Command("rustc", "--print", "sysroot").Output()
	if err != nil {
		t.Fatal(err)
	}
	printers := filepath.Join(strings.TrimSpace(string(sysroot)), "lib/rustlib/etc")
	load := fmt.Sprintf("python import sys; sys.path.insert(0, %q); import gdb_lookup; gdb_lookup.register_printers(gdb)", printers)
	want, got := frameOf(gdbText(t, "C", []string{load}, program, path), "standard::last"), frameOf(coreText(t, path, textOptions{}), "standard::last")
	if len(want) < 9 || len(got) != len(want) {
		t.Fatalf("%q, gdb: %q", got, want)
	}
	want[0] = strings.Replace(want[0], "non_zero=...", "non_zero=7", 1) // of Rust 1.63
	want[0] = strings.Replace(want[0], "path=..., path_buf=...", `path="/p", path_buf="/a/b"`, 1)
	want[0] = strings.Replace(want[0], "box_text=..., box_list=..., c_string=...", `box_text="boxed", box_list=Box(size=1) = {...}, c_string="c"`, 1)
	for i := range want {
		if strings.HasPrefix(want[i], "        view = ") {
			want[i] = "        view = Ref(borrow=1) = {*value = Vec(size=1) = {1}, borrow = 1}"
		}
		if got[i] != want[i] {
			t.Errorf("%s, expected\n%s", got[i], want[i])
		}
	}
}

var quoted = regexp.MustCompile(`[LuU]?"(?:\\.|[^"\\])*"(?:, 'x' <repeats \d+ times>\.\.\.)?|'x' <repeats \d+ times>`)

// withoutText returns lines without quoted text.
func withoutText(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = quoted.ReplaceAllString(line, "")
	}
	return out
}
