// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package output

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/fatih/color"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// palette returns the colours for standard output: none if it is not a terminal, or if
// NO_COLOR is set.
func palette() style.Palette {
	if color.NoColor {
		return style.Palette{}
	}
	return style.Colors()
}

// Progress shows the progress of work that takes more than a second on standard error, if
// that is a terminal: how much of total is done; with a total of 0 how much is done, or how
// long it has taken. The caller passes the amount to done, which is nil if nothing is shown,
// and calls end before it prints anything else.
func Progress(what string, total int) (done func(int), end func()) {
	return ShowProgress(what, total, Fetching.Load)
}

// Fetching is true while the work waits for a server. ProgressAbove then shows the progress of
// the download, and Progress shows nothing.
var Fetching atomic.Bool

// ProgressAbove shows the progress of a download.
func ProgressAbove(what string, total int) (done func(int), end func()) {
	return ShowProgress(what, total, func() bool { return false })
}

// ShowProgress starts a progress line. Tests replace it to see work that is short.
var ShowProgress = progressAtTerminal

func progressAtTerminal(what string, total int, hidden func() bool) (done func(int), end func()) {
	if !Stderr.IsTerminal() {
		return nil, func() {}
	}
	ticker := time.NewTicker(250 * time.Millisecond)
	done, end = progressOn(Stderr.Raw(), what, total, time.Now(), ticker.C, hidden)
	return done, func() { ticker.Stop(); end() }
}

// progressOn writes the progress to w at each tick that is at least a second after start, and
// removes it at the end. It writes nothing while hidden returns true.
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

// ProgressBeside is Progress for work that prints on standard output at the same time: it
// shows nothing if standard output is a terminal too.
func ProgressBeside(what string, total int) (done func(int), end func()) {
	if Stdout.IsTerminal() {
		return nil, func() {}
	}
	return Progress(what, total)
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
