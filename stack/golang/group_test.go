// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package golang_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/stack/golang"
)

// groupKind returns the common properties of a group's goroutines.
func groupKind(g *golang.Goroutine) string {
	var b strings.Builder
	fmt.Fprint(&b, g.Name, g.Scan, g.Locked, g.System, g.Stack.Reason, g.Stack.Err, g.Stack.Thread != nil)
	if g.Created != nil {
		fmt.Fprintf(&b, " by %#x", g.Created.PC)
	}
	for i := range g.Stack.Frames {
		f := &g.Stack.Frames[i]
		fmt.Fprintf(&b, " %#x %v %s", f.PC, f.Method, f.Symbol.Name)
	}
	return b.String()
}

// Goroutines that are grouped while they are read are those that are equal when each is read
// alone, in the same order, with all their differences.
func TestGoroutineGroups(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "states"), "500")
	p.Settle(t)
	testprogram.Halt(t, p.PID) // a pause of the snapshot is too short to copy all, and the runtime's goroutines wake
	s := takeGoroutines(t, p.PID, true)
	single := goroutinesOf(t, s, golang.Options{System: true})
	type member struct {
		id, parent uint64
		waited     string
		frames     int
	}
	var order []string
	want := make(map[string][]member)
	for i := range single {
		g := &single[i]
		kind := groupKind(g)
		if want[kind] == nil {
			order = append(order, kind)
		}
		want[kind] = append(want[kind], member{g.ID, g.Parent, g.Waited.String(), len(g.Stack.Frames)})
	}
	for _, members := range want {
		slices.SortFunc(members, func(a, b member) int { return int(a.id) - int(b.id) })
	}
	for _, opts := range []golang.Options{{System: true, Group: 1}, {System: true, Group: 11}, {System: true, Group: 11, Registers: true}} {
		list := goroutinesOf(t, s, opts)
		if len(list) != len(order) || len(list) < 20 {
			t.Errorf("%+v: %d groups, want %d", opts, len(list), len(order))
		}
		for i := range list {
			g := &list[i]
			kind := groupKind(g)
			if i < len(order) && kind != order[i] {
				t.Errorf("%+v: group %d is of %.200q, want %.200q", opts, i, kind, order[i])
			}
			got := []member{{g.ID, g.Parent, g.Waited.String(), len(g.Stack.Frames)}}
			for k := range g.Others {
				o := &g.Others[k]
				n := len(g.Stack.Frames)
				if opts.Registers {
					n = len(o.Stack.Frames)
					if o.Stack.Parked == nil || &o.Stack.Frames[0] == &g.Stack.Frames[0] || o.Stack.Frames[0].Registers == nil {
						t.Errorf("%+v: goroutine %d has not registers of its own", opts, o.ID)
					}
				} else if o.Stack != nil {
					t.Errorf("%+v: goroutine %d has a stack of its own", opts, o.ID)
				}
				got = append(got, member{o.ID, o.Parent, o.Waited.String(), n})
			}
			if !slices.Equal(got, want[kind]) {
				t.Errorf("%+v: group %d has %v, want %v", opts, i, got, want[kind])
			}
		}
	}
	// Fewer goroutines than Group are not grouped.
	few := goroutinesOf(t, s, golang.Options{System: true, Group: len(single) + 1})
	if len(few) != len(single) {
		t.Errorf("%d goroutines, want %d", len(few), len(single))
	}
	for i := range min(len(few), len(single)) {
		if few[i].ID != single[i].ID || len(few[i].Others) > 0 {
			t.Errorf("goroutine %d with %d others, want %d", few[i].ID, len(few[i].Others), single[i].ID)
		}
	}
}

// Goroutines that share frames have their own stack pointers.
func TestSharedFrames(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "states"), "100")
	p.Settle(t)
	s := takeGoroutines(t, p.PID, true)
	single := goroutinesOf(t, s, golang.Options{})
	shared := 0
	for i, g := range goroutinesOf(t, s, golang.Options{Share: true}) {
		own := g.StackPointers
		for k := range g.Stack.Frames {
			sp := g.Stack.Frames[k].SP
			if len(own) > 0 {
				sp, own = own[0], own[1:]
				shared++
			}
			if want := single[i].Stack.Frames[k].SP; sp != want {
				t.Errorf("goroutine %d, frame %d: sp %#x, want %#x", g.ID, k, sp, want)
			}
		}
	}
	if shared < 500 {
		t.Errorf("%d frames are shared", shared)
	}
}
