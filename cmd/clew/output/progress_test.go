// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package output

import (
	"strings"
	"testing"
	"time"
)

// writes gets the text of each write.
type writes chan string

func (w writes) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// Progress is shown after a second, and removed at the end. The test controls the clock.
func TestProgress(t *testing.T) {
	start := time.Unix(1e9, 0)
	shown, ticks := make(writes, 1), make(chan time.Time)
	asked := 0
	done, end := progressOn(shown, "MB read", 340, start, ticks, func() bool {
		asked++
		return asked == 2 // a part of the work shows how far that is
	})
	tick := func(d time.Duration) { ticks <- start.Add(d) }
	tick(0)
	tick(999 * time.Millisecond)
	done(12)
	tick(time.Second)
	if got := <-shown; got != "\r\x1b[K12 of 340 MB read, 27 s left" {
		t.Errorf("after a second: %q", got)
	}
	done(200)
	tick(1100 * time.Millisecond)
	tick(1250 * time.Millisecond)
	if got := <-shown; got != "\r\x1b[K200 of 340 MB read, 1 s left" {
		t.Errorf("then: %q", got)
	}
	end()
	if got := <-shown; got != "\r\x1b[K" {
		t.Errorf("at the end: %q", got)
	}

	// Short work shows nothing.
	var text strings.Builder
	_, end = progressOn(&text, "MB read", 0, start, ticks, func() bool { return false })
	tick(900 * time.Millisecond)
	end()
	if text.Len() > 0 {
		t.Errorf("short work shows %q", text.String())
	}
}

func TestProgressText(t *testing.T) {
	for _, test := range []struct {
		label       string
		done, total int
		want        string
	}{
		{"entries", 12, 340, "12 of 340 entries"},
		{"MB read", 0, 340, "0 of 340 MB read"},
		{"MB read", 12, 0, "12 MB read"}, // of a pipe
		{"naming the stacks", 0, 0, "naming the stacks, 3 s"},
	} {
		if got := progressText(test.label, test.done, test.total, 3700*time.Millisecond); got != test.want {
			t.Errorf("%d of %d %s is shown as %q, want %q", test.done, test.total, test.label, got, test.want)
		}
	}
}

func TestProgressEstimate(t *testing.T) {
	start := time.Unix(1e9, 0)
	for _, test := range []struct {
		first, done, total int
		took               time.Duration
		want               string
	}{
		{0, 100, 1000, 2 * time.Second, ", 18 s left"},
		{100, 200, 1000, 2 * time.Second, ", 16 s left"},
		{0, 1, 1000, 2 * time.Second, ", 33 min left"},
		{100, 100, 1000, time.Second, ""},
		{0, 1000, 1000, time.Second, ""},
		{0, 12, 0, time.Second, ""},
	} {
		if got := (amount{test.done, start.Add(test.took)}).estimate(amount{test.first, start}, test.total); got != test.want {
			t.Errorf("%d, then %d of %d after %v: %q, want %q", test.first, test.done, test.total, test.took, got, test.want)
		}
	}
}
