// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package console_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/console"
)

const nestedSource = `int cell = 7;
int step(int n) { int r = n + 1;
  return r * 2; }
int load(int *p) { return *p; }
void nothing(void) { cell++; }
double half(double x) { return x / 2; }
struct big { long a, b, c; } make(long a) { struct big b = {a, a + 1, a + 2}; return b; }
struct two { double x, y; } both(double a) { struct two t = {a, -a}; return t; }
struct two swapped(struct two t) { struct two s = {t.y, t.x}; return s; }
int length(const char *s) { int n = 0; while (*s++) n++; return n; }
long forever(void) { for (;;) cell++; }
int outer(int n) { struct two t = {1, 2}; int r = step(n);
  return r + n + cell; }
void exit(int);
void leave(int code) { exit(code); }
int main(int argc, char **argv) { return argc; }
`

// stoppedInOuter returns a console with a call of outer that is stopped.
func stoppedInOuter(t *testing.T) *program {
	t.Helper()
	p := open(t, console.Options{}, sources(t, "gcc", "n.c", nestedSource)...)
	p.dialogue(t, [][2]string{
		{"break outer", "Breakpoint 1 at ADDR: file n.c, line 12.\n"},
		{"call outer(1)", "\nBreakpoint 1, outer (n=1) at n.c:12\n12\tint outer(int n) { struct two t = {1, 2}; int r = step(n);\n"},
	})
	return p
}

// While a call is stopped, expressions call functions, and nothing else changes: the selected frame,
// the registers, the local variables.
func TestNestedCalls(t *testing.T) {
	p := stoppedInOuter(t)
	before := p.do("info all-registers")
	p.dialogue(t, [][2]string{
		{"p step(3)", "$1 = 8\n"},
		{"p step(3) + n + step(n)", "$2 = 13\n"},
		{"p nothing()", "$3 = void\n"},
		{"p cell", "$4 = 8\n"},
		{"call nothing()", ""},
		{"call step(4)", "$5 = 10\n"},
		{"p half(3)", "$6 = 1.5\n"},
		{"p make(5)", "$7 = {a = 5, b = 6, c = 7}\n"},
		{"p make(5).c + step(n)", "$8 = 11\n"},
		{"p both(1.5)", "$9 = {x = 1.5, y = -1.5}\n"},
		{`p length("four") * 2`, "$10 = 8\n"},
		{"p swapped(t)", "argument 1 of swapped: struct two cannot be passed: only numbers, pointers and strings can\n"},
		{"p main(1)", "Too few arguments in function call.\n"},
		{`call main("one")`, "main cannot be called while a call is stopped; \"continue\" or \"kill\" it first\n"},
		{"run", "outer(1) is stopped; \"continue\" or \"kill\" it first\n"},
		{"bt", "#0  outer (n=1) at n.c:12\n"},
	})
	if after := p.do("info all-registers"); after != before {
		t.Errorf("the registers were\n%s\nand are\n%s", before, after)
	}
	p.dialogue(t, [][2]string{
		{"finish", "Run till exit from #0  outer (n=1) at n.c:12\nouter(1) = 14\n"},
		{"p step(5)", "$12 = 12\n"},
	})
}

// A nested call that stops is stepped, finished, continued and aborted; calls in it are nested again.
func TestNestedStops(t *testing.T) {
	p := stoppedInOuter(t)
	const abandoned = "The program being debugged stopped while in a function called from Clew.\n" +
		"Evaluation of the expression containing the function\n(step) will be abandoned.\nthe expression has no value; \"finish\" or \"abort\" goes back to the stop in "
	at := func(n string) string {
		return "\nBreakpoint 2, step (n=" + n + ") at n.c:2\n2\tint step(int n) { int r = n + 1;\n"
	}
	const outer = "outer (n=1) at n.c:12\n12\tint outer(int n) { struct two t = {1, 2}; int r = step(n);\n"
	p.dialogue(t, [][2]string{
		{"break step", "Breakpoint 2 at ADDR: file n.c, line 2.\n"},
		{"p step(3) + 1", at("3") + abandoned + "outer(1)\n"},
		{"bt", "#0  step (n=3) at n.c:2\n#1  <function called from Clew>\n#2  outer (n=1) at n.c:12\n"},
		{"watch r", "Hardware watchpoint 3: r\n"},
		{"p step(4)", at("4") + abandoned + "step(...)\n"},
		{"bt", "#0  step (n=4) at n.c:2\n#1  <function called from Clew>\n#2  step (n=3) at n.c:2\n#3  <function called from Clew>\n#4  outer (n=1) at n.c:12\n"},
		{"p n", "$1 = 4\n"},
		{"up 2", "#2  step (n=3) at n.c:2\n2\tint step(int n) { int r = n + 1;\n"},
		{"p n", "$2 = 3\n"},
		{"finish", "frame 2 waits for the end of the nested call: \"finish\" or \"abort\" that first\n"},
		{"down", "#1  <function called from Clew>\n"},
		{"info locals", "No symbol table info available.\n"},
		{"set var $pc = 0", "frame 1 has no registers of its own\n"},
		{"abort", "[step(...) was aborted]\nstep (n=3) at n.c:2\n2\tint step(int n) { int r = n + 1;\n"},
		{"n", "\nHardware watchpoint 3: r\n\nOld value = ANY\nNew value = 4\nstep (n=3) at n.c:3\n3\t  return r * 2; }\n"},
		{"delete 3", ""},
		{"finish", "Run till exit from #0  step (n=3) at n.c:3\n" + outer + "Value returned is $3 = 8\n"},
		{"p step(5)", at("5") + abandoned + "outer(1)\n"},
		{"c", "Continuing.\n" + outer},
		{"p half(3)", "$4 = 1.5\n"},
		{"call step(6)", at("6") + abandoned + "outer(1)\n"},
		{"p step(7)", at("7") + abandoned + "step(6)\n"},
		{"kill", "[outer(1) was aborted]\n"},
		{"bt", "no call is stopped: \"run\" calls outer(1), \"start\" stops at its beginning\n"},
		{"p half(3)", "$5 = 1.5\n"},
	})
}

