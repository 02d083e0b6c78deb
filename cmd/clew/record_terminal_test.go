// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import "testing"

// A terminal shows samples, threads, losses and time until Ctrl-C ends the recording. The terminal
// sends the command SIGINT; clew sends it nothing.
func TestRecordIsInterrupted(t *testing.T) {
	term := startTerminal(t, nil, "record", "--no-lines", "--", "sh", "-c",
		`trap 'echo interrupted; read line; echo "done after $line"; exit 3' INT; trap 'echo terminated' TERM; while :; do :; done`)
	term.Expect(`[1-9]\d* samples of \d threads?, 0 lost, [1-9]\d* s; Ctrl-C ends the recording`)
	term.Send("\x03")
	term.expect("interrupted")
	term.expect("waiting until sh has exited")
	term.Send("enough\n")
	term.expect("done after enough")
	term.Expect(`\d+ samples of \d threads? of \d process(es)? in `)
	term.ends(0)
}
