// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console_test

import (
	"testing"

	"github.com/clewdev/clew/session/console"
)

// A trap after the last instruction of a function has no frame. The trap flag of amd64
// causes it.
func TestStopAfterReturn(t *testing.T) {
	p := open(t, console.Options{}, sources(t, "gcc", "f.s", ".globl f\n.type f,@function\nf: pushf\n orl $0x100,(%rsp)\n popf\n ret\n")...)
	stop := "\nProgram received signal SIGTRAP, Trace/breakpoint trap.\nThe code executed a trap instruction; \"continue\" goes on after it.\n"
	noFrame := "no frame: the function has returned to the session, and \"continue\" ends the call\n"
	p.dialogue(t, [][2]string{
		{"call f", stop + "ADDR in ?? ()\nThe function has returned to the session; \"continue\" ends the call.\n"},
		{"frame", noFrame}, {"up", noFrame}, {"finish", noFrame}, {"info locals", noFrame}, {"info frame", noFrame}, {"until", noFrame},
		{"p 1", "$1 = 1\n"},
	})
	for _, command := range []string{"bt", "next", "step", "stepi", "display/i $pc", "info registers", "x/i $pc", "continue", "continue"} {
		p.do(command) // it must not panic
	}
}
