// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/clewdev/clew/session/console"
)

// Registers with flags are shown by the names of the flags, as in gdb. Their contents depend on the
// machine.
func TestFlagRegisters(t *testing.T) {
	p := open(t, console.Options{}, compileBy(t, "gcc", "testdata/rooms.c", "-g"))
	p.do("break make")
	p.do("call walk(2)")
	for command, want := range map[string]string{
		"p $eflags":      `^\$\d+ = \[ ([A-Z]F )*IF \]$`,
		"p/x $eflags":    `^\$\d+ = 0x2[0-9a-f]{2}$`,
		"p $eflags & 2":  `^\$\d+ = 2$`,
		"whatis $eflags": `^type = i386_eflags$`,
		"ptype $eflags":  `clew debug --gdb`,
		"p $_siginfo":    `clew debug --gdb`,
	} {
		if got := strings.TrimSpace(p.do(command)); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %s", command, got)
		}
	}
}
