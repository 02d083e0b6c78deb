// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package forth_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// TestProfiled runs words while the profiler's signals stop them.
func TestProfiled(t *testing.T) {
	if err := pprof.StartCPUProfile(io.Discard); err == nil { // else there is one: -cpuprofile
		defer pprof.StopCPUProfile()
	}
	s := load(t, ": fib dup 2 < if exit then dup 1- recurse swap 2 - recurse + ;", nil, nil)
	for start := time.Now(); time.Since(start) < 500*time.Millisecond; {
		if got, err := s.Call("fib", 27); err != nil || got[0] != 196418 {
			t.Fatalf("%d, %v", got, err)
		}
	}
}

// TestPause stops in the host's function and continues, in words with and without a frame
// pointer.
func TestPause(t *testing.T) {
	for _, frames := range []bool{false, true} {
		t.Run(fmt.Sprintf("frames=%t", frames), func(t *testing.T) { testPause(t, &forth.Options{FramePointers: frames}) })
	}
}

func testPause(t *testing.T, options *forth.Options) {
	notices, paused, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	resume, proceed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer notices.Close()
	defer resume.Close()
	s := load(t, ": twice 5 pause 2 * pause ;", options, &forth.SessionOptions{Paused: paused, Resume: resume, Notice: "paused\n"})
	// The byte is written before, so that no other goroutine has to run.
	proceed.WriteString("\n")
	proceed.Close() // the second pause sees the end
	got, err := s.Call("twice")
	if err != nil || !slices.Equal(got, []int64{10}) {
		t.Errorf("%d, %v", got, err)
	}
	paused.Close()
	if text, err := io.ReadAll(notices); err != nil || string(text) != "paused\npaused\n" {
		t.Errorf("it said %q, %v", text, err)
	}
}

// command builds cmd/forth. On arm64 the only debugging information is .debug_frame, because an
// emulated gdb needs half a minute to read that of a Go program.
func command(t *testing.T) string {
	t.Helper()
	testprogram.RequireTool(t, "go")
	name := filepath.Join(t.TempDir(), "forth")
	if out, err := exec.Command("go", "build", "-o", name, "./cmd/forth").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if runtime.GOARCH == "arm64" {
		objcopy := testprogram.RequireTool(t, "objcopy")
		if out, err := exec.Command(objcopy, "-R", ".debug_*", "-R", "!.debug_frame", name).CombinedOutput(); err != nil {
			t.Fatalf("objcopy: %v: %s", err, out)
		}
	}
	return name
}

// gdb runs gdb with commands and returns what it prints.
func gdb(t *testing.T, commands string, args ...string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "commands")
	commands = "set pagination off\nset width 0\nset breakpoint pending on\nset debuginfod enabled off\n" + commands
	if err := os.WriteFile(script, []byte(commands), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gdb", append([]string{"-q", "-nx", "-batch", "-x", script}, args...)...)
	// The runtime stops a goroutine every 10 ms that does not yield.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	return string(out)
}

// TestGDBSteps steps gdb through words, instruction by instruction. Each backtrace must contain
// main.
func TestGDBSteps(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	name := command(t)
	labyrinth, err := os.ReadFile(filepath.Join("testdata", "labyrinth.fth"))
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "steps.fth")
	if err := os.WriteFile(source, append(labyrinth, ": half 0 >r 7 0 / r> drop ; half"...), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flags := range sample.Of(t, []string{"", "-frame-pointers -per-definition"}, 1) {
		out := gdb(t, `
			break enter
			run `+flags+" "+source+` </dev/null
			delete
			set scheduler-locking step
			set $n = 0
			while $n < 1200 && $_isvoid($_exitcode)
				stepi
				echo @@@\n
				bt
				set $n = $n + 1
			end
			`, name)
		stacks := strings.Split(out, "@@@\n")[1:]
		words := make(map[string]int)
		for n, stack := range stacks {
			// The functions on the stack, innermost first.
			var names []string
			for _, m := range regexp.MustCompile(`(?m)^#\d+ +(?:0x[0-9a-f]+ in )?(\S+) \(`).FindAllStringSubmatch(stack, -1) {
				names = append(names, strings.TrimSuffix(m[1], ".abi0"))
			}
			host := slices.Index(names, "github.com/clewdev/clew/examples/forth.call")
			if host < 0 {
				break // the program has ended
			}
			// The division by zero leaves all words at once.
			left := host == 1 && names[0] == "half"
			if left {
				words["left all"]++
			}
			if len(names) == 0 || names[len(names)-1] != "main.main" || host > 0 && names[host-1] != "toplevel" && !left {
				t.Errorf("%s step %d:\n%s", flags, n, stack)
				break
			}
			words[names[0]]++
		}
		for _, word := range []string{"enter", "right", "left", "inside", "toplevel", "type", "half", "left all"} {
			if words[word] == 0 {
				t.Errorf("%s: never in %s: %v\n%s", flags, word, words, out[max(0, len(out)-1000):])
			}
		}
	}
}

// TestGDBAttached attaches gdb to a program that waits in the labyrinth.
func TestGDBAttached(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	cmd := exec.Command(command(t), filepath.Join("testdata", "labyrinth.fth"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer stdin.Close()
	notice, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	// Any thread may run the word: the runtime can move a goroutine at any time.
	out := gdb(t, "thread apply all bt\ndetach\n", "-p", strings.Fields(notice)[1])
	stack := regexp.MustCompile(`(?s)forth\.pause(?:\.abi0)? \(\).* in inside \(\) at \S*labyrinth\.fth:7\n.* in left \(\) at \S*labyrinth\.fth:11\n.*` +
		`in left \(\) at \S*labyrinth\.fth:13\n.* in right \(\) at \S*labyrinth\.fth:19\n.* in enter \(\) at \S*labyrinth\.fth:24\n` +
		`.* in toplevel \(\) at \S*labyrinth\.fth:27\n.* in \S*forth\.call(?:\.abi0)? \(.* in main\.main \(\)`)
	if !stack.MatchString(out) {
		t.Errorf("gdb prints\n%s", out)
	}
}
