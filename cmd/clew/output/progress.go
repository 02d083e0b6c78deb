// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package output

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/clewdev/clew/internal/printable"
)

// Progress shows the progress of work that takes more than a second, on standard error if that is a
// terminal. It shows the amount that is done out of total. If total is 0, it shows the amount, or
// without an amount the time. The caller passes the amount to done, which is nil if nothing is
// shown, and calls end before it prints anything else.
func Progress(label string, total int) (done func(int), end func()) {
	return ShowProgress(label, total, Fetching.Load)
}

// Fetching is true while the work waits for a server. Then DownloadProgress shows the progress, and
// Progress nothing.
var Fetching atomic.Bool

// DownloadProgress shows the progress of a download.
func DownloadProgress(label string, total int) (done func(int), end func()) {
	return ShowProgress(label, total, func() bool { return false })
}

// ShowProgress starts a progress line. Tests replace it to observe short work.
var ShowProgress = progressAtTerminal

func progressAtTerminal(label string, total int, hidden func() bool) (done func(int), end func()) {
	if !Stderr.IsTerminal() {
		return nil, func() {}
	}
	ticker := time.NewTicker(progressTick)
	done, erase := progressOn(Stderr.Raw(), label, total, time.Now(), ticker.C, hidden)
	return done, func() { ticker.Stop(); erase() }
}

// progressTick is the time between changes of a progress line.
const progressTick = 250 * time.Millisecond

// ProgressText is Progress for work with several amounts. It shows the newest text that the caller
// has passed to show.
func ProgressText() (show func(string), end func()) {
	if !Stderr.IsTerminal() {
		return nil, func() {}
	}
	var newest atomic.Value
	newest.Store("")
	ticker := time.NewTicker(progressTick)
	erase := showOn(Stderr.Raw(), time.Now(), ticker.C, Fetching.Load, func(time.Time) string { return newest.Load().(string) })
	return func(text string) { newest.Store(text) }, func() { ticker.Stop(); erase() }
}

// progressOn shows an amount on w: see showOn.
func progressOn(w io.Writer, label string, total int, start time.Time, ticks <-chan time.Time, hidden func() bool) (done func(int), end func()) {
	var count atomic.Int64
	var first amount // at the first tick
	end = showOn(w, start, ticks, hidden, func(now time.Time) string {
		at := amount{int(count.Load()), now}
		if first.at.IsZero() {
			first = at
		}
		return progressText(label, at.done, total, now.Sub(start)) + at.estimate(first, total)
	})
	return func(n int) { count.Store(int64(n)) }, end
}

// showOn writes a text to w at each tick that is at least a second after start, and removes it at the
// end. It writes nothing while hidden returns true.
func showOn(w io.Writer, start time.Time, ticks <-chan time.Time, hidden func() bool, text func(now time.Time) string) (end func()) {
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
				if line := text(now); now.Sub(start) >= time.Second && !hidden() {
					fmt.Fprint(w, "\r\x1b[K"+printable.Text(line))
					shown = true
				}
			}
		}
	}()
	return func() { close(stop); <-stopped }
}

// ProgressBesideOutput is Progress for work that prints to standard output at the same time. It
// shows nothing if standard output is a terminal too.
func ProgressBesideOutput(label string, total int) (done func(int), end func()) {
	if Stdout.IsTerminal() {
		return nil, func() {}
	}
	return Progress(label, total)
}

// amount is what is done at a time.
type amount struct {
	done int
	at   time.Time
}

// estimate returns how long the rest takes at the speed since first: ", 3 s left". It is "" if
// that is not known yet.
func (a amount) estimate(first amount, total int) string {
	done := a.done - first.done
	if done <= 0 || a.done >= total {
		return ""
	}
	left := time.Duration(float64(a.at.Sub(first.at)) * float64(total-a.done) / float64(done))
	if left >= 2*time.Minute {
		return fmt.Sprintf(", %d min left", int(left.Minutes()+0.5))
	}
	return fmt.Sprintf(", %d s left", int(left.Seconds()+0.5))
}

func progressText(label string, done, total int, took time.Duration) string {
	switch {
	case total > 0:
		return fmt.Sprintf("%d of %d %s", done, total, label)
	case done > 0:
		return fmt.Sprintf("%d %s", done, label)
	}
	return fmt.Sprintf("%s, %d s", label, int(took.Seconds()))
}
