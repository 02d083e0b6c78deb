// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/session"
)

// SignalName returns the name of a signal: "SIGSEGV".
func SignalName(n int) string {
	if name := unix.SignalName(unix.Signal(n)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", n)
}

// SignalText returns gdb's text for a signal: "Segmentation fault".
func SignalText(n int) string {
	if s, ok := signals()[unix.Signal(n)]; ok {
		return s.text
	}
	return "unknown signal"
}

// SignalCause explains the code of a signal, with the address of a memory fault: "Address
// not mapped to an object, at 0x10". It is "" for an unknown code.
func SignalCause(s session.Signal) string {
	cause := signals()[unix.Signal(s.Number)].codes[s.Code]
	switch unix.Signal(s.Number) {
	case unix.SIGSEGV, unix.SIGBUS:
		if cause != "" && s.Code < 0x80 { // for other faults the kernel knows no address
			cause += fmt.Sprintf(", at %#x", s.Address)
		}
	}
	return cause
}

type signal struct {
	text  string
	codes map[int]string
}

// signals are the signals that code itself can cause. The codes are those of si_code
// (sigaction(2)).
var signals = sync.OnceValue(func() map[unix.Signal]signal {
	return map[unix.Signal]signal{
		unix.SIGSEGV: {"Segmentation fault", map[int]string{
			1: "Address not mapped to an object", 2: "No permission for this access to the memory", 3: "A bounds check failed",
			4: "Access denied by memory protection keys", 5: "Access denied by memory tags", 9: "Access denied by memory tags",
			10:   "The return address differs from the one in the shadow stack",
			0x80: "A non-canonical address, or an instruction that needs alignment or privilege",
		}},
		unix.SIGBUS: {"Bus error", map[int]string{
			1: "The address is not aligned", 2: "The address has no memory: usually it is past the end of a mapped file",
			3: "A hardware error", 4: "A hardware memory error",
		}},
		unix.SIGFPE: {"Arithmetic exception", map[int]string{
			1: "Integer division by zero, or a quotient that is too large", 2: "Integer overflow", 3: "Floating-point division by zero",
			4: "Floating-point overflow", 5: "Floating-point underflow", 6: "Inexact floating-point result", 7: "Invalid floating-point operation",
			8: "Subscript out of range",
		}},
		unix.SIGILL: {"Illegal instruction", map[int]string{
			1: "Not an instruction of this processor", 2: "Not an instruction of this processor", 3: "Unknown addressing mode", 4: "Unknown trap",
			5: "The instruction is forbidden to programs", 6: "The register is forbidden to programs", 7: "A coprocessor error", 8: "An internal stack error",
		}},
		unix.SIGTRAP: {"Trace/breakpoint trap", nil},
		unix.SIGABRT: {"Aborted", nil},
		unix.SIGSYS:  {"Bad system call", map[int]string{1: "Forbidden by seccomp", 2: "Forbidden by system call user dispatch"}},
	}
})
