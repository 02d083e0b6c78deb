// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package gdb_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
)

func buildEngine(t *testing.T) string {
	t.Helper()
	return testprogram.BuildModule(t, "../../../jit/gdb/testdata/engine")
}

// engineStack is the stack in the host's function, which the engine calls.
var engineStack = []string{`#0 .*\bmain\.host(\.abi0)? `, `#1 .*\bcallHost `, `#2 .*\bmiddle `, `#3 .*\bouter `, `#4 .*\benter `, `#5 .*call\.Code(\.abi0)? `, `\bmain\.main\b`}

// stepEngine is a script for gdb that prints the stack at every instruction of the engine, which has
// the given size, and of the host's function, after the commands that start the program. It is
// entered at the start of its page, and at a given offset.
const stepEngine = `set width 0
set confirm off
set breakpoint pending on
set print thread-events off
set language c
handle SIGURG nostop noprint pass
tbreak enter
%s
set $base = (unsigned long)$pc & ~0xfffUL
break *$base
break *($base + %#x)
while $_isvoid($_exitcode)
  if (unsigned long)$pc - $base < %#x || (unsigned long)$pc - (unsigned long)&'main.host' < 0x20UL
    printf "at %%d\n", (int)((unsigned long)$pc - $base)
    bt
    stepi
  else
    continue
  end
end
`

// checkSteps checks what gdb says: at each of the offsets a stack that reaches main.
func checkSteps(t *testing.T, out string, offsets []int) {
	t.Helper()
	stacks := regexp.MustCompile(`(?m)^at -?\d+$`).Split(out, -1)[1:]
	seen := make(map[string]bool)
	for i, at := range regexp.MustCompile(`(?m)^at (-?\d+)$`).FindAllStringSubmatch(out, -1) {
		seen[at[1]] = true
		if !strings.Contains(stacks[i], " in main.main ") || strings.Contains(stacks[i], "Backtrace stopped") {
			t.Errorf("at %s: %s", at[1], stacks[i])
		}
	}
	for _, offset := range offsets {
		if !seen[strconv.Itoa(offset)] {
			t.Errorf("gdb has not stopped at +%#x", offset)
		}
	}
	inOrder(t, out, "grown 1 times, trapped true", "grown 1 times, trapped false")
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// gdb walks from every instruction of an engine with its own stack to main: in the entry, in
// calls of the host, where the engine is left to make its stack grow, and in a trap, which
// leaves it for good.
func TestEngine(t *testing.T) {
	t.Setenv("GODEBUG", "asyncpreemptoff=1")
	out := debug(t, []string{"source " + script(t, fmt.Sprintf(stepEngine, "run", 0x30, 0xe0))}, buildEngine(t))
	// All instructions of the engine, in the order of its functions.
	checkSteps(t, out, []int{0, 1, 4, 6, 7, 0xa, 0xd, 0x11, 0x15, 0x19, 0x1c, 0x1d, 0x1f, 0x20,
		0x30, 0x31, 0x34, 0x36, 0x37, 0x3a, 0x3d, 0x41, 0x45, 0x50, 0x54, 0x58, 0x5b, 0x5c, 0x5e, 0x5f,
		0x60, 0x64, 0x67, 0x6b, 0x6f, 0x73, 0x80, 0x84, 0x89, 0x8d, 0x90, 0x94, 0x99, 0x9e, 0xa3, 0xa8, 0xac,
		0xb0, 0xb1, 0xb4, 0xb9, 0xbb, 0xc0, 0xc4, 0xc8, 0xcb, 0xcc, 0xce, 0xcf, 0xd0, 0xd1})
	inOrder(t, out, engineStack...)
}

// The same on arm64, in an emulator.
func TestEngineOnARM64(t *testing.T) {
	gdb, qemu := testprogram.RequireTool(t, "gdb-multiarch"), testprogram.RequireTool(t, "qemu-aarch64")
	program := testprogram.BuildGoFor(t, "arm64", "../../../jit/gdb/testdata/engine")
	socket := filepath.Join(t.TempDir(), "gdb")
	emulator := exec.Command(qemu, "-g", socket, program)
	emulator.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	var said bytes.Buffer
	emulator.Stdout = &said
	if err := emulator.Start(); err != nil {
		t.Fatal(err)
	}
	defer emulator.Wait()
	defer emulator.Process.Kill()
	for _, err := os.Stat(socket); err != nil; _, err = os.Stat(socket) {
		time.Sleep(5 * time.Millisecond)
	}
	path := script(t, fmt.Sprintf(stepEngine, "target remote "+socket+"\ncontinue", 0x40, 0x160))
	out, err := output(t, exec.Command(gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no", "-ex", "source "+path, program))
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	emulator.Wait()
	var offsets []int
	for _, f := range [][2]int{{0, 0x3c}, {0x40, 0x68}, {0x80, 0xa4}, {0xb0, 0xdc}, {0xe0, 0xf8}, {0x100, 0x11c}, {0x120, 0x154}} {
		for at := f[0]; at < f[1]; at += 4 {
			offsets = append(offsets, at)
		}
	}
	checkSteps(t, out+said.String(), offsets)
	inOrder(t, out, engineStack...)
}

// lldb, and gdb and lldb for a core, show the same stack.
func TestEngineCore(t *testing.T) {
	program := buildEngine(t)
	frames := []string{`frame #0: .*main\.host`, `frame #1: .*callHost`, `frame #2: .*middle`, `frame #3: .*outer`, `frame #4: .*enter`, `frame #5: .*call\.Code`, `main\.main`}
	inOrder(t, lldb(t, []string{"breakpoint set -n main.host", "run", "bt"}, program), frames...)
	inOrder(t, lldb(t, []string{"breakpoint set -n middle", "run", "bt"}, program), // on the engine's stack
		`frame #0: .*middle`, `frame #1: .*outer`, `frame #2: .*enter`, `frame #3: .*call\.Code`, `main\.main`)

	p := testprogram.Start(t, program, "wait")
	core := testprogram.GCore(t, p.PID)
	inOrder(t, debug(t, []string{"thread apply all bt"}, program, core), engineStack...)
	inOrder(t, lldb(t, []string{"bt all"}, "-c", core, program), frames...)
}
