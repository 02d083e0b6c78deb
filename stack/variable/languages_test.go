// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
)

var (
	anyFrame = regexp.MustCompile(`^ *#\d+ +(?:0x[0-9a-f]+ )?(?:in )? *(.*?) \((.*)\) at .*:\d+(?: \[.*\])?$`)
	ofFrame  = regexp.MustCompile(`^        ([\w.]+ = .*)$`)
)

// shownLocals returns the arguments and the local variables in the output of "backtrace full"
// or of "clew stack --args --locals", by the name of the function.
func shownLocals(text string, wanted ...string) map[string][]string {
	found := make(map[string][]string)
	function := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := anyFrame.FindStringSubmatch(line); m != nil {
			if function = m[1]; slices.Contains(wanted, function) {
				found[function] = append(found[function], "("+m[2]+")")
			}
		} else if m := ofFrame.FindStringSubmatch(line); m != nil && slices.Contains(wanted, function) {
			found[function] = append(found[function], m[1])
		} else if strings.Contains(line, "#") {
			function = ""
		}
	}
	for name := range found {
		slices.Sort(found[name]) // gdb has variables in the order of a hash
	}
	return found
}

// Arguments and local variables of Fortran and Ada equal gdb's, in a live process and in its
// core.
func TestLanguages(t *testing.T) {
	for _, test := range []struct {
		source    string
		command   []string
		functions []string
		least     int // variables
	}{
		{"arrays.f90", []string{"gfortran", "-g"}, []string{"store::take", "kinds"}, 60},
		{"types.adb", []string{"gnatmake", "-q", "-g", "-gnatws"}, []string{"types.show", "types.proc", "types"}, 60},
	} {
		t.Run(test.source, func(t *testing.T) {
			source, err := filepath.Abs("../../value/testdata/" + test.source)
			if err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(t.TempDir(), "program")
			build := exec.Command(testprogram.RequireTool(t, test.command[0]), append(test.command[1:], "-o", program, source)...)
			build.Dir = filepath.Dir(program) // where they leave other files
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			p := testprogram.Start(t, program, "wait")
			p.Settle(t)
			s, err := process.Snapshot(p.PID, nil)
			if err != nil {
				t.Fatal(err)
			}
			objects := stack.NewObjects(s)
			defer objects.Close()
			stacks := objects.Walk(stack.WalkOptions{Registers: true})
			if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
				t.Error(err)
			}
			live := &trace.Threads{Target: trace.Target{Machine: s.Machine}, Stacks: stacks, Variables: variable.NewReader(s, objects)}
			path := testprogram.GCore(t, p.PID)
			want := shownLocals(gdbOf(t, "gdb", program, path, "thread apply all backtrace -full", "-ex", "set print frame-arguments scalars"), test.functions...)
			for where, r := range map[string]*trace.Threads{"live": live, "core": coreStacks(t, path, nil)} {
				r.Raw, r.Locals = true, true
				var out bytes.Buffer
				if err := r.Text(&out, trace.Options{AllFrames: true}); err != nil {
					t.Fatal(err)
				}
				got := shownLocals(out.String(), test.functions...)
				compared := 0
				for _, name := range test.functions {
					// Literals of enumerations are not variables.
					of := slices.DeleteFunc(want[name], func(line string) bool {
						variable, value, _ := strings.Cut(line, " = ")
						return variable == value
					})
					if !slices.Equal(got[name], of) {
						t.Errorf("%s, %s:\n\t%s\ngdb:\n\t%s", where, name, strings.Join(got[name], "\n\t"), strings.Join(of, "\n\t"))
					}
					compared += len(of)
				}
				if compared < test.least {
					t.Errorf("%s: %d variables, expected %d\n%s", where, compared, test.least, &out)
				}
			}
		})
	}
}
