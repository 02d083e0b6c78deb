// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "strings"

// commonSignals: include/uapi/asm-generic/signal.h.
const commonSignals = `0 SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1
	SIGSEGV SIGUSR2 SIGPIPE SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU
	SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGPWR SIGSYS`

// unknownSignals stands for numbers of signals that are not known.
const unknownSignals = "0"

// SignalName returns the name of a signal by its number on Linux, such as "SIGSEGV", or
// "" if the number has no name or the name is unknown. A nil Machine stands for the
// numbers of most machines.
func (m *Machine) SignalName(number int) string {
	names := commonSignals
	if m != nil && m.Signals != "" {
		names = m.Signals
	}
	if list := strings.Fields(names); number > 0 && number < len(list) {
		return list[number]
	}
	return ""
}
