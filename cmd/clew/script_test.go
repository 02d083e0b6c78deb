// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/clewdev/clew/internal/testprogram"
)

var update = flag.Bool("update", false, "rewrite the expected output in scripts and README.md, and docs: go test ./cmd/clew -update")

// asWorker runs the test binary as a worker of TestMutants.
var asWorker func()

// atEnd removes what tests share.
var atEnd = func() {}

// cleaned runs tests and then atEnd.
type cleaned struct{ *testing.M }

func (c cleaned) Run() int {
	defer atEnd()
	return c.M.Run()
}

// The test binary is also the command clew in the PATH of scripts.
func TestMain(m *testing.M) {
	if _, set := os.LookupEnv("CLEW_CACHE"); !set {
		os.Setenv("CLEW_CACHE", "off") // do not change the user's cache
	}
	if asWorker != nil {
		asWorker()
		return
	}
	testscript.Main(cleaned{m}, map[string]func(){"clew": main})
}

// TestScripts runs testdata/script/*.txtar. In addition to testscript's commands there are
//
//	like FILE PATTERN            checks that FILE (or stdout, stderr) is like
//	                             PATTERN: "..." stands for any text, and alone on
//	                             a line for any lines
//	instruction VAR FILE FUNC TEXT [N]
//	                             sets VAR to the address of the (N-th)
//	                             instruction of a function with the text TEXT
//	json FILE                    checks that every line is a JSON object
//	start VAR PROGRAM [ARG]...   see scriptStart
//	status N COMMAND [ARG]...    runs a command, which must exit with N
//
// and the condition [exists:FILE]. $PROGRAMS, $ASM and $HOSTILE are the folders with the sources of
// internal/testprogram.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"like":        scriptLike,
			"instruction": scriptInstruction,
			"json":        scriptJSON,
			"start":       scriptStart,
			"status":      scriptStatus,
		},
		Condition: func(condition string) (bool, error) {
			if path, ok := strings.CutPrefix(condition, "exists:"); ok {
				_, err := os.Stat(path)
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", condition)
		},
	})
}

func setup(env *testscript.Env) error {
	env.Setenv("PROGRAMS", testprogram.Path("programs"))
	env.Setenv("ASM", testprogram.Path("asm"))
	env.Setenv("HOSTILE", testprogram.Path("hostile"))
	// The home directory of a script is empty, but Go's build cache is kept.
	if cache, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil {
		env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	}
	return nil
}

func scriptLike(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: like FILE PATTERN")
	}
	got, pattern := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if like(got, pattern) == neg {
		ts.Fatalf("%s is\n%s\nand should%s be like\n%s", args[0], got, map[bool]string{true: " not"}[neg], pattern)
	}
}

func scriptInstruction(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: instruction VAR FILE FUNC TEXT")
	}
	ts.Check(ts.Exec("clew", "at", args[1], args[2], "--source", "--json"))
	var answer struct {
		Code []struct{ Address, Text string }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &answer))
	for _, c := range answer.Code {
		if c.Text == args[3] {
			ts.Setenv(args[0], c.Address)
			return
		}
	}
	ts.Fatalf("%s of %s has no instruction %q", args[2], args[1], args[3])
}

func scriptJSON(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: json FILE")
	}
	lines := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			ts.Fatalf("%q: %v", line, err)
		}
		lines++
	}
	if lines == 0 {
		ts.Fatalf("no JSON")
	}
}

func scriptStatus(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARG]...")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Check(err)
		}
		got = exit.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("%s exits with %d, want %s; it prints\n%s", strings.Join(args[1:], " "), got, args[0], ts.ReadFile("stderr"))
	}
}

// like reports whether a text is like a pattern. "..." in the pattern stands for any text within a
// line, and alone on a line for any number of lines. Spaces at the ends of lines are ignored.
func like(text, pattern string) bool {
	return likeLines(splitLines(text), splitLines(pattern))
}

func splitLines(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return lines
}

func likeLines(text, pattern []string) bool {
	for len(pattern) > 0 {
		if strings.TrimSpace(pattern[0]) == "..." {
			for skip := range len(text) + 1 {
				if likeLines(text[skip:], pattern[1:]) {
					return true
				}
			}
			return false
		}
		if len(text) == 0 || !likeLine(text[0], pattern[0]) {
			return false
		}
		text, pattern = text[1:], pattern[1:]
	}
	return len(text) == 0
}

func likeLine(line, pattern string) bool {
	first, rest, any := strings.Cut(pattern, "...")
	if !any {
		return line == pattern
	}
	line, ok := strings.CutPrefix(line, first)
	if !ok {
		return false
	}
	for skip := range len(line) + 1 {
		if likeLine(line[skip:], rest) {
			return true
		}
	}
	return false
}

func TestLike(t *testing.T) {
	for _, test := range []struct {
		text, pattern string
		want          bool
	}{
		{"a\nb\n", "a\nb", true},
		{"a\nb\n", "a", false},
		{"a\nb\nc\n", "a\n...\nc", true},
		{"a\nc\n", "a\n...\nc", true},
		{"a\nb\n", "a\n...\nc", false},
		{"a\n", "...", true},
		{"", "...", true},
		{"at 0x12 in main", "at ... in main", true},
		{"at 0x12 in f", "at ... in main", false},
		{"x 1 y 2 z", "x ... y ... z", true},
		{"padded  \n", "padded", true},
	} {
		if got := like(test.text, test.pattern); got != test.want {
			t.Errorf("%q like %q: %v", test.text, test.pattern, got)
		}
	}
}

func TestMainHelpNamesEveryVerb(t *testing.T) {
	for i, c := range newRoot(nil).Commands {
		if c.Name != verbs[i].name {
			t.Errorf("the verb %s is called %s", verbs[i].name, c.Name)
		}
		if c.Description == "" {
			t.Errorf("clew %s --help has no description", c.Name)
		}
		if c.Action == nil {
			t.Errorf("clew %s has no action", c.Name)
		}
	}
}
