// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"fmt"
)

// Kinds of errors, for errors.Is.
var (
	ErrRunning    = errors.New("the session is running")
	ErrNotRunning = errors.New("the session is not running")
	ErrStopped    = errors.New("the session is stopped in a call; continue or abort it first")
	ErrNotStopped = errors.New("the session is not stopped")
	ErrClosed     = errors.New("the session is closed")
	ErrArguments  = errors.New("invalid arguments")
	ErrAddress    = errors.New("invalid address")
	ErrNotFound   = errors.New("not found")
	ErrThread     = errors.New("the session belongs to another thread (Options.Locked)")
	ErrInUse      = errors.New("in use")
	// ErrPermission means that the system refused a call that a session needs. The error that wraps
	// it has the reason and a remedy.
	ErrPermission = errors.New("not permitted by the system")
)

// failure returns an error that wraps kind but does not print it.
func failure(kind error, format string, arguments ...any) error {
	return &failed{fmt.Errorf(format, arguments...), kind}
}

type failed struct{ text, kind error }

func (f *failed) Error() string { return f.text.Error() }

func (f *failed) Unwrap() []error { return []error{f.kind, f.text} }

// State is the state of a session.
type State uint8

const (
	Idle    State = iota // no call yet
	Running              // a call or a resume has not returned yet
	Stopped              // in a call, perhaps a nested one
	Exited               // the last call has returned, was aborted, or has ended its process
	Closed               // by Close
)

func (s State) String() string {
	return [...]string{"idle", "running", "stopped", "exited", "closed"}[s]
}

// Kind is a group of reasons.
type Kind uint8

const (
	KindBreakpoint Kind = iota // a breakpoint, a watchpoint, or the end of a step
	KindSignal                 // a fault, a trap instruction of the code, or a failed host function
	KindInterrupt
	KindExit
)

func (k Kind) String() string {
	return [...]string{"breakpoint", "signal", "interrupt", "exit"}[k]
}

// Reason is the reason why a run ended.
type Reason uint8

const (
	AtBreakpoint Reason = iota // at Stop.Breakpoint
	AtWatchpoint               // Stop.Watchpoint
	AtEntry                    // Arguments.StopAtEntry: before the first instruction
	SteppedInstruction
	SteppedLine
	SteppedOver // NextLine, NextInstruction
	SteppedOut
	RanTo
	Trapped       // by a trap instruction of the code itself: PC is after it on amd64, at it on arm64
	Signalled     // by a signal, usually of a fault
	Interrupted   // by Interrupt
	HostFailed    // a host function panicked or returned an error: Stop.Err
	Returned      // the function that was called returned: Stop.Result
	Aborted       // by Abort
	ExitedProcess // the code ended its process (exit_group), or called exit: Stop.ExitCode
)

var reasons = [...]string{"breakpoint", "watchpoint", "entry", "step instruction", "step line", "next", "step out",
	"run to", "trap", "signal", "interrupt", "host function failed", "return", "abort", "exit"}

func (r Reason) String() string { return reasons[r] }

// Kind returns the group that the reason belongs to.
func (r Reason) Kind() Kind {
	switch r {
	case Trapped, Signalled, HostFailed:
		return KindSignal
	case Interrupted:
		return KindInterrupt
	case Returned, Aborted, ExitedProcess:
		return KindExit
	}
	return KindBreakpoint
}

// Signal is a signal for the worker. The worker never receives it.
type Signal struct {
	Number  int    // SIGSEGV and so on; 0 for none
	Code    int    // si_code of sigaction(2): SEGV_MAPERR and so on
	Address uint64 // si_addr: of the fault for SIGSEGV and SIGBUS, of the instruction for SIGFPE and SIGILL
}

// Linux's numbers on all machines of the package: signal(7).
const (
	sigbus  = 7
	sigsegv = 11
)

var signals = [...]string{4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", sigbus: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", sigsegv: "SIGSEGV",
	13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 16: "SIGSTKFLT", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS"}

// String returns the name, for example "SIGSEGV".
func (s Signal) String() string {
	if s.Number > 0 && s.Number < len(signals) && signals[s.Number] != "" {
		return signals[s.Number]
	}
	return fmt.Sprintf("signal %d", s.Number)
}

// Stop is the reason and the place at which a run ended. The caller owns it.
type Stop struct {
	Reason Reason

	// PC is the address of the next instruction. At a breakpoint it is the breakpoint's address.
	PC uint64

	Signal     Signal      // with Trapped and Signalled; the signal that killed an ExitedProcess
	Breakpoint *Breakpoint // with AtBreakpoint; valid also if the stop has removed it
	Watchpoint *Watchpoint // with AtWatchpoint

	// Watchpoints are all watchpoints that stop for the same access, with AtWatchpoint. Watchpoint
	// is the first of them.
	Watchpoints []*Watchpoint

	// Result, Result2 and FloatResult are the function's result registers, with Returned: the
	// first integer register (rax, x0), the second (rdx, x1), and the low half of the first vector
	// register (xmm0, d0).
	Result, Result2 uint64
	FloatResult     float64

	// ExitCode is the low byte of the argument of exit_group, or -1 if the worker was aborted or
	// killed.
	ExitCode int

	// Outer is not nil at the end of a nested call, with Returned and Aborted: the session is
	// stopped again in the call around it, and Outer is the stop of that call. See
	// Session.CallNested.
	Outer *Stop

	// Err is the error of a host function or a condition, the reason why the worker's process was
	// killed, or, with Trapped, the name of a host function in an image that the session does not have.
	Err error

	results map[string][]byte // see ResultRegister
}

func (s *Stop) String() string {
	text := ""
	switch s.Reason {
	case Returned:
		return fmt.Sprintf("returned %#x", s.Result)
	case Aborted:
		return "aborted"
	case ExitedProcess:
		text = "exited"
		if s.Signal.Number != 0 {
			return fmt.Sprintf("killed by %v", s.Signal)
		}
		if s.Err == nil {
			text += fmt.Sprintf(" with code %d", s.ExitCode)
		}
	case Signalled, Trapped:
		text = fmt.Sprintf("%v at %#x, code %d", s.Signal, s.PC, s.Signal.Code)
		if s.Signal.Number == sigsegv || s.Signal.Number == sigbus {
			text += fmt.Sprintf(", address %#x", s.Signal.Address)
		}
	default:
		text = fmt.Sprintf("%v at %#x", s.Reason, s.PC)
	}
	if s.Err != nil {
		text += fmt.Sprintf(": %v", s.Err)
	}
	return text
}
