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
	places []int32 // of the frames without the user part, or without a part of it
	kernel int     // how many of them stay when the user part arrives

	sample *perfdata.Sample // with the registers and the stack copy, to be joined with the user part; may be nil
	space  *space           // of the sample
}

// maxDeferred is how many samples of a thread may wait. If there are more, the record
// was lost.
const maxDeferred = 1 << 10

// maxDeferredBytes bounds the stack copies of samples that wait.
const maxDeferredBytes = 16 << 20

// cookieOf splits a call chain into its kernel part and the cookie of a deferred user part.
func cookieOf(chain []uint64) (kernel []uint64, cookie uint64, deferred bool) {
	n := len(chain) - 2
	if n < 0 || chain[n] != perfdata.ContextUserDeferred {
		return chain, 0, false
	}
	return chain[:n], chain[n+1], true
}

// wait keeps a sample until its user part arrives.
func (b *builder) wait(t *thread, d deferredSample, s *perfdata.Sample) error {
	d.places = slices.Clone(d.places)
	if s.UserRegs.ABI != perfdata.ABINone && len(s.UserStack) > 0 {
		if b.deferredBytes+len(s.UserStack) > maxDeferredBytes {
			d.node = b.rec.tree.Add(d.places)
			return b.count(d.pendingSample)
		}
		b.deferredBytes += len(s.UserStack)
		sample := *s
		sample.UserRegs.Values, sample.UserStack = slices.Clone(s.UserRegs.Values), slices.Clone(s.UserStack)
		d.sample, d.space = &sample, t.process.space
	}
	waiting := append(b.deferred[t], d)
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
		b.addUser(t, s, d.Callchain)
		s.node = b.rec.tree.Add(b.walk.places)
		if err := b.count(s.pendingSample); err != nil {
			return err
		}
	}
	return nil
}

// addUser adds the user part of a call chain to a sample.
func (b *builder) addUser(t *thread, d *deferredSample, user []uint64) {
	w := &b.walk
	w.places = append(w.places[:0], d.places[:d.kernel]...)
	if d.sample == nil {
		b.chain(t, user)
		d.reason = unwind.CallChain
		return
	}
	b.deferredBytes -= len(d.sample.UserStack)
	machine := d.sample.UserRegs.Registers(b.machine, &w.regs)
	if machine == nil || d.space != t.process.space { // the process has executed another program
		w.places = append(w.places, d.places[d.kernel:]...)
		return
	}
	for len(user) > 0 && user[0] >= perfdata.ContextMax {
		user = user[1:]
	}
	w.joined, w.crossed = w.joined[:0], false
	if d.reason = b.unwind(t, d.sample, machine, nil); !isWhole(d.reason) {
		d.reason = b.cross(t, d.sample, machine, user, d.time, d.reason)
	}
	b.userPart(t, true, user, &d.reason)
	d.gap = w.gap && d.reason != unwind.CallersMissing
}

// giveUp counts samples without their user part, which will not arrive.
func (b *builder) giveUp(waiting []deferredSample) error {
	for i := range waiting {
		s := &waiting[i]
		if s.sample == nil {
			b.unfinished++
		} else {
			b.deferredBytes -= len(s.sample.UserStack)
		}
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
