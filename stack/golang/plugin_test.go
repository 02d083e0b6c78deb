// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/stack/golang"
	"github.com/clewdev/clew/unwind"
)

// A Go program that loaded a plugin: the goroutines of the single runtime use both, and equal
// the program's own dump on SIGQUIT, with symbols and without.
func TestGoroutinesInPlugin(t *testing.T) {
	const plugin = "github.com/clewdev/clew/internal/testprogram/programs/plugin."
	for _, tt := range []struct {
		name  string
		flags []string
	}{
		{"symbols", nil},
		{"stripped", []string{"-ldflags=-s -w"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// Both must be linked in the same way, or the plugin does not fit the program.
			path := testprogram.BuildCgo(t, "plugin", append([]string{"-buildmode=plugin"}, tt.flags...)...)
			p := testprogram.Start(t, testprogram.BuildCgo(t, "host", tt.flags...), path)
			p.Settle(t)
			list := goroutinesOf(t, takeGoroutines(t, p.PID, true), golang.Options{System: true})
			got := make(map[uint64]said)
			for i := range list {
				g := &list[i]
				got[g.ID] = described(g)
				if g.Stack.Reason != unwind.EndOfStack {
					t.Errorf("goroutine %d: %v: %v", g.ID, g.Stack.Reason, g.Stack.Err)
				}
				names := calledOn(&g.Stack)
				if want := []string{"main.wait", plugin + "Start", "main.main", "runtime.goexit"}; g.ID == 1 && !inOrder(names, want) {
					t.Errorf("%q, expected %q", names, want)
				}
			}
			if n := len(slices.DeleteFunc(slices.Clone(list), func(g golang.Goroutine) bool {
				return !slices.Contains(calledOn(&g.Stack), plugin+"recurse")
			})); n != 10 {
				t.Errorf("%d goroutines are in the plugin alone", n)
			}
			compareGoroutines(t, "copied", got, onQuit(t, p.Quit()), list)
		})
	}
}
