// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package console_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/session/console"
)

// sources writes files, by name and text in turn, makes their folder the current
// one, and compiles each.
func sources(t *testing.T, compiler string, files ...string) (paths []string) {
	t.Helper()
	cc := testprogram.RequireTool(t, compiler)
	t.Chdir(t.TempDir())
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(files[i], []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
		path := strings.TrimSuffix(files[i], filepath.Ext(files[i])) + ".o"
		if out, err := exec.Command(cc, "-g", "-O0", "-c", "-o", path, files[i]).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", files[i], err, out)
		}
		paths = append(paths, path)
	}
	return paths
}

// dialogue executes commands and compares what they print.
func (p *program) dialogue(t *testing.T, steps [][2]string) {
	t.Helper()
	for _, s := range steps {
		if got := normal(p.do(s[0])); got != s[1] {
			t.Errorf("%s prints\n%s\nwant\n%s", s[0], got, s[1])
		}
	}
}

// A trap behind the last instruction of a call has no frame.
func TestStopBehindTheReturn(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("skipped: the trap flag is amd64's")
	}
	p := open(t, console.Options{}, sources(t, "gcc", "f.s", ".globl f\n.type f,@function\nf: pushf\n orl $0x100,(%rsp)\n popf\n ret\n")...)
	stop := "\nProgram received signal SIGTRAP, Trace/breakpoint trap.\nA trap instruction of the code itself; \"continue\" goes on behind it.\n"
	none := "no frame: the function has returned to the session, and \"continue\" ends the call\n"
	p.dialogue(t, [][2]string{
		{"call f", stop + "ADDR in ?? ()\nThe function has returned to the session; \"continue\" ends the call.\n"},
		{"frame", none}, {"up", none}, {"finish", none}, {"info locals", none}, {"info frame", none}, {"until", none},
		{"p 1", "$1 = 1\n"},
	})
	for _, command := range []string{"bt", "next", "step", "stepi", "display/i $pc", "info registers", "x/i $pc", "continue", "continue"} {
		p.do(command) // none may panic
	}
}

func TestConstructors(t *testing.T) {
	files := sources(t, "gcc", "c.c", `int ready; void *nowhere;
__attribute__((constructor(101))) void first(void) { ready = 1; }
__attribute__((constructor(102))) void second(void) { ready = ready * 10 + 2; }
int get(void) { return ready; }
`)
	p := open(t, console.Options{}, files...)
	p.dialogue(t, [][2]string{{"call get()", "get() = 12\n"}, {"call get()", "get() = 12\n"}})
	p = open(t, console.Options{}, files...)
	p.dialogue(t, [][2]string{
		{"break second", "Breakpoint 1 at ADDR: file c.c, line 3.\n"},
		{"start get()", "Running the constructor second.\n\nBreakpoint 1, second () at c.c:3\n" +
			"3\t__attribute__((constructor(102))) void second(void) { ready = ready * 10 + 2; }\n"},
		{"p ready", "$1 = 1\n"},
		{"continue", "Continuing.\nget () at c.c:4\n4\tint get(void) { return ready; }\n"},
		{"continue", "Continuing.\nget() = 12\n"},
		{"run", "get() = 12\n"},
	})
	p = open(t, console.Options{}, files...)
	p.do("break second")
	p.do("call get()")
	p.dialogue(t, [][2]string{{"kill", "[the constructor second was aborted]\n"}, {"call get()", "get() = 1\n"}})
}
