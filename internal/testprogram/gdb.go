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

	"golang.org/x/sys/cpu"
)

// A GDB is a running gdb that reads commands as from a user: unlike in a script, a command
// that fails does not end it. It needs no Python, which Debian's gdb-minimal does not have.
// It must not be used concurrently.
type GDB struct {
	t      testing.TB
	input  *os.File
	output *bufio.Reader
}

// StartGDB starts gdb for a program, in the C locale unless the added environment sets
// another. gdb ends with the test. The program's output is mixed with gdb's.
func StartGDB(t testing.TB, program string, environment ...string) *GDB {
	t.Helper()
	cmd := exec.Command(RequireTool(t, "gdb"), "-nx", "-q", "-iex", "set debuginfod enabled off", "-iex", "set prompt", "-iex", "unset environment LD_PRELOAD", program)
	cmd.Env = slices.Concat(os.Environ(), []string{"LC_ALL=C"}, environment)
	if cpu.X86.HasAMXTile {
		cmd.Env = append(cmd.Env, "LD_PRELOAD="+Build(t, "xstate.c", "-shared", "-fPIC"))
	}
	gdbInput, input, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	output, gdbOutput, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = gdbInput, gdbOutput, gdbOutput
	err = cmd.Start()
	gdbInput.Close()
	gdbOutput.Close()
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
	// A core of a gdb that fails would be in the folder of the test.
	g.Do("set confirm off\nset width 0\nset height 0\nset startup-with-shell off\nmaint set internal-error corefile no")
	return g
}

// endMark is printed after the output of a command.
const endMark = "@end of output@\n"

// Do returns the output of gdb for a command, or for one command a line.
func (g *GDB) Do(command string) string {
	g.t.Helper()
	if _, err := g.input.WriteString(command + "\necho \\n" + strings.TrimSuffix(endMark, "\n") + "\\n\n"); err != nil {
		g.t.Fatalf("%s: gdb has ended: %v", command, err)
	}
	var text strings.Builder
	for {
		line, err := g.output.ReadString('\n')
		if line == endMark {
			return strings.TrimSuffix(text.String(), "\n")
		}
		text.WriteString(line)
		if err != nil {
			g.t.Fatalf("%s: gdb has ended, after\n%s", command, text.String())
		}
	}
}
