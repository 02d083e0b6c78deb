// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// Samples get the user part of their call chain from the record of their thread with their
// cookie. Without one they have the kernel's part, or the address.
func TestDeferredChains(t *testing.T) {
	const text = 0xffffffff81000000
	b := newBuilder(new(perfdata.Reader), Options{})
	b.started = true
	inUser := func(time, cookie uint64) {
		t.Helper()
		s := &perfdata.Sample{Fields: perfdata.FieldIP | perfdata.FieldCallchain, IP: 0x6000, Callchain: []uint64{perfdata.ContextUserDeferred, cookie}}
		r := &perfdata.Record{Misc: perfdata.Misc(perfdata.ModeUser), ID: perfdata.SampleID{PID: 1, TID: 4, Time: time}, Body: s}
		if err := b.record(r); err != nil {
			t.Fatal(err)
		}
	}
	sample := func(tid int32, time uint64, tail ...uint64) {
		t.Helper()
		s := &perfdata.Sample{Fields: perfdata.FieldIP | perfdata.FieldCallchain, IP: text,
			Callchain: append([]uint64{perfdata.ContextKernel, text, text + 0x10}, tail...)}
		r := &perfdata.Record{Misc: perfdata.Misc(perfdata.ModeKernel), ID: perfdata.SampleID{PID: 1, TID: tid, Time: time}, Body: s}
		if err := b.record(r); err != nil {
			t.Fatal(err)
		}
	}
	deferred := func(tid int32, cookie uint64, chain ...uint64) {
		t.Helper()
		d := &perfdata.Deferred{Cookie: cookie, Callchain: append([]uint64{perfdata.ContextUser}, chain...)}
		if err := b.record(&perfdata.Record{ID: perfdata.SampleID{PID: 1, TID: tid}, Body: d}); err != nil {
			t.Fatal(err)
		}
	}
	later := func(cookie uint64) []uint64 { return []uint64{perfdata.ContextUserDeferred, cookie} }
	sample(1, 10, later(7)...)
	sample(1, 11, later(7)...)
	sample(2, 12, later(8)...)
	sample(1, 13, perfdata.ContextUser, 0x5000) // is whole
	deferred(1, 7, 0x1000, 0x2000)              // of both
	sample(1, 14, later(9)...)
	deferred(1, 6, 0x3000) // of none: the record of 9 was lost
	deferred(2, 8)         // of a thread without a user stack
	deferred(2, 8, 0x4000) // nothing waits
	sample(2, 15, later(10)...)
	inUser(15, 20)
	deferred(4, 20, 0x6000, 0x7000)
	inUser(16, 21)
	for range maxDeferred {
		sample(3, 16, later(11)...)
	}
	if err := b.giveUpAll(); err != nil {
		t.Fatal(err)
	}
	b.finish()
	var got []string
	for i := range b.rec.Stacks {
		s := &b.rec.Stacks[i]
		line := fmt.Sprintf("%d of %d:", s.Samples, b.rec.Threads[s.Thread].TID)
		for _, f := range b.rec.Frames(s) {
			line += fmt.Sprintf(" %x", f.Address)
			if f.Returns {
				line += "r"
			}
		}
		got = append(got, line)
	}
	want := []string{
		"1 of 1: ffffffff81000000 ffffffff81000010r 5000",
		"2 of 1: ffffffff81000000 ffffffff81000010r 1000 2000r",
		"1 of 1: ffffffff81000000 ffffffff81000010r",
		"2 of 2: ffffffff81000000 ffffffff81000010r",
		"1 of 4: 6000 7000r",
		"1024 of 3: ffffffff81000000 ffffffff81000010r",
		"1 of 4: 6000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !slices.ContainsFunc(b.notes, func(s string) bool {
		return s == "the stacks of 1027 samples are without the part in user mode, because the record that follows later is missing (PERF_RECORD_CALLCHAIN_DEFERRED)"
	}) {
		t.Errorf("%q", b.notes)
	}
	b.close()
}
