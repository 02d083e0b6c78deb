// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"syscall"

	"github.com/clewdev/clew/session"
)

// Signals as gdb numbers them in the protocol, whatever the system (gdb's
// signals.def); lldb takes the system's own numbers.
const (
	gdbInterrupt = 2
	gdbTrap      = 5
	gdbKill      = 9
	gdbTerminate = 15
	gdbUnknown   = 143
)

// gdbSignals are the numbers of gdb that differ from those of Linux (signal(7)),
// by these.
var gdbSignals = [...]int{
	7: 10, 10: 30, 12: 31, 17: 20, 18: 19, 19: 17, 20: 18, 21: 21, 22: 22, 23: 16,
	24: 24, 25: 25, 26: 26, 27: 27, 28: 28, 29: 23, 30: 32, 31: 12,
}

// signal returns the number of a signal of Linux for the client.
func (c *client) signal(number int) int {
	if c.lldb {
		return number
	}
	if number > 0 && number < len(gdbSignals) && gdbSignals[number] != 0 {
		return gdbSignals[number]
	}
	if number <= 0 || number > 15 {
		return gdbUnknown
	}
	return number
}

// status returns the stop reply for where the session stands (GDB manual, "Stop
// Reply Packets").
func (c *client) status() string {
	st := &c.at.stop
	switch {
	case c.at.exited && st.Signal.Number != 0:
		return fmt.Sprintf("X%02x%s", c.signal(st.Signal.Number), c.processSuffix())
	case c.at.exited && st.ExitCode < 0:
		return fmt.Sprintf("X%02x%s", gdbKill, c.processSuffix())
	case c.at.exited:
		return fmt.Sprintf("W%02x%s", st.ExitCode&0xff, c.processSuffix())
	}
	signal, reason, lldb := gdbTrap, "", "trace"
	switch st.Reason {
	case session.AtBreakpoint:
		lldb = "breakpoint"
		switch b := c.breakpointAt(st.PC); {
		case b == nil:
		case b.kind == kindHardware && c.hardwareBreak:
			reason = "hwbreak:;"
		case b.kind == kindSoftware && c.softwareBreak:
			reason = "swbreak:;"
		}
	case session.AtWatchpoint:
		lldb = "watchpoint"
		if b := c.watchpointOf(st.Watchpoint); b != nil {
			reason = fmt.Sprintf("%s:%x;", b.kind.stopReason(), st.Watchpoint.Address)
		}
	case session.Signalled, session.Trapped:
		if st.Signal.Number != 0 {
			signal, lldb = c.signal(st.Signal.Number), "signal"
		}
		if st.Reason == session.Signalled && st.Signal.Number == int(syscall.SIGSEGV) {
			// Where a client has a breakpoint on memory that is not executable, as
			// gdb has on the stack for the end of a call: the fault is the hit.
			if b := c.breakpointAt(st.PC); b != nil && b.passive {
				signal, lldb = gdbTrap, "breakpoint"
				if c.softwareBreak && b.kind == kindSoftware {
					reason = "swbreak:;"
				}
			}
		}
	case session.Interrupted:
		if !c.at.quiet {
			signal, lldb = gdbInterrupt, "signal"
		}
	case session.HostFailed:
		signal, lldb = c.signal(int(syscall.SIGABRT)), "signal"
	case session.Returned:
		if b := c.breakpointAt(st.PC); b != nil {
			lldb = "breakpoint"
			if c.softwareBreak && b.kind == kindSoftware {
				reason = "swbreak:;"
			}
		}
	}
	if c.at.event.entry != 0 {
		signal, reason, lldb = gdbTrap, "", "breakpoint"
		if c.softwareBreak {
			reason = "swbreak:;"
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "T%02xthread:%s;%s", signal, c.thread(), reason)
	if c.lldb {
		fmt.Fprintf(&b, "name:%s;threads:%s;thread-pcs:%x;", threadName, c.thread(), c.pc())
		if lldb != "watchpoint" { // "watch" says it
			fmt.Fprintf(&b, "reason:%s;", lldb)
		}
	}
	r := c.server.registers
	for _, n := range []int{r.fp, r.sp, r.pc} {
		if n < 0 {
			continue
		}
		value, err := c.readRegister(n)
		if err == nil {
			fmt.Fprintf(&b, "%02x:%s;", n, hex.EncodeToString(value))
		}
	}
	return b.String()
}

// pc returns the program counter as the client sees it.
func (c *client) pc() uint64 {
	value, err := c.readRegister(c.server.registers.pc)
	if err != nil || len(value) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(value)
}

// sigInfo returns the kernel's siginfo_t for a stop (include/uapi/asm-generic/siginfo.h).
func (c *client) sigInfo() string {
	st := &c.at.stop
	if st.Signal.Number == 0 {
		return ""
	}
	var b [128]byte
	binary.LittleEndian.PutUint32(b[0:], uint32(st.Signal.Number))
	binary.LittleEndian.PutUint32(b[8:], uint32(st.Signal.Code))
	binary.LittleEndian.PutUint64(b[16:], st.Signal.Address)
	return string(b[:])
}

// thread returns the worker's only thread as the client numbers it.
func (c *client) thread() string {
	if c.multiprocess {
		return fmt.Sprintf("p%x.%x", c.pid, c.pid)
	}
	return fmt.Sprintf("%x", c.pid)
}

func (c *client) processSuffix() string {
	if c.multiprocess {
		return fmt.Sprintf(";process:%x", c.pid)
	}
	return ""
}
