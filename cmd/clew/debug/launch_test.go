// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package debug

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/session"
	clewdap "github.com/clewdev/clew/session/dap"
)

// compile compiles the text of a C program to an object file.
func compile(t *testing.T, name, source string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	cmd := exec.Command(testprogram.RequireTool(t, "gcc"), "-g", "-c", "-x", "c", "-o", path, "-")
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// A program that an editor launches prints to the editor. Its main gets the arguments.
func TestDebugOutputToAnEditor(t *testing.T) {
	path := compile(t, "print.o", "int printf(const char *, ...);\n"+
		"int main(int argc, char **argv) { for (int i = 1; i < argc; i++) printf(\"%d: %s\\n\", i, argv[i]); return argc; }\n")
	for _, test := range []struct{ arguments, stdout, console, failed string }{
		{`{"call": "main", "args": ["x", "y z"]}`, "1: x\n2: y z\n", " = 3", ""},
		{`{"cwd": "` + filepath.Dir(path) + `", "program": "print.o", "call": "main(\"a\")"}`, "1: a\n", " = 2", ""},
		{`{"call": "printf", "args": ["x"]}`, "", "", "args are for main"},
	} {
		var arguments clewdap.LaunchArguments
		if err := json.Unmarshal([]byte(test.arguments), &arguments); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		arguments.Output = &out
		p, err := launch([]string{path}, &options{}, arguments)
		if test.failed != "" {
			if err == nil || !strings.Contains(err.Error(), test.failed) {
				t.Errorf("%s: %v", test.arguments, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		stop, err := p.Run(false)
		if err != nil {
			t.Fatal(err)
		}
		result, _, err := p.Result(stop)
		if err != nil || !strings.HasSuffix(result, test.console) || out.String() != test.stdout {
			t.Errorf("%s: %q, %v, and it prints %q", test.arguments, result, err, out.String())
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The constructors of a program run before an editor gets control. The program can end by exit.
func TestDebugLaunch(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "..", "..", "session", "console", "testdata", "begins.c"))
	if err != nil {
		t.Fatal(err)
	}
	object := compile(t, "begins.o", string(source))
	for _, test := range []struct {
		call string
		want session.Stop
	}{
		{"get(1)", session.Stop{Reason: session.Returned, Result: 42}},
		{"leave(3)", session.Stop{Reason: session.ExitedProcess, ExitCode: 3}},
	} {
		p, err := launch([]string{object}, &options{}, clewdap.LaunchArguments{Call: test.call})
		if err != nil {
			t.Fatal(err)
		}
		stop, err := p.Run(false)
		if err != nil {
			t.Fatal(err)
		}
		if stop.Reason != test.want.Reason || uint32(stop.Result) != uint32(test.want.Result) || stop.ExitCode != test.want.ExitCode {
			t.Errorf("%s: %v", test.call, stop)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
