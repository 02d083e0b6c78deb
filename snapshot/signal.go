// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"debug/elf"
	"fmt"
	"strings"
)

// Signal is the signal that a target stands still for: of a core, the one that
// ended it.
type Signal struct {
	Number  int // as Linux numbers signals on the machine
	Machine elf.Machine
	Code    int // si_code, of which positive ones are the kernel's own reasons
	Thread  int // the ID of the thread that got it

	// Address is the fault's, of SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGTRAP
	// where the kernel told it.
	Address    uint64
	HasAddress bool

	// Sender is the process that sent it, 0 where the kernel did.
	Sender int
}

// signalNames are by number: include/uapi/asm-generic/signal.h.
var signalNames = strings.Fields(`0 SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1
	SIGSEGV SIGUSR2 SIGPIPE SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU
	SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGPWR SIGSYS`)

// mipsSignalNames are those of MIPS: arch/mips/include/uapi/asm/signal.h.
var mipsSignalNames = strings.Fields(`0 SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGEMT SIGFPE SIGKILL SIGBUS
	SIGSEGV SIGSYS SIGPIPE SIGALRM SIGTERM SIGUSR1 SIGUSR2 SIGCHLD SIGPWR SIGWINCH SIGURG SIGIO
	SIGSTOP SIGTSTP SIGCONT SIGTTIN SIGTTOU SIGVTALRM SIGPROF SIGXCPU SIGXFSZ`)

// sparcSignalNames are those of SPARC: arch/sparc/include/uapi/asm/signal.h.
var sparcSignalNames = strings.Fields(`0 SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGEMT SIGFPE SIGKILL SIGBUS
	SIGSEGV SIGSYS SIGPIPE SIGALRM SIGTERM SIGURG SIGSTOP SIGTSTP SIGCONT SIGCHLD SIGTTIN SIGTTOU
	SIGIO SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGLOST SIGUSR1 SIGUSR2`)

// Name is the signal's name, "SIGSEGV"; "signal 40" where it has none. Those of alpha
// and parisc, which number signals differently, are not known.
func (s *Signal) Name() string {
	names := signalNames
	switch s.Machine {
	case elf.EM_MIPS:
		names = mipsSignalNames
	case elf.EM_SPARC, elf.EM_SPARC32PLUS, elf.EM_SPARCV9:
		names = sparcSignalNames
	case elf.EM_ALPHA, elf.EM_PARISC:
		names = nil
	}
	if s.Number > 0 && s.Number < len(names) {
		return names[s.Number]
	}
	return fmt.Sprintf("signal %d", s.Number)
}

// reasons are what the kernel's codes of a signal mean, from code 1 on:
// include/uapi/asm-generic/siginfo.h.
var reasons = map[string][]string{
	"SIGILL": {
		"illegal instruction", "illegal operand", "illegal addressing mode", "illegal trap", "privileged instruction",
		"privileged register", "coprocessor error", "error of the internal stack"},
	"SIGBUS": {
		"misaligned", "no memory for the mapping", "the medium failed", "the memory failed", "the memory failed"},
	"SIGFPE": {
		"integer division by zero", "integer overflow", "floating-point division by zero", "floating-point overflow",
		"floating-point underflow", "inexact floating-point result", "invalid floating-point operation", "subscript out of range"},
	"SIGSEGV": {
		"no memory is mapped there", "the memory there may not be so used", "beyond a bound", "the memory's protection key forbids it",
		"an access was not corrupted", "an adjacent tag differs", "a memory tag differs", "a memory tag differs"},
}

// String says what happened: "SIGSEGV at 0x8: no memory is mapped there".
func (s *Signal) String() string {
	text := s.Name()
	if s.HasAddress {
		text += fmt.Sprintf(" at %#x", s.Address)
	}
	if why := reasons[s.Name()]; s.HasAddress && s.Code > 0 && s.Code <= len(why) {
		text += ": " + why[s.Code-1]
	}
	if s.Sender > 0 {
		text += fmt.Sprintf(" from process %d", s.Sender)
	}
	return text
}
