// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"cmp"
	"slices"

	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
)

// isSwitch reports whether an event is the kernel's switch from a thread to another.
func isSwitch(a *perfdata.Attribute) bool {
	kind, config, _ := perfdata.EventByName("context-switches")
	return a.Kind == kind && a.Config == config
}

// switchedAway keeps the sample of a switch away from a thread until the thread runs again.
func (t *thread) switchedAway(s pendingSample) {
	if !t.exited {
		t.waiting, t.waits, t.runnable = s, true, false
	}
}

// RunnableName is the innermost frame of a thread that could run, but had no processor, because it was
// preempted or yielded: see Options.OffCPU.
const RunnableName = "[runnable]"

// runnableObject is the object of that frame. It is not among Recording.Objects.
var runnableObject = &stack.Object{Name: KernelName, System: stack.Kernel}

// runnable returns the stack of a thread that could run.
func (b *builder) runnable(node int32) int32 {
	place, added := b.newPlace(placeKey{object: runnableObject})
	if added {
		b.rec.places[place].Symbol.Name = RunnableName
	}
	return b.rec.tree.Child(node, place)
}

// switched counts the sample of a thread that runs again.
func (b *builder) switched(r *perfdata.Record) error {
	b.newest = max(b.newest, r.ID.Time)
	t := b.threads[r.ID.TID]
	if t == nil || !t.waits {
		return nil
	}
	if r.Misc&perfdata.MiscSwitchOut != 0 {
		// The kernel sets this if the thread was in the state TASK_RUNNING (perf_event_open(2)).
		if r.Misc&perfdata.MiscSwitchOutPreempt != 0 && !t.runnable {
			t.waiting.node, t.runnable = b.runnable(t.waiting.node), true
		}
		return nil
	}
	return b.waited(t, r.ID.Time)
}

// waited counts the sample of a thread that waited until a time.
func (b *builder) waited(t *thread, until uint64) error {
	s := t.waiting
	t.waits = false
	if until < s.time {
		return nil
	}
	began := s.time
	s.period, s.time = until-began, until
	err := b.count(s)
	b.rec.First = min(b.rec.First, began)
	return err
}

// stillWaiting counts the samples of threads that wait at the end of the recording.
func (b *builder) stillWaiting() error {
	var list []*thread
	for _, t := range b.threads {
		if t.waits {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(x, y *thread) int {
		return cmp.Or(cmp.Compare(x.waiting.time, y.waiting.time), cmp.Compare(x.tid, y.tid))
	})
	for _, t := range list {
		if err := b.waited(t, b.newest); err != nil {
			return err
		}
	}
	return nil
}
