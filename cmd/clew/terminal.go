// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/fatih/color"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report"
)

// palette returns the colours for standard output: none where it is no
// terminal, or NO_COLOR is set.
func palette() report.Palette {
	if color.NoColor {
		return report.Palette{}
	}
	return report.Colors()
}

// progress shows on standard error how far a long work is, where that is a
// terminal: how much of total is done, or, where total is zero, how much is, or how
// long it takes. The first function, nil where nothing is shown, is to be called
// with what is done, the second before anything else is printed.
func progress(what string, total int) (done func(int), end func()) {
	return showProgress(what, total, fetching.Load)
}

// fetching says that a part of the work is to wait for a server, which shows how far
// that is in the place of the whole.
var fetching atomic.Bool

// progressAbove is progress of such a part.
func progressAbove(what string, total int) (done func(int), end func()) {
	return showProgress(what, total, func() bool { return false })
}

// showProgress is replaced by tests, which hear of work that is not long.
var showProgress = progressAtTerminal

func progressAtTerminal(what string, total int, hidden func() bool) (done func(int), end func()) {
	if !stderr.isTerminal() {
		return nil, func() {}
	}
	ticker := time.NewTicker(250 * time.Millisecond)
	done, end = progressOn(stderr.raw(), what, total, time.Now(), ticker.C, hidden)
	return done, func() { ticker.Stop(); end() }
}

// progressOn shows it on w at each tick from a second after the start on, and
// takes it away at the end. While it is hidden nothing is shown.
func progressOn(w io.Writer, what string, total int, start time.Time, ticks <-chan time.Time, hidden func() bool) (done func(int), end func()) {
	var count atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		shown := false
		for {
			select {
			case <-stop:
				if shown {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case now := <-ticks:
				if took := now.Sub(start); took >= time.Second && !hidden() {
					fmt.Fprint(w, "\r\x1b[K"+printable.Text(progressText(what, int(count.Load()), total, took)))
					shown = true
				}
			}
		}
	}()
	return func(n int) { count.Store(int64(n)) }, func() { close(stop); <-stopped }
}

// progressBeside is progress of a work that prints on standard output
// meanwhile: nothing is shown where that is a terminal too.
func progressBeside(what string, total int) (done func(int), end func()) {
	if stdout.isTerminal() {
		return nil, func() {}
	}
	return progress(what, total)
}

func progressText(what string, done, total int, took time.Duration) string {
	switch {
	case total > 0:
		return fmt.Sprintf("%d of %d %s", done, total, what)
	case done > 0:
		return fmt.Sprintf("%d %s", done, what)
	}
	return fmt.Sprintf("%s, %d s", what, int(took.Seconds()))
}
