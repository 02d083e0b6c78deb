// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/hosted"
)

// report prints why the code has stopped, and where.
func (c *Console) report(stop *session.Stop, note string) error {
	if note != "" {
		c.printf("%s\n", note)
	}
	switch stop.Reason {
	case session.Returned:
		return c.reportReturn(stop)
	case session.Aborted:
		c.printf("[%s was aborted]\n", c.runningText())
		c.leaveScopes()
		return nil
	case session.ExitedProcess:
		c.printf("[%s exited with code %d]\n", c.runningText(), stop.ExitCode)
		c.leaveScopes()
		return nil
	case session.AtBreakpoint:
		return c.reportBreakpoint(stop)
	case session.AtWatchpoint:
		return c.reportWatchpoint(stop)
	case session.Signalled, session.Trapped:
		c.printf("\nProgram received signal %s, %s.\n", c.palette.Error.Text(signalName(stop.Signal.Number)), signalText(stop.Signal.Number))
		if words := signalWords(stop.Signal, stop.Reason == session.Trapped); words != "" {
			c.printf("%s.\n", words)
		}
		if c.overflowed(stop) {
			c.printf("Stack overflow: the address is in the guard below the stack.\n")
		}
	case session.Interrupted:
		c.printf("\nProgram received signal SIGINT, Interrupt.\n")
	case session.HostFailed:
		var abort *hosted.AbortError
		if errors.As(stop.Err, &abort) {
			c.printf("\nProgram received signal %s, Aborted.\n", c.palette.Error.Text("SIGABRT"))
			if abort.Message != "" {
				c.printf("%s\n", abort.Message)
			}
			break
		}
		c.printf("\nProgram stopped in a function of the host: %v.\n", stop.Err)
	case session.SteppedInstruction, session.SteppedLine, session.SteppedOver:
		c.showStep()
		return c.showDisplays()
	}
	c.showHere()
	return c.showDisplays()
}

// overflowed reports whether a fault is a stack overflow: an access at or just below the
// stack pointer, below the end of the stack's memory.
func (c *Console) overflowed(stop *session.Stop) bool {
	const near, page = 64 << 10, 4096
	if stop.Signal.Number != int(syscall.SIGSEGV) || stop.Signal.Code >= 0x80 {
		return false
	}
	r, err := c.session.Registers()
	if err != nil {
		return false
	}
	var b [1]byte
	readable := func(address uint64) bool { return c.session.ReadMemory(b[:], address) == nil }
	sp, at := r.SP(), stop.Signal.Address
	// A frame may be addressed above a stack pointer that is in the guard.
	if at > sp && (at-sp > near || readable(sp)) || at <= sp && sp-at > near || readable(at) {
		return false
	}
	for n := range uint64(near / page) {
		if above := at&^(page-1) + (n+1)*page; readable(above) {
			return above > at
		}
	}
	return false
}

func (c *Console) reportReturn(stop *session.Stop) error {
	text := ""
	var err error
	if c.running != nil && c.running.Result != nil {
		text, err = c.running.Result(stop)
	}
	c.leaveScopes()
	if err != nil {
		return err
	}
	if text == "" {
		c.printf("%s returned\n", c.runningText())
	} else {
		c.printf("%s = %s\n", c.runningText(), c.palette.Rule.Text(text))
	}
	return nil
}

// showHere prints the innermost frame and its source line.
func (c *Console) showHere() {
	f, err := c.frame(0)
	if err != nil {
		c.printf("0x%016x in ?? ()\n", c.stop.PC)
		if errors.Is(err, errNoFrame) {
			c.printf("The function has returned to the session; \"continue\" ends the call.\n")
		}
		return
	}
	c.printFrame(f, false)
	c.printLine(f, false)
}

// showStep prints where a step has led: in the same function only the line.
func (c *Console) showStep() {
	f, err := c.frame(0)
	if err != nil || f.Location.Line == 0 || !c.shown.stepped(c.here()) {
		c.showHere()
		return
	}
	c.printLine(f, true)
}

// signalName returns a signal's name: "SIGSEGV".
func signalName(n int) string {
	if s, ok := signals()[syscall.Signal(n)]; ok {
		return s.name
	}
	return fmt.Sprintf("signal %d", n)
}

// signalText returns gdb's words for a signal: "Segmentation fault".
func signalText(n int) string {
	if s, ok := signals()[syscall.Signal(n)]; ok {
		return s.text
	}
	return "unknown signal"
}

type signal struct {
	name, text string
	codes      map[int]string // by si_code; sigaction(2)
}

// signals are those that code itself can cause, with gdb's words.
var signals = sync.OnceValue(func() map[syscall.Signal]signal {
	return map[syscall.Signal]signal{
		syscall.SIGSEGV: {"SIGSEGV", "Segmentation fault", map[int]string{
			1: "Address not mapped to an object", 2: "No permission for this access to the memory", 3: "A bounds check failed",
			4: "Access denied by memory protection keys", 5: "Access denied by memory tags", 9: "Access denied by memory tags",
			10:   "A return address that the shadow stack does not have",
			0x80: "A non-canonical address, or an instruction that needs alignment or privilege",
		}},
		syscall.SIGBUS: {"SIGBUS", "Bus error", map[int]string{
			1: "The address is not aligned", 2: "The address has no memory: usually it is past the end of a mapped file",
			3: "An error of the hardware", 4: "A memory error of the hardware",
		}},
		syscall.SIGFPE: {"SIGFPE", "Arithmetic exception", map[int]string{
			1: "Integer division by zero, or a quotient that is too large", 2: "Integer overflow", 3: "Floating-point division by zero",
			4: "Floating-point overflow", 5: "Floating-point underflow", 6: "Inexact floating-point result", 7: "Invalid floating-point operation",
			8: "Subscript out of range",
		}},
		syscall.SIGILL: {"SIGILL", "Illegal instruction", map[int]string{
			1: "Not an instruction of this processor", 2: "Not an instruction of this processor", 3: "No such addressing mode", 4: "No such trap", 5: "The instruction is forbidden to programs",
			6: "The register is forbidden to programs", 7: "A coprocessor error", 8: "An error of the internal stack",
		}},
		syscall.SIGTRAP: {"SIGTRAP", "Trace/breakpoint trap", nil},
		syscall.SIGABRT: {"SIGABRT", "Aborted", nil},
		syscall.SIGSYS:  {"SIGSYS", "Bad system call", map[int]string{1: "Forbidden by seccomp", 2: "Forbidden by system call user dispatch"}},
	}
})

// signalWords explains a signal, with its address.
func signalWords(s session.Signal, itself bool) string {
	if itself && jit.Host().Name == "arm64" {
		return "A trap instruction of the code itself; \"set $pc = $pc + 4\" and \"continue\" go on after it"
	}
	if itself {
		return "A trap instruction of the code itself; \"continue\" goes on after it"
	}
	words := signals()[syscall.Signal(s.Number)].codes[s.Code]
	if words == "" {
		return ""
	}
	switch syscall.Signal(s.Number) {
	case syscall.SIGSEGV, syscall.SIGBUS:
		if s.Code < 0x80 { // of other faults the kernel knows no address
			words += fmt.Sprintf(", at %#x", s.Address)
		}
	}
	return words
}

func (c *Console) infoSignals(string) error {
	c.printf("Signals never reach the code: each stops it.\n\nSignal        Description\n")
	for _, n := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGSYS} {
		c.printf("%-13s %s\n", signalName(int(n)), strings.TrimSpace(signalText(int(n))))
	}
	return nil
}
