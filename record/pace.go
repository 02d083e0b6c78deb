// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"cmp"
	"sync/atomic"
	"time"
)

// pace is the time between looks at the kernel's buffers. The reader of the samples asks for looks soon
// after the samples when it compares them with the memory of processes and finds something new. Without
// news the looks get rarer.
type pace struct {
	news atomic.Uint64 // how often the reader asked

	soon time.Duration // between frequent looks

	// The other fields are of the goroutine that looks.
	seen  uint64
	delay time.Duration // 0 if the reader never asked
	hold  time.Duration // how long looks stay frequent after news
	until time.Time     // the delay stays
}

const (
	// Bounds of the time between frequent looks. Each takes about 100 µs of processor time.
	minSoon = 5 * time.Millisecond
	maxSoon = 20 * time.Millisecond

	// News while looks are rare double the hold, because samples until then have no name.
	minHold = time.Second
	maxHold = 10 * time.Second
)

// newPace returns the pace for a number of samples a second. The looks cost less than the samples do, so there
// is one for two samples, within the bounds.
func newPace(frequency int) pace {
	return pace{soon: min(max(2*time.Second/time.Duration(cmp.Or(frequency, DefaultFrequency)), minSoon), maxSoon)}
}

// next returns the time to the next look, at most a time.
func (p *pace) next(now time.Time, most time.Duration) time.Duration {
	switch news := p.news.Load(); {
	case news != p.seen:
		switch {
		case p.hold == 0:
			p.hold = minHold
		case p.delay > p.soon:
			p.hold = min(2*p.hold, maxHold)
		}
		p.seen, p.delay, p.until = news, p.soon, now.Add(p.hold)
	case p.delay == 0:
		return most
	case p.delay < most && !now.Before(p.until):
		p.delay = min(2*p.delay, most)
		p.until = now.Add(10 * p.delay)
	case p.hold > minHold && now.Sub(p.until) > maxHold:
		p.hold = minHold
	}
	return min(p.delay, most)
}
