// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import "testing"

// Ctrl-C ends a recording at a terminal. The terminal sends the command SIGINT; clew sends it
// nothing.
func TestRecordIsInterrupted(t *testing.T) {
	term := startTerminal(t, nil, "record", "--no-lines", "--", "sh", "-c",
		`trap 'echo interrupted; sleep 0.5; echo done; exit 3' INT; trap 'echo terminated' TERM; while :; do :; done`)
	term.Expect(`\d+ samples; Ctrl-C ends the recording`)
	term.Send("\x03")
	term.expect("interrupted")
	term.expect("done")
	term.Expect(`\d+ samples of 1 thread of 1 process in `)
	term.ends(0)
}
