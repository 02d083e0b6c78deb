// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package console_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/console"
)

func TestComplete(t *testing.T) {
	t.Chdir("testdata")
	p := open(t, console.Options{}, compile(t, "rooms.c", "-O0", "-g"))
	p.do("break measure")
	p.do("call walk(2)")
	programCounter := map[string]string{"amd64": "rip", "arm64": "pc"}[runtime.GOARCH]
	for _, test := range []struct {
		line  string // the cursor is at the |
		start int
		want  string // some of the words; all of them after =
	}{
		{"|", 0, "break call"},
		{"br|", 0, "=break"},
		{"wa|", 0, "=watch"},
		{"info reg|", 5, "=registers"},
		{"i lo|", 2, "=locals"},
		{"info registers " + programCounter[:len(programCounter)-1] + "|", 15, programCounter},
		{"break me|", 6, "=measure memchr memcmp memcpy memmove memset"},
		{"break roo|", 6, "=rooms.c:"},
		{"b *me|", 3, "=measure memchr memcmp memcpy memmove memset"},
		{"break make if su|", 14, "sum"},
		{"print su|", 6, "=sum"},
		{"p 1 + r|", 6, "r"},
		{"p/x gree|", 4, "=greeting"},
		{"p $" + programCounter[:len(programCounter)-1] + "|", 2, "$" + programCounter},
		{"call wa|", 5, "=walk("},
		{"call walk(ma|", 10, "made main make malloc"},
		{"help fin|", 5, "=finish"},
		{"source ro|", 7, "=rooms.c rooms.txt"},
		{"nosuch x|", 8, "="},
		{"p x| + y", 2, "="},
		{"finish |", 7, "="},
		{"x/4xw gree|", 6, "=greeting"},
	} {
		cursor := strings.IndexByte(test.line, '|')
		line := strings.Replace(test.line, "|", "", 1)
		start, words := p.Complete(line, cursor)
		want, all := strings.CutPrefix(test.want, "=")
		for _, w := range strings.Fields(want) {
			if !slices.Contains(words, w) {
				t.Errorf("%s: no %s in %q", test.line, w, words)
			}
		}
		if all && len(words) != len(strings.Fields(want)) {
			t.Errorf("%s: %q, want %s", test.line, words, want)
		}
		if len(words) > 0 && start != test.start {
			t.Errorf("%s: the word starts at %d, want %d", test.line, start, test.start)
		}
	}
}

// Interrupt stops an endless call, and commands that repeat.
func TestInterrupt(t *testing.T) {
	t.Chdir("testdata")
	p := open(t, console.Options{}, compile(t, "faults.c", "-O0", "-g"))
	interrupt := func() (stop func()) {
		done := make(chan struct{})
		go func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(20 * time.Millisecond):
					p.Interrupt()
				}
			}
		}()
		return func() { close(done) }
	}
	stop := interrupt()
	if got := p.do("call forever()"); !strings.Contains(got, "received signal SIGINT, Interrupt.\n") || !strings.Contains(got, "forever () at faults.c:") {
		t.Errorf("call forever() prints %q", got)
	}
	stop()
	// On a slow machine the function may have only begun. The next commands need its loop.
	if got := p.do("until 38"); !strings.Contains(got, "n++") {
		t.Fatalf("until 38 prints %q", got)
	}
	for _, command := range []string{"stepi 1000000", "step 1000000", "until", "continue"} {
		stop := interrupt()
		if got := p.do(command); !strings.Contains(got, "faults.c:") && !strings.Contains(got, "n++") {
			t.Errorf("%s prints %q", command, got)
		}
		stop()
	}
	if p.session.State() != session.Stopped {
		t.Fatalf("the session is %v", p.session.State())
	}
}

