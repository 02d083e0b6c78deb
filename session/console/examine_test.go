// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package console_test

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/session/console"
)

// x continues after "info line" in another format, also if it is the first x.
func TestExamineAfterInfoLine(t *testing.T) {
	t.Chdir("testdata")
	p := open(t, console.Options{}, compile(t, "fib.c", "-g"))
	p.do("info line fib")
	if out := p.do("x/x"); !strings.HasPrefix(out, "0x") || !strings.Contains(out, "<fib>:") {
		t.Errorf("x/x prints %q", out)
	}
}
