// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"fmt"

	"github.com/clewdev/clew/arch"
)

// Signal is the signal because of which a target stands still. For a core, it is the signal
// that ended the target.
type Signal struct {
	Number  int           // Linux's number on the machine
	Machine *arch.Machine // nil stands for the numbers of most machines
	Code    int           // si_code: positive values are the kernel's reasons
	Thread  int           // the ID of the thread that got it

	// Address is the address of the fault, for SIGSEGV, SIGBUS, SIGILL, SIGFPE and
	// SIGTRAP, if the kernel reported it.
	Address    uint64
	HasAddress bool

	// Sender is the process that sent it, 0 if that is the kernel.
	Sender int
}

const siKernel = 0x80 // SI_KERNEL: a general protection fault, which has no address

// SetFault sets the address of a fault, if the kernel reports one for the Number and Code.
func (s *Signal) SetFault(address uint64) {
	switch s.Name() {
	case "SIGILL", "SIGTRAP", "SIGBUS", "SIGFPE", "SIGSEGV":
		if s.Code > 0 && s.Code != siKernel {
			s.Address, s.HasAddress = address, true
		}
	}
}

// Name returns the signal's name, such as "SIGSEGV", or "signal 40" for a number
// without a name. The numbers of alpha and parisc are unknown.
func (s *Signal) Name() string {
	if name := s.Machine.SignalName(s.Number); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", s.Number)
}

// reasons has the meanings of the kernel's codes of signals, from code 1 on:
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
		"no memory is mapped there", "the memory's permissions forbid it", "beyond a bound", "the memory's protection key forbids it",
		"an access was not corrupted", "an adjacent tag differs", "a memory tag differs", "a memory tag differs"},
}

// String describes the event: "SIGSEGV at 0x8: no memory is mapped there".
func (s *Signal) String() string {
	text := s.Name()
	if s.HasAddress {
		text += fmt.Sprintf(" at %#x", s.Address)
	}
	if list := reasons[s.Name()]; s.HasAddress && s.Code > 0 && s.Code <= len(list) {
		text += ": " + list[s.Code-1]
	}
	if s.Sender > 0 {
		text += fmt.Sprintf(" from process %d", s.Sender)
	}
	return text
}
