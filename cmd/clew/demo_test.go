// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// built are the paths of built commands, by their flags. removeBuilt removes them.
var built struct {
	sync.Mutex
	folder string
	paths  map[string]string
}

// buildClew builds the command as users do, once. The binary of the test has other symbols and
// tables.
func buildClew(t *testing.T, flags ...string) string {
	t.Helper()
	testprogram.RequireTool(t, "go")
	built.Lock()
	defer built.Unlock()
	key := fmt.Sprintf("%q", flags)
	if path, ok := built.paths[key]; ok {
		return path
	}
	if built.folder == "" {
		var err error
		if built.folder, err = os.MkdirTemp("", "clew-built-"); err != nil {
			t.Fatal(err)
		}
		built.paths = make(map[string]string)
	}
	clew := filepath.Join(built.folder, strconv.Itoa(len(built.paths)), "clew")
	cmd := exec.Command("go", append(append([]string{"build", "-o", clew}, flags...), ".")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // so that gdb finds only the malloc of a session
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	built.paths[key] = clew
	return clew
}

func init() { atEnd = func() { os.RemoveAll(built.folder) } }

// TestDemoStripped runs the demo of a clew without symbols, which debuggers need to find generated
// code, and without call frame information. 'go run' links it so.
func TestDemoStripped(t *testing.T) {
	out, err := exec.Command(buildClew(t, "-ldflags=-s -w"), "demo").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	stack := regexp.MustCompile(`(?s)#0 \S+  \S+forth\.pause\+.*#1 \S+  minotaur\+\S+ in \[jit\] at \S+labyrinth\.fth:6 .*` +
		`#2 \S+  left\+.*#7 \S+  right\+.*#8 \S+  labyrinth\+.*#9 \S+  \S+forth\.call\+.*  main\.main\+.*  runtime\.goexit\+`)
	if !stack.Match(out) {
		t.Errorf("clew prints\n%s", out)
	}
}

// waitingDemo starts `clew demo --wait`, and returns the printed commands, one on each line.
func waitingDemo(t *testing.T) (commands []string) {
	t.Helper()
	tmp := t.TempDir()
	cmd := exec.Command(buildClew(t), "demo", "--wait")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Errorf("clew demo --wait ends on Ctrl-C with %v", err)
		}
		if entries, err := os.ReadDir(tmp); err != nil || len(entries) > 0 {
			t.Errorf("the temporary files %v remain, %v", entries, err)
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		command, ok := strings.CutPrefix(lines.Text(), "  ")
		if !ok || strings.HasPrefix(command, " ") || strings.HasPrefix(command, "#") || strings.HasPrefix(command, "0x") {
			continue
		}
		commands = append(commands, command)
		if strings.HasPrefix(command, "perf script") {
			return commands
		}
	}
	t.Fatalf("the commands %q lack perf script", commands)
	return nil
}

// prints runs the command that begins with a name, and returns its output.
func prints(t *testing.T, commands []string, name string) string {
	t.Helper()
	i := slices.IndexFunc(commands, func(c string) bool { return strings.HasPrefix(c, name) })
	if i < 0 {
		t.Fatalf("no %s among the commands %q", name, commands)
	}
	folder := "."
	if j := slices.IndexFunc(commands, func(c string) bool { return strings.HasPrefix(c, "cd ") }); j >= 0 && j < i {
		folder = strings.TrimPrefix(commands[j], "cd ")
	}
	cmd := exec.Command("sh", "-c", commands[i])
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "PAGER=cat")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", commands[i], err, out)
	}
	return string(out)
}

// TestDemoInGDB runs the command for gdb that the demo prints.
func TestDemoInGDB(t *testing.T) {
	testprogram.RequireTool(t, "sh")
	testprogram.RequireTool(t, "gdb")
	commands := waitingDemo(t)
	for i := range commands { // gdb would wait for commands
		commands[i] = strings.Replace(commands[i], "gdb ", "gdb -batch -nx ", 1)
	}
	// The program can be between two calls of the word.
	for range 5 {
		out := prints(t, commands, "gdb")
		if regexp.MustCompile(`(?s)wander \(\) at \S*labyrinth\.fth:2\d.*wander \(\) at .*forth\.call \(.*main\.main \(\)`).MatchString(out) {
			return
		}
		t.Logf("gdb prints\n%s", out)
	}
	t.Error("gdb does not show the frames from a word to main")
}

// TestDemoInPerf runs the commands for perf that the demo prints.
func TestDemoInPerf(t *testing.T) {
	testprogram.RequireTool(t, "sh")
	testprogram.RequireTool(t, "perf")
	commands := waitingDemo(t)
	prints(t, commands, "perf record")
	prints(t, commands, "perf inject")
	samples, whole := 0, 0
	for sample := range strings.SplitSeq(prints(t, commands, "perf script"), "\n\n") {
		if strings.Contains(sample, "wander+0x") {
			samples++
			if strings.Contains(sample, "forth.call") && strings.Contains(sample, "main.main+0x") {
				whole++
			}
		}
	}
	if samples == 0 || whole < samples*9/10 {
		t.Errorf("%d of %d samples of a word reach main", whole, samples)
	}
}
