// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A GDB is a gdb that runs, and is given commands as a user gives them: one that
// fails doesn't end it, as it ends a script. It needs no Python, which gdb can be
// built without (Debian's gdb-minimal). It is for one goroutine.
type GDB struct {
	t      testing.TB
	input  *os.File
	output *bufio.Reader
}

// StartGDB starts gdb for a program, in the C locale where the environment that is
// added does not say otherwise, and ends it with the test. The program's output is
// between gdb's.
func StartGDB(t testing.TB, program string, environment ...string) *GDB {
	t.Helper()
	cmd := exec.Command(RequireTool(t, "gdb"), "-nx", "-q", "-iex", "set debuginfod enabled off", "-iex", "set prompt", program)
	cmd.Env = slices.Concat(os.Environ(), []string{"LC_ALL=C"}, environment)
	theirInput, input, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	output, theirOutput, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirInput, theirOutput, theirOutput
	err = cmd.Start()
	theirInput.Close()
	theirOutput.Close()
	t.Cleanup(func() {
		input.Close() // at the end of its input gdb kills the program and exits
		output.Close()
		if err == nil {
			cmd.Wait()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	g := &GDB{t, input, bufio.NewReader(output)}
	g.Do("set confirm off\nset width 0\nset height 0\nset startup-with-shell off")
	return g
}

// behind is what tells the end of a command's output.
const behind = "@behind@\n"

// Do returns what gdb prints for a command, or for several in as many lines.
func (g *GDB) Do(command string) string {
	g.t.Helper()
	if _, err := g.input.WriteString(command + "\necho \\n" + strings.TrimSuffix(behind, "\n") + "\\n\n"); err != nil {
		g.t.Fatalf("%s: gdb has ended: %v", command, err)
	}
	var text strings.Builder
	for {
		line, err := g.output.ReadString('\n')
		if line == behind {
			return strings.TrimSuffix(text.String(), "\n")
		}
		text.WriteString(line)
		if err != nil {
			g.t.Fatalf("%s: gdb has ended, after\n%s", command, text.String())
		}
	}
}
