// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/session/hosted"
)

func (c *Console) report(stop *session.Stop) error {
	switch stop.Reason {
	case session.Returned:
		return c.reportReturn(stop)
	case session.Aborted:
		c.printf("[%s was aborted]\n", c.runningText())
		c.leaveScopes()
		return nil
	case session.ExitedProcess:
		switch {
		case stop.Signal.Number != 0:
			c.printf("[%s was killed by %v]\n", c.runningText(), stop.Signal)
		case stop.Err != nil:
			c.printf("[%s ended: %v]\n", c.runningText(), stop.Err)
		default:
			c.printf("[%s exited with code %d]\n", c.runningText(), stop.ExitCode)
		}
		c.leaveScopes()
		return nil
	case session.AtBreakpoint:
		return c.reportBreakpoint(stop)
	case session.AtWatchpoint:
		return c.reportWatchpoint(stop)
	case session.Signalled, session.Trapped:
		c.printf("\nProgram received signal %s, %s.\n", c.palette.Error.Text(frontend.SignalName(stop.Signal.Number)), frontend.SignalText(stop.Signal.Number))
		cause := frontend.SignalCause(stop.Signal)
		if stop.Reason == session.Trapped {
			cause = trapCause()
		}
		if cause != "" {
			c.printf("%s.\n", cause)
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

// overflowed reports whether a fault is a stack overflow: an access near the stack pointer,
// below the end of the stack's memory.
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
	return c.printReturn(c.runningText(), text, err)
}

// printReturn prints the result of a call, "" for none, unless reading it has failed.
func (c *Console) printReturn(call, result string, err error) error {
	switch {
	case err != nil:
	case result == "":
		c.printf("%s returned\n", call)
	default:
		c.printf("%s = %s\n", call, c.palette.Rule.Text(result))
	}
	return err
}

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

// showStep prints the place after a step: in the same function only the line.
func (c *Console) showStep() {
	f, err := c.frame(0)
	if err != nil || f.Location.Line == 0 || !c.shown.stepped(c.here()) {
		c.showHere()
		return
	}
	c.printLine(f, true)
}

func trapCause() string {
	if p := &jit.Host().Processor; p.TrapStops {
		return fmt.Sprintf("The code executed a trap instruction; \"set $pc = $pc + %d\" and \"continue\" go on after it", len(p.Trap))
	}
	return "The code executed a trap instruction; \"continue\" goes on after it"
}

func (c *Console) infoSignals(string) error {
	c.printf("Signals never reach the code: each stops it.\n\nSignal        Description\n")
	for _, n := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGSYS} {
		c.printf("%-13s %s\n", frontend.SignalName(int(n)), frontend.SignalText(int(n)))
	}
	return nil
}
