// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// counts returns the samples of a recording by the thread's name and the addresses of frames.
func counts(r *Recording) map[string]uint64 {
	m := make(map[string]uint64)
	for i := range r.Stacks {
		s := &r.Stacks[i]
		key := r.Threads[s.Thread].Name
		for _, f := range r.Frames(s) {
			key += fmt.Sprintf(" %#x", f.Address)
		}
		m[key] += s.Samples
	}
	return m
}

// Each interval has the samples of its time, and all together those of the recording.
func TestIntervals(t *testing.T) {
	const intervals, each = 5, 40
	m := newMade()
	for pid := range uint32(3) {
		m.record(perfdata.TypeComm, 0, func(m *made) {
			m.halves(pid+1, pid+1)
			m.text(fmt.Sprint("process ", pid+1))
			m.trailer(pid+1, 1)
		})
	}
	for interval := range uint64(intervals) {
		for i := range uint64(each) {
			time := 100 + interval*each + i
			m.record(perfdata.TypeSample, 2, func(m *made) {
				m.words(0x1000 * (interval + 1 + i%2))
				m.trailer(uint32(i%3+1), time)
			})
		}
		m.record(perfdata.TypeFinishedRound, 0, func(*made) {})
		m.record(perfdata.TypeFinishedRound, 0, func(*made) {})
	}
	m.record(perfdata.TypeFinishedRound, 0, func(*made) {})
	r, err := perfdata.NewReader(&m.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rounds, got := 0, []map[string]uint64(nil)
	rest, err := Read(r, Options{
		Cut: func() bool { rounds++; return rounds > 2 && rounds%2 == 1 }, // samples follow the round after theirs
		Interval: func(r *Recording) error {
			if r.Samples != each || r.Events[0].Samples != each || len(r.Threads) != 3 || r.Last-r.First > each {
				t.Errorf("an interval with %d samples of %d threads, from %d to %d", r.Samples, len(r.Threads), r.First, r.Last)
			}
			got = append(got, counts(r))
			return nil
		},
	})
	if err != nil || rest.Samples != 0 || len(rest.Stacks) != 0 || len(rest.Threads) != 0 {
		t.Fatalf("%v, and %d samples after the last interval", err, rest.Samples)
	}
	if len(got) != intervals {
		t.Fatalf("%d intervals", len(got))
	}
	for i, stacks := range got {
		total := uint64(0)
		for _, n := range stacks {
			total += n
		}
		if total != each || len(stacks) != 6 || stacks[fmt.Sprintf("process 1 %#x", 0x1000*(i+1))] != 7 {
			t.Errorf("interval %d: %v", i, stacks)
		}
		if i > 0 && reflect.DeepEqual(stacks, got[i-1]) {
			t.Errorf("interval %d is equal to the previous one", i)
		}
	}
}

// An error of Interval ends the recording.
func TestIntervalFails(t *testing.T) {
	m := newMade()
	m.record(perfdata.TypeFinishedRound, 0, func(*made) {})
	r, err := perfdata.NewReader(&m.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	failed := fmt.Errorf("failed")
	if _, err := Read(r, Options{Cut: func() bool { return true }, Interval: func(*Recording) error { return failed }}); err != failed {
		t.Error(err)
	}
}

// Places and stacks beyond the limits are forgotten. Samples that wait keep their stacks.
func TestForgetPlaces(t *testing.T) {
	b := newBuilder(nil, Options{OffCPU: true})
	a, c := b.place(placeKey{address: 0x10}), b.place(placeKey{address: 0x20})
	for i := range uint64(10) {
		b.rec.tree.Add([]int32{b.place(placeKey{address: 0x100 + i})})
	}
	b.named = len(b.rec.places)
	waits, other := b.thread(1, 1), b.thread(2, 2)
	waits.waiting, waits.waits = pendingSample{node: b.rec.tree.Add([]int32{a, c})}, true
	b.deferred[other] = []deferredSample{{pendingSample: pendingSample{node: 0}, places: []int32{c}, kernel: 1}}
	b.forgetPlaces()
	b.forgetLabels()
	if len(b.rec.places) != 2 || b.named != 2 || len(b.rec.Threads) != 2 {
		t.Fatalf("%d places, %d threads", len(b.rec.places), len(b.rec.Threads))
	}
	var addresses []uint64
	for _, f := range b.rec.path(waits.waiting.node) {
		addresses = append(addresses, f.Address)
	}
	if !reflect.DeepEqual(addresses, []uint64{0x10, 0x20}) || b.rec.places[b.deferred[other][0].places[0]].Address != 0x20 {
		t.Errorf("%#x", addresses)
	}
	if b.rec.Threads[waits.waiting.thread].TID != 1 || b.rec.Threads[b.deferred[other][0].thread].TID != 2 {
		t.Error("a sample is of another thread")
	}
}