// A stack overflow is a fault. The printed stack is bounded.
func TestStackOverflow(t *testing.T) {
	t.Chdir("testdata")
	p := open(t, console.Options{}, compile(t, "faults.c", "-O0", "-g"))
	if got := p.do("call recurse(0)"); !strings.Contains(got, "SIGSEGV") || !strings.Contains(got, "\nStack overflow: the address is in the guard below the stack.\n") {
		t.Errorf("call prints %q", got)
	}
	if got := p.do("bt 3"); strings.Count(got, "\n") != 4 || !strings.HasSuffix(got, "(More stack frames follow...)\n") {
		t.Errorf("bt 3 prints %q", got)
	}
	if got := p.do("bt -1"); !strings.Contains(got, "recurse (n=0)") || !regexp.MustCompile(`^#[0-9]{4,} 0x`).MatchString(got) {
		t.Errorf("bt -1 prints %q", got)
	}
	p.do("kill")
	if got := p.do("call load(16)"); strings.Contains(got, "Stack overflow") || !strings.Contains(got, "at 0x10.\n") {
		t.Errorf("an invalid pointer prints %q", got)
	}
	if got := p.do("kill"); !strings.Contains(got, "aborted") {
		t.Errorf("kill prints %q", got)
	}
	p.do("call recurse(0)")
	if !p.Abnormal() {
		t.Error("a stack overflow is not abnormal")
	}
	p.output.Reset()
	if err := p.Report(); err != nil {
		t.Fatal(err)
	}
	if got := p.output.String(); !strings.Contains(got, "=> 0x") || strings.Count(got, "\n") > 60 {
		t.Errorf("the report is %s", got)
	}
}

func TestScripts(t *testing.T) {
	folder := t.TempDir()
	itself := filepath.Join(folder, "itself")
	if err := os.WriteFile(itself, []byte("source "+itself+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(folder, "inner")
	if err := os.WriteFile(inner, []byte("echo a\\n\n# note\n\nprint 1 +\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir("testdata")
	p := open(t, console.Options{}, compile(t, "fib.c", "-O0", "-g"))
	for _, test := range []struct{ script, want, err string }{
		{"print 1\nprint 2\n", "$1 = 1\n$2 = 2\n", ""},
		{"echo \\101\\x42\\tc\\\\n\\n\nquit\necho no\n", "AB\tc\\n\n", "quit"},
		{"echo x\\n\nnosuch\n", "x\n", `script:2: undefined command: "nosuch"; try "help"; "clew debug --gdb" starts gdb`},
		{"source " + inner, "a\n", "script:1: " + inner + ":4: "},
		{"source " + itself, "", "nested scripts"},
		{"source absent", "", "script:1: open absent: no such file or directory"},
		{"break fib\ncommands\nbt 1\nprint n\ncontinue\nend\nrun fib(1)\n",
			"Breakpoint 1 at ADDR: file fib.c, line 6.\n\nBreakpoint 1, fib (n=1) at fib.c:6\n6\t  total++;\n#0  fib (n=1) at fib.c:6\n$3 = 1\nContinuing.\nfib(1) = 1\n", ""},
		{"commands\nbt", "", "script:3: \"commands\" without \"end\""},
	} {
		p.output.Reset()
		err := p.Run("script", strings.NewReader(test.script))
		if got := normal(p.output.String()); got != test.want {
			t.Errorf("%q prints\n%s\nwant\n%s", test.script, got, test.want)
		}
		if err == nil && test.err != "" || err != nil && (test.err == "" || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%q: %v, want %s", test.script, err, test.err)
		}
		var failed *console.ScriptError
		if err != nil && !errors.Is(err, console.ErrQuit) && !errors.As(err, &failed) {
			t.Errorf("%q: an error of %T", test.script, err)
		}
	}
}

// Calls, stacks and code are shown without debugging information.
func TestWithoutDebuggingInformation(t *testing.T) {
	t.Chdir("testdata")
	p := open(t, console.Options{}, compile(t, "fib.c", "-O1"))
	argument := map[string]string{"amd64": "$rdi", "arm64": "$x0"}[runtime.GOARCH]
	for _, test := range []struct{ command, want string }{
		{"call fib(10)", "fib(10) = 55\n"},
		{"break fib", "Breakpoint 1 at ADDR\n"},
		{"run", "\nBreakpoint 1, ADDR in fib ()\n"},
		{"bt", "#0  ADDR in fib ()\n"},
		{"info locals", "No symbol table info available.\n"},
		{"info args", "No symbol table info available.\n"},
		{"p " + argument, "$2 = 10\n"},
		{"delete", ""},
		{"next", "Single stepping"},
		{"list", "no function has source lines; compile with -g\n"},
		{"finish", ""},
	} {
		got := normal(p.do(test.command))
		if test.command == "next" || test.command == "finish" {
			continue // without lines they may stop anywhere
		}
		if got != test.want {
			t.Errorf("%s prints\n%s\nwant\n%s", test.command, got, test.want)
		}
	}
}

// Every command has help. Each of its abbreviations is the command or ambiguous.
func TestHelp(t *testing.T) {
	t.Chdir("testdata")
	p := open(t, console.Options{}, compile(t, "fib.c"))
	list := p.do("help")
	commands := 0
	for line := range strings.Lines(list) {
		name, ok := strings.CutPrefix(line, "  ")
		if !ok {
			continue
		}
		commands++
		name = strings.TrimRight(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == ',' })[0], ",")
		help := p.do("help " + name)
		if !strings.Contains(help, "\nUsage: "+name) {
			t.Errorf("help %s prints %q", name, help)
		}
		for n := 1; n <= len(name); n++ {
			got := p.do("help " + name[:n])
			if !strings.Contains(got, "\nUsage: ") && !strings.HasPrefix(got, "ambiguous command ") {
				t.Errorf("help %s prints %q", name[:n], got)
			}
		}
	}
	if commands < 40 {
		t.Errorf("help lists %d commands", commands)
	}
	// The abbreviations of gdb.
	for short, long := range map[string]string{
		"b": "break", "bt": "backtrace", "where": "backtrace", "c": "continue", "d": "delete", "f": "frame", "fin": "finish",
		"h": "help", "i": "info", "k": "kill", "l": "list", "n": "next", "ni": "nexti", "p": "print", "q": "quit", "r": "run",
		"s": "step", "si": "stepi", "tb": "tbreak", "u": "until", "wa": "watch", "dis": "disable", "disas": "disassemble",
		"cont": "continue", "disp": "display", "und": "undisplay", "adv": "advance", "wha": "whatis", "pt": "ptype", "ig": "ignore",
	} {
		if got := p.do("help " + short); !strings.Contains(got, "\nUsage: "+long) {
			t.Errorf("help %s prints %q", short, got)
		}
	}
}

// FuzzExecute checks that no line makes the console panic or hang.
func FuzzExecute(f *testing.F) {
	p := open(f, console.Options{}, compile(f, filepath.Join("testdata", "fib.c"), "-O0", "-g"))
	for _, line := range []string{
		"break fib if n == 3", "call fib(3)", "x/4xw $sp", "p/x total@3", "list 3,5", "disas /rs fib", "info line *$pc", "display/2i $pc",
		"watch -l total", "commands 1", "end", "ignore 1 -1", "up 3", "frame function fib", "echo \\x", "tb *0", "set var total = 3", "info registers rip",
		"call fib(", "undisplay 1-2", "condition 1", "until 11", "x/s 0", "ptype struct x", "info functions (", "list -", "kill", "\"", "p $1",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "quit") || strings.Contains(line, "so") || len(line) > 200 {
			return // source could open a device
		}
		timer := time.AfterFunc(200*time.Millisecond, p.Interrupt)
		defer timer.Stop()
		for _, l := range []string{"call fib(1)", line, "kill", "delete", "undisplay"} {
			p.do(l)
			p.Complete(l, len(l))
		}
	})
}

