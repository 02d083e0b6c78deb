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

// Types that contain themselves are shown without their parts, or up to a limit, and all
// operations on them end.
// Without limits each would overflow the stack, or take too long: a structure with a hundred
// members of its own type has 100^64 members at 64 levels.
func TestRecursiveTypes(t *testing.T) {
	t.Chdir("testdata")
	p := open(t, console.Options{}, compile(t, "loops.s"))
	for _, name := range []string{
		"struct once", "struct twice", "struct hundred", "struct other", "struct named", "loop", "long_loop", "struct of_loop", "array",
		"struct of_array", "pointer", "struct of_pointer", "function", "struct of_elements", "struct of_named_array",
	} {
		for _, command := range []string{
			"ptype TYPE", "whatis TYPE", "print sizeof(TYPE)", "print _Alignof(TYPE)", "print *(TYPE *)nothing", "print ((TYPE *)nothing)->nothing",
			"print/x *(TYPE *)nothing", "ptype TYPE *", "print (TYPE)1", "print *(TYPE *)nothing == 1",
		} {
			line := strings.ReplaceAll(command, "TYPE", name)
			out := p.do(line)
			if out == "" || len(out) > 2<<20 {
				t.Errorf("%s: %d bytes", line, len(out))
			}
		}
	}
}
