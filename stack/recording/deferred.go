// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"cmp"
	"maps"
	"slices"

	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

// deferredSample waits for the user part of its call chain. If perf asks for it, newer
// kernels record that part when the thread returns to user mode. The chain then ends with
// ContextUserDeferred and a cookie, and a later record with the cookie contains the user
// part of all such samples of the thread (PERF_RECORD_CALLCHAIN_DEFERRED of
// include/uapi/linux/perf_event.h).
type deferredSample struct {
	pendingSample
	cookie uint64
	places []int32 // of the frames without the user part
	kernel int     // how many of them stay when the user part arrives
}

// maxDeferred is how many samples of a thread may wait. If there are more, the record
// was lost.
const maxDeferred = 1 << 10

// cookieOf splits a call chain into its kernel part and the cookie of a deferred user part.
func cookieOf(chain []uint64) (kernel []uint64, cookie uint64, deferred bool) {
	n := len(chain) - 2
	if n < 0 || chain[n] != perfdata.ContextUserDeferred {
		return chain, 0, false
	}
	return chain[:n], chain[n+1], true
}

// wait keeps a sample until its user part arrives.
func (b *builder) wait(t *thread, s deferredSample) error {
	s.places = slices.Clone(s.places)
	waiting := append(b.deferred[t], s)
	if len(waiting) < maxDeferred {
		b.deferred[t] = waiting
		return nil
	}
	delete(b.deferred, t)
	return b.giveUp(waiting)
}

// deferredChain completes the waiting samples of a thread.
func (b *builder) deferredChain(r *perfdata.Record, d *perfdata.Deferred) error {
	t := b.thread(r.ID.PID, r.ID.TID)
	t.process.update(t, r.ID.Time)
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
		b.walk.places = append(b.walk.places[:0], s.places[:s.kernel]...)
		b.chain(t, d.Callchain)
		s.reason = unwind.CallChain
		s.node = b.rec.tree.Add(b.walk.places)
		if err := b.count(s.pendingSample); err != nil {
			return err
		}
	}
	return nil
}

// giveUp counts samples without their user part, which will not arrive.
func (b *builder) giveUp(waiting []deferredSample) error {
	for i := range waiting {
		s := &waiting[i]
		b.unfinished++
		s.node = b.rec.tree.Add(s.places)
		if err := b.count(s.pendingSample); err != nil {
			return err
		}
	}
	return nil
}

// giveUpAll counts all waiting samples at the end of the recording.
func (b *builder) giveUpAll() error {
	all := slices.Concat(slices.Collect(maps.Values(b.deferred))...)
	clear(b.deferred)
	slices.SortStableFunc(all, func(x, y deferredSample) int {
		return cmp.Or(cmp.Compare(x.time, y.time), cmp.Compare(x.thread, y.thread))
	})
	return b.giveUp(all)
}
