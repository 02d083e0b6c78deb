// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import "fmt"

// Signal is the signal that a target stands still for: of a core, the one that
// ended it.
type Signal struct {
	Number int // as Linux numbers signals on all machines but alpha, mips, parisc and sparc
	Code   int // si_code, of which positive ones are the kernel's own reasons
	Thread int // the ID of the thread that got it

	// Address is the fault's, of SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGTRAP
	// where the kernel told it.
	Address    uint64
	HasAddress bool

	// Sender is the process that sent it, 0 where the kernel did.
	Sender int
}

// signalNames are by number: include/uapi/asm-generic/signal.h.
var signalNames = [...]string{"0", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
	"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU",
	"SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS"}

// Name is the signal's name, "SIGSEGV"; "signal 40" where it has none.
func (s *Signal) Name() string {
	if s.Number > 0 && s.Number < len(signalNames) {
		return signalNames[s.Number]
	}
	return fmt.Sprintf("signal %d", s.Number)
}

// reasons are what the kernel's codes of a signal mean, by its number and from
// code 1 on: include/uapi/asm-generic/siginfo.h.
var reasons = [...][]string{
	4: { // SIGILL
		"illegal instruction", "illegal operand", "illegal addressing mode", "illegal trap", "privileged instruction",
		"privileged register", "coprocessor error", "error of the internal stack"},
	7: { // SIGBUS
		"misaligned", "no memory behind the mapping", "the medium failed", "the memory failed", "the memory failed"},
	8: { // SIGFPE
		"integer division by zero", "integer overflow", "floating-point division by zero", "floating-point overflow",
		"floating-point underflow", "inexact floating-point result", "invalid floating-point operation", "subscript out of range"},
	11: { // SIGSEGV
		"no memory is mapped there", "the memory there may not be so used", "beyond a bound", "the memory's protection key forbids it",
		"an access was not corrupted", "an adjacent tag differs", "a memory tag differs", "a memory tag differs"},
}

// String says what happened: "SIGSEGV at 0x8: no memory is mapped there".
func (s *Signal) String() string {
	text := s.Name()
	if s.HasAddress {
		text += fmt.Sprintf(" at %#x", s.Address)
	}
	if s.HasAddress && s.Number > 0 && s.Number < len(reasons) && s.Code > 0 && s.Code <= len(reasons[s.Number]) {
		text += ": " + reasons[s.Number][s.Code-1]
	}
	if s.Sender > 0 {
		text += fmt.Sprintf(" from process %d", s.Sender)
	}
	return text
}
