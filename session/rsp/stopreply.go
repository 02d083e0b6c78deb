// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"
	"syscall"

	"github.com/clewdev/clew/session"
)

// gdb's numbers of signals, which are the same for all systems (gdb's signals.def). lldb uses the
// system's numbers.
const (
	gdbInterrupt = 2
	gdbTrap      = 5
	gdbKill      = 9
	gdbTerminate = 15
	gdbUnknown   = 143
)

// gdbSignals are gdb's numbers that differ from those of Linux (signal(7)), by Linux's number.
var gdbSignals = [...]int{
	7: 10, 10: 30, 12: 31, 17: 20, 18: 19, 19: 17, 20: 18, 21: 21, 22: 22, 23: 16,
	24: 24, 25: 25, 26: 26, 27: 27, 28: 28, 29: 23, 30: 32, 31: 12,
}

// signal returns the client's number for a signal of Linux.
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

// status returns the stop reply for c.at (GDB manual, "Stop Reply Packets").
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
	signal, reason, lldb := c.stopReason()
	var b strings.Builder
	fmt.Fprintf(&b, "T%02xthread:%s;%s", signal, c.thread(), reason)
	if c.lldb {
		fmt.Fprintf(&b, "name:%s;threads:%s;thread-pcs:%x;", threadName, c.thread(), c.pc())
		if lldb != "watchpoint" { // "watch" is the reason
			fmt.Fprintf(&b, "reason:%s;", lldb)
		}
	}
	for n, value := range c.frameRegisters() {
		fmt.Fprintf(&b, "%02x:%s;", n, value)
	}
	return b.String()
}

// stopReason returns the signal, gdb's reason and lldb's reason for c.at.
func (c *client) stopReason() (signal int, reason, lldb string) {
	if c.at.event.entry != 0 {
		return gdbTrap, c.breakReason(kindSoftware), "breakpoint"
	}
	st := &c.at.stop
	b := c.breakpointAt(st.PC)
	switch st.Reason {
	case session.AtBreakpoint:
		if b != nil {
			reason = c.breakReason(b.kind)
		}
		return gdbTrap, reason, "breakpoint"
	case session.AtWatchpoint:
		if b := c.watchpointOf(st.Watchpoint); b != nil {
			reason = fmt.Sprintf("%s:%x;", b.kind.stopReason(), st.Watchpoint.Address)
		}
		return gdbTrap, reason, "watchpoint"
	case session.Signalled, session.Trapped:
		if st.Reason == session.Signalled && st.Signal.Number == int(syscall.SIGSEGV) && b != nil && b.passive {
			// The fault is the hit of a breakpoint in memory that is not executable, for example of
			// gdb's breakpoint on the stack at the end of a call.
			return gdbTrap, c.softwareReason(b), "breakpoint"
		}
		if st.Signal.Number != 0 {
			return c.signal(st.Signal.Number), "", "signal"
		}
	case session.Interrupted:
		if !c.at.quiet {
			return gdbInterrupt, "", "signal"
		}
	case session.HostFailed:
		return c.signal(int(syscall.SIGABRT)), "", "signal"
	case session.Returned:
		if b != nil {
			return gdbTrap, c.softwareReason(b), "breakpoint"
		}
	}
	return gdbTrap, "", "trace"
}

// softwareReason is breakReason for a breakpoint without a debug register.
func (c *client) softwareReason(b *breakpoint) string {
	if b.kind != kindSoftware {
		return ""
	}
	return c.breakReason(b.kind)
}

// breakReason returns gdb's reason for a kind of breakpoint, or "" if the client does not support it.
func (c *client) breakReason(kind breakpointKind) string {
	switch {
	case kind == kindHardware && c.hardwareBreak:
		return "hwbreak:;"
	case kind == kindSoftware && c.softwareBreak:
		return "swbreak:;"
	}
	return ""
}

// frameRegisters returns the registers of stop replies: numbers, and values in hexadecimal.
func (c *client) frameRegisters() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		r := c.server.registers
		for _, n := range []int{r.fp, r.sp, r.pc} {
			if n < 0 {
				continue
			}
			if value, err := c.readRegister(n); err == nil && !yield(n, hex.EncodeToString(value)) {
				return
			}
		}
	}
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

// thread returns the worker's only thread in the client's syntax.
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
