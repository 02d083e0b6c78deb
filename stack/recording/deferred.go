// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"cmp"
	"slices"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// deferredSample waits for the user part of its call chain. Newer kernels leave that
// for when the thread goes back to user mode, if perf asks for it: the chain then
// ends with ContextUserDeferred and a cookie, and a record of the thread with that
// cookie has what is missing of all such samples (PERF_RECORD_CALLCHAIN_DEFERRED of
// include/uapi/linux/perf_event.h).
type deferredSample struct {
	pendingSample
	cookie  uint64
	numbers []int32 // of the frames that it has without
	kernel  int     // how many of them stay when the rest comes
}

// maxDeferred is how many samples of a thread may wait. The record of a thread that
// has more was lost.
const maxDeferred = 1 << 10

// cookieOf takes the marker of a user part that comes later off a call chain.
func cookieOf(chain []uint64) (kernel []uint64, cookie uint64, deferred bool) {
	n := len(chain) - 2
	if n < 0 || chain[n] != perfdata.ContextUserDeferred {
		return chain, 0, false
	}
	return chain[:n], chain[n+1], true
}

// wait has a sample wait.
func (b *builder) wait(t *thread, s deferredSample) error {
	if b.deferred == nil {
		b.deferred = make(map[*thread][]deferredSample)
	}
	s.numbers = slices.Clone(s.numbers)
	b.deferred[t] = append(b.deferred[t], s)
	if len(b.deferred[t]) < maxDeferred {
		return nil
	}
	waiting := b.deferred[t]
	delete(b.deferred, t)
	return b.giveUp(waiting)
}

// deferredChain completes the samples of a thread that wait.
func (b *builder) deferredChain(r *perfdata.Record, d *perfdata.Deferred) error {
	t := b.thread(r.ID.PID, r.ID.TID)
	t.process.space.at(r.ID.Time)
	waiting := b.deferred[t]
	delete(b.deferred, t)
	for i := range waiting {
		s := &waiting[i]
		if s.cookie != d.Cookie {
			if err := b.giveUp(waiting[i : i+1]); err != nil {
				return err
			}
			continue
		}
		b.walk.numbers = append(b.walk.numbers[:0], s.numbers[:s.kernel]...)
		b.chain(t, d.Callchain)
		s.end = Chain
		s.node = b.rec.tree.add(b.walk.numbers)
		if err := b.count(s.pendingSample); err != nil {
			return err
		}
	}
	return nil
}

// giveUp counts samples whose user part will not come.
func (b *builder) giveUp(waiting []deferredSample) error {
	for i := range waiting {
		s := &waiting[i]
		b.severed++
		s.node = b.rec.tree.add(s.numbers)
		if err := b.count(s.pendingSample); err != nil {
			return err
		}
	}
	return nil
}

// giveUpAll does so at the end of the recording.
func (b *builder) giveUpAll() error {
	var all []deferredSample
	for _, waiting := range b.deferred {
		all = append(all, waiting...)
	}
	b.deferred = nil
	slices.SortStableFunc(all, func(x, y deferredSample) int {
		return cmp.Or(cmp.Compare(x.time, y.time), cmp.Compare(x.thread, y.thread))
	})
	return b.giveUp(all)
}