// A fault in a nested call is where the call stays, or, with unwindonsignal, where it is aborted.
func TestNestedFaults(t *testing.T) {
	p := stoppedInOuter(t)
	const fault = "\nProgram received signal SIGSEGV, Segmentation fault.\nAddress not mapped to an object, at 0x10.\n" +
		"ADDR in load (p=0x10) at n.c:4\n4\tint load(int *p) { return *p; }\n"
	const signaled = "The program being debugged was signaled while in a function called from Clew.\n"
	const end = "Evaluation of the expression containing the function\n(load) will be abandoned.\n"
	p.dialogue(t, [][2]string{
		{"p load((int *)16)", fault + signaled + "Clew remains in the frame where the signal was received.\nTo change this behavior use \"set unwindonsignal on\".\n" +
			end + "the expression has no value; \"finish\" or \"abort\" goes back to the stop in outer(1)\n"},
		{"c", "Continuing.\n" + fault},
		{"abort", "[load(...) was aborted]\nouter (n=1) at n.c:12\n12\tint outer(int n) { struct two t = {1, 2}; int r = step(n);\n"},
		{"set unwindonsignal on", ""},
		{"p load((int *)16)", fault + signaled + "Clew has restored the context to what it was before the call.\nTo change this behavior use \"set unwindonsignal off\".\n" + end + "the expression has no value\n"},
		{"bt", "#0  outer (n=1) at n.c:12\n"},
		{"set unwindonsignal maybe", "\"on\" or \"off\" expected, got \"maybe\"\n"},
		{"p leave(3)", "[outer(1) exited with code 3]\nThe program being debugged exited while in a function called from Clew.\n" +
			"Evaluation of the expression containing the function\n(leave) will be abandoned.\nthe expression has no value\n"},
		{"p half(3)", "ANY"},
	})
}

// An endless nested call is interrupted and aborted, or its worker is killed.
func TestNestedForever(t *testing.T) {
	p := stoppedInOuter(t)
	whenRunning := func(f func()) {
		go func() {
			for p.session.State() != session.Running {
				runtime.Gosched()
			}
			time.Sleep(10 * time.Millisecond)
			f()
		}()
	}
	whenRunning(p.Interrupt)
	if got := p.do("p forever()"); !strings.Contains(got, "received signal SIGINT") || !strings.Contains(got, "stopped while in a function called from Clew") {
		t.Errorf("the interrupted call prints %s", got)
	}
	if got := p.do("bt"); !strings.Contains(got, "forever () at n.c:11\n#1  <function called from Clew>\n#2  outer (n=1) at n.c:12\n") {
		t.Errorf("the stack is %s", got)
	}
	p.dialogue(t, [][2]string{{"abort", "[forever(...) was aborted]\nouter (n=1) at n.c:12\n12\tint outer(int n) { struct two t = {1, 2}; int r = step(n);\n"}})
	whenRunning(func() { syscall.Kill(p.session.PID(), syscall.SIGKILL) })
	if got := p.do("p forever()"); !strings.HasPrefix(got, "[outer(1) was killed by SIGKILL]\nThe program being debugged exited while in a function called from Clew.\n") {
		t.Errorf("the killed call prints %s", got)
	}
	p.dialogue(t, [][2]string{{"p half(3)", "$1 = 1.5\n"}})
}

// A condition cannot call functions.
func TestConditionsDoNotCall(t *testing.T) {
	p := stoppedInOuter(t)
	const refusal = "conditions and log messages cannot call functions, because the code is stopped at the breakpoint; compare variables and members instead\n"
	p.dialogue(t, [][2]string{
		{"break step if half(n) > 1", refusal},
		{"watch cell if step(1)", refusal},
		{"condition 1 n + step(n)", refusal},
		{"condition 1 n == 1", ""},
	})
}
