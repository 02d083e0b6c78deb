// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"testing"

	"github.com/clewdev/clew/snapshot/goruntime"
)

// Labels are known from earlier looks at the same goroutine only, without others in between: later labels
// can have the address of earlier ones, and of those of other goroutines.
func TestSeenLabels(t *testing.T) {
	g := &goLabels{seen: make(map[uint64]seenLabels)}
	for n, look := range []struct {
		id, address uint64
		text        string
		now, since  uint64 // since 0: there was no look before
	}{
		{1, 8, "a", 10, 0},
		{1, 8, "a", 20, 10},
		{2, 8, "a", 30, 0}, // another goroutine
		{1, 8, "a", 40, 10},
		{1, 0, "", 50, 0}, // the call of Do has ended
		{1, 8, "a", 60, 0},
		{1, 8, "b", 70, 0},
		{1, 8, "b", 80, 70},
	} {
		since, ok := g.look(&goruntime.Goroutine{ID: look.id, Labels: look.address}, look.text, look.now)
		if since != look.since || ok != (look.since != 0) {
			t.Errorf("look %d: since %d (%v), expected %d", n, since, ok, look.since)
		}
	}
	for id := range uint64(3 * maxThreadLabels) {
		g.look(&goruntime.Goroutine{ID: id, Labels: 8}, "a", 90)
	}
	if len(g.seen) > maxThreadLabels {
		t.Errorf("the labels of %d goroutines are kept", len(g.seen))
	}
}
