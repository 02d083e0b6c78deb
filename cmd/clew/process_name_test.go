// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/testprogram"
)

// startNamed starts n processes of a program that waits, with a name, and returns their IDs in
// ascending order.
func startNamed(t *testing.T, name string, n int) []string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	data, err := os.ReadFile(testprogram.Build(t, "chain.c", "-O1", "-g"))
	if err == nil {
		err = os.WriteFile(program, data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for range n {
		pids = append(pids, testprogram.Start(t, program).PID)
	}
	slices.Sort(pids)
	var all []string
	for _, pid := range pids {
		all = append(all, strconv.Itoa(pid))
	}
	return all
}

// A name selects the same processes as pgrep -x.
func TestProcessByName(t *testing.T) {
	if _, err := exec.LookPath("pgrep"); err != nil {
		t.Skip("skipped: pgrep is not installed")
	}
	name := fmt.Sprintf("clew%d", os.Getpid())
	pids := startNamed(t, name, 2)
	found, err := exec.Command("pgrep", "-x", name).Output()
	if err != nil || !slices.Equal(strings.Fields(string(found)), pids) {
		t.Fatalf("pgrep finds %q, expected %v: %v", found, pids, err)
	}
	out, err := clew(t, "stack", name).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, pid := range pids {
		if !strings.Contains(string(out), "process "+pid+" ") {
			t.Errorf("no process %s in\n%s", pid, out)
		}
	}
	out, err = clew(t, "jit", name).CombinedOutput()
	if code := exitCode(err); code != output.ExitUsage || !strings.Contains(string(out), "2 processes are named "+name+"; choose one: "+strings.Join(pids, ", ")) {
		t.Errorf("exit code %d\n%s", code, out)
	}

	// The program itself is in the current folder.
	cmd := clew(t, "stack", name)
	cmd.Dir = t.TempDir()
	program, err := os.Readlink("/proc/" + pids[0] + "/exe")
	if err == nil {
		err = os.Symlink(program, filepath.Join(cmd.Dir, name))
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "process "+pids[1]+" ") {
		t.Errorf("%v\n%s", err, out)
	}

	// The kernel truncates a long name.
	long := startNamed(t, name+"-and-a-long-tail", 1)
	out, err = clew(t, "stack", name+"-and-a-long-tail").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "process "+long[0]+" ") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = clew(t, "stack", name+"-and-a-long-nose").CombinedOutput()
	if code := exitCode(err); code != output.ExitUsage || !strings.Contains(string(out), "no process and no file is named") {
		t.Errorf("exit code %d\n%s", code, out)
	}

	common := name + "m"
	startNamed(t, common, maxNamed+1)
	out, err = clew(t, "stack", common).CombinedOutput()
	if code := exitCode(err); code != output.ExitUsage || !strings.Contains(string(out), "21 processes are named "+common) {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func exitCode(err error) int {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode()
	}
	return 0
}

// Bash completes the IDs and names of processes, and the functions of files. A name that contains a
// command is omitted, because bash would execute it.
func TestCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("skipped: bash is not installed")
	}
	name := fmt.Sprintf("clew%dc", os.Getpid())
	pids := startNamed(t, name, 1)
	startNamed(t, "$(>made)", 1)
	program := testprogram.Build(t, "chain.c", "-O1", "-g")
	dir := t.TempDir()
	source := filepath.Join(dir, "evil.s")
	if err := os.WriteFile(source, []byte(".globl ok\n.type ok,@function\nok: nop\n.type \"`>made`\",@function\n\"`>made`\": nop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-c", "-o", filepath.Join(dir, "evil.o"), source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var big strings.Builder
	for i := range maxCompletions {
		fmt.Fprintf(&big, ".type \"f(%d)\",@function\n\"f(%[1]d)\": nop\n", i)
	}
	big.WriteString(".globl last\n.type last,@function\nlast: nop\n")
	assemble := exec.Command("gcc", "-c", "-x", "assembler", "-o", filepath.Join(dir, "big.o"), "-")
	assemble.Stdin = strings.NewReader(big.String())
	if out, err := assemble.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	script, err := clew(t, "completion", "bash").Output()
	if err != nil {
		t.Fatal(err)
	}
	// complete completes the last word as bash does for Tab, with a package bash-completion that
	// defines functions.
	complete := func(functions string, words ...string) []string {
		t.Helper()
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, "'"+w+"'")
		}
		line := string(script) + `
` + functions + `
COMP_WORDS=(` + strings.Join(quoted, " ") + `); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_TYPE=9
__clew_bash_autocomplete
printf '%s\n' "${COMPREPLY[@]}"
`
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		bin := t.TempDir()
		if err := os.Symlink(self, filepath.Join(bin, "clew")); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bash, "--norc", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	for _, test := range []struct {
		words []string
		want  string
	}{
		{[]string{"clew", "sta"}, "stack"},
		{[]string{"clew", "stack", pids[0]}, pids[0]},
		{[]string{"clew", "stack", name}, name},
		{[]string{"clew", "jit", name}, name},
		{[]string{"clew", "stack", "--gor"}, "--goroutines"},
		{[]string{"clew", "at", program, "mai"}, "main"},
		{[]string{"clew", "table", program, "--func", "mai"}, "main"},
		{[]string{"clew", "at", "evil.o", ""}, "ok"},
		{[]string{"clew", "help", "fram"}, "frames"},
		{[]string{"clew", "at", "big.o", "las"}, "last"}, // after many names that a shell would expand
	} {
		if got := complete("", test.words...); !slices.Contains(got, test.want) {
			t.Errorf("%q completes to %q, expected %s among them", test.words, got, test.want)
		}
	}
	for _, functions := range []string{
		"_comp_initialize() { cur=${COMP_WORDS[COMP_CWORD]}; }",
		"_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]}; }",
	} {
		if got := complete(functions, "clew", "sta"); !slices.Equal(got, []string{"stack"}) {
			t.Errorf("with %s, sta completes to %q, expected stack", functions, got)
		}
	}
	complete("", "clew", "stack", "")
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Error("the name of a process or a function was executed")
	}
}
