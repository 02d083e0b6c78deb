// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/clewdev/clew/internal/testprogram"
)

// TestReadme runs the transcripts in README.md. One shell executes every line that starts with "$ "
// in the ```console blocks, in order. The output must be like the lines below (see TestScripts for
// "..."). A line that ends in a backslash continues. The shell starts in a directory with copies of
// internal/testprogram's programs. With -update, lines that differ are replaced by the output.
func TestReadme(t *testing.T) {
	path := filepath.Join("..", "..", "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	testprogram.RequireTool(t, "sh")
	testprogram.RequireTool(t, "gcc")
	// A script for the command's place in PATH.
	script := filepath.Join(t.TempDir(), "readme.txtar")
	if err := os.WriteFile(script, []byte("transcripts\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: []string{script},
		Setup: func(env *testscript.Env) error { return os.CopyFS(env.WorkDir, os.DirFS(testprogram.Path("programs"))) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"transcripts": func(ts *testscript.TestScript, _ bool, _ []string) {
				got := transcripts(ts, splitTranscripts(string(text)))
				if *update && got != string(text) {
					ts.Check(os.WriteFile(path, []byte(got), 0o644))
				}
			},
		},
	})
}

// transcript is a command and its expected output, or, without a command, text between transcripts.
type transcript struct {
	command string // with the "$ " and all its lines
	text    string
}

// splitTranscripts splits a Markdown text into parts. The concatenated parts are the text.
func splitTranscripts(text string) (parts []transcript) {
	part := &transcript{}
	inside, goesOn := false, false
	next := func() {
		if part.command != "" || part.text != "" {
			parts = append(parts, *part)
		}
		part = &transcript{}
	}
	for line := range strings.Lines(text) {
		switch {
		case goesOn:
			part.command += line
			goesOn = strings.HasSuffix(line, "\\\n")
		case strings.HasPrefix(line, "```"):
			if part.command != "" {
				next()
			}
			inside = strings.TrimSpace(line) == "```console"
			part.text += line
		case inside && strings.HasPrefix(line, "$ "):
			next()
			part.command = line
			goesOn = strings.HasSuffix(line, "\\\n")
		default:
			part.text += line
		}
	}
	next()
	return parts
}

// transcripts runs the commands in one shell, fails for unexpected output, and returns the text with
// the actual output.
func transcripts(ts *testscript.TestScript, parts []transcript) string {
	sh := startShell(ts)
	defer sh.stop()
	var out strings.Builder
	commands := 0
	for _, p := range parts {
		if p.command == "" {
			out.WriteString(p.text)
			continue
		}
		commands++
		got, err := sh.run(strings.TrimPrefix(p.command, "$ "))
		ts.Check(err)
		out.WriteString(p.command)
		if like(got, p.text) {
			out.WriteString(p.text)
			continue
		}
		out.WriteString(got)
		if !*update {
			ts.Fatalf("README.md: %sprints\n%s\nand should print something like\n%s", p.command, got, p.text)
		}
	}
	if commands == 0 {
		ts.Fatalf("README.md has no transcript")
	}
	return out.String()
}

// shell is a shell that runs commands one by one.
type shell struct {
	cmd    *exec.Cmd
	stdin  *os.File
	output *bufio.Scanner
	n      int
}

func startShell(ts *testscript.TestScript) *shell {
	in, stdin, err := os.Pipe()
	ts.Check(err)
	output, out, err := os.Pipe()
	ts.Check(err)
	sh := &shell{cmd: exec.Command("sh"), stdin: stdin, output: bufio.NewScanner(output)}
	sh.output.Buffer(nil, 16<<20)
	sh.cmd.Dir = ts.MkAbs(".")
	sh.cmd.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"), "HOME="+ts.MkAbs("."), "NO_COLOR=1")
	sh.cmd.Stdin, sh.cmd.Stdout, sh.cmd.Stderr = in, out, out
	// Background processes of the commands end with the shell's group.
	sh.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ts.Check(sh.cmd.Start())
	in.Close()
	out.Close()
	return sh
}

// maxWait bounds the time of a command. Then the shell is killed.
const maxWait = 2 * time.Minute

// run runs one command and returns what it printed.
func (sh *shell) run(command string) (string, error) {
	sh.n++
	mark := fmt.Sprintf("end-of-command-%d", sh.n)
	if _, err := fmt.Fprintf(sh.stdin, "%s\nstatus=$?; printf '\\n%s\\n'; (exit $status)\n", strings.TrimSuffix(command, "\n"), mark); err != nil {
		return "", err
	}
	timer := time.AfterFunc(maxWait, sh.kill)
	defer timer.Stop()
	var lines []string
	for sh.output.Scan() {
		line := sh.output.Text()
		if line != mark {
			lines = append(lines, line)
			continue
		}
		// The last newline before the mark is not part of the output.
		text := strings.Join(lines, "\n")
		if len(lines) > 0 && lines[len(lines)-1] != "" {
			text += "\n"
		}
		return text, nil
	}
	return "", fmt.Errorf("%s: the shell ended or took longer than %v, after\n%s", strings.TrimSpace(command), maxWait, strings.Join(lines, "\n"))
}

func (sh *shell) kill() { syscall.Kill(-sh.cmd.Process.Pid, syscall.SIGKILL) }

func (sh *shell) stop() {
	sh.stdin.Close()
	sh.kill()
	sh.cmd.Wait()
}

func TestTranscriptsAreSplitAndRun(t *testing.T) {
	testprogram.RequireTool(t, "sh")
	const text = "# Title\n\n```console\n$ echo one; \\\n  echo two\none\ntwo\n$ x=3\n$ echo $x >&2\n3\n```\n\n$ no command\n\n```\n$ none either\n```\n"
	parts := splitTranscripts(text)
	var commands []string
	joined := ""
	for _, p := range parts {
		joined += p.command + p.text
		if p.command != "" {
			commands = append(commands, p.command)
		}
	}
	if joined != text {
		t.Errorf("parts join to %q", joined)
	}
	if len(commands) != 3 {
		t.Errorf("commands %q", commands)
	}
	script := filepath.Join(t.TempDir(), "x.txtar")
	if err := os.WriteFile(script, []byte("transcripts\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: []string{script},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"transcripts": func(ts *testscript.TestScript, _ bool, _ []string) {
				if got := transcripts(ts, parts); got != text {
					ts.Fatalf("it is now %q", got)
				}
			},
		},
	})
}
