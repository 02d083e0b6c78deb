// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package rsp_test

import "testing"

// gdb calls malloc if an expression needs memory. It reports that there is no malloc, or that
// the C library's malloc is not code of the session. With the malloc of package hosted it
// works: see TestDebugByDebuggers of clew.
func TestGDBNeedsMemory(t *testing.T) {
	for b, want := range map[*build]string{&static: `requires the (program|target) to have a function "malloc"`, &cgo: "is in no image of the session; the session runs no other code"} {
		t.Run(b.name, func(t *testing.T) {
			p := launch(t, *b, ":0", "-wait", "call loop 3")
			inOrder(t, p.gdb("break target.c:23", "continue", "delete", `print ((int (*)(const char *, int))add)("text", 3)`, "bt", "print add(3, 4)", "continue"),
				"Breakpoint 1, add", want, "^#0  add .a=0, b=0.", "^#1 .*loop", "= 7", "exited normally")
			p.ends("loop returned 3")
		})
	}
}