// A frame of a library at a load bias has its variables, including those of nested blocks.
func TestBiasedFrame(t *testing.T) {
	source := testprogram.Path("programs/biased.c")
	library := testprogram.Build(t, "biased.c", "-shared", "-nostdlib", "-DLIBRARY", "-O0", "-g", "-gdwarf-5", "-fPIC")
	between := testprogram.MapLibrary(t, library, "between")
	p := open(t, console.Options{}, compile(t, source, "-O0", "-g"))
	p.do("break back")
	if got := p.do(fmt.Sprintf("call enter(%#x, 5)", between)); !strings.Contains(got, "back (n=11)") {
		t.Fatalf("call prints %q", got)
	}
	if got := p.do("up"); !strings.Contains(got, "between (back=") || !strings.Contains(got, ", n=5) at ") || !strings.Contains(got, "// NESTED\n") {
		t.Errorf("up prints %q", got)
	}
	for command, want := range map[string]string{
		"info locals":        "total = 12\ninner = 11\ntotal = 10\n",
		"output total":       "12",
		"output inner + n":   "16",
		"output file_global": "70",
	} {
		if got := p.do(command); got != want {
			t.Errorf("%s prints %q, want %q", command, got, want)
		}
	}
	if _, words := p.Complete("print file_", len("print file_")); !slices.Equal(words, []string{"file_global"}) {
		t.Errorf("file_ completes to %q", words)
	}
	if got := p.do("up"); !strings.Contains(got, "enter (between=") || !strings.Contains(got, "n=5) at ") {
		t.Errorf("up prints %q", got)
	}
	if got := p.do("up"); !strings.Contains(got, "can't go up") {
		t.Errorf("up prints %q", got)
	}
}
