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

// A sample of a context switch stands for the time until the thread runs again.
func TestOffCPU(t *testing.T) {
	b := newBuilder(new(perfdata.Reader), Options{OffCPU: true})
	b.started, b.switches, b.rec.Events = true, []bool{true, false}, make([]Event, 2)
	record := func(kind perfdata.Type, misc perfdata.Misc, tid int32, time uint64, event int, body any) {
		t.Helper()
		r := &perfdata.Record{Type: kind, Misc: misc, ID: perfdata.SampleID{PID: 1, TID: tid, Time: time, Attribute: event}, Body: body}
		if err := b.record(r); err != nil {
			t.Fatal(err)
		}
	}
	sample := func(tid int32, time uint64, event int) {
		t.Helper()
		record(perfdata.TypeSample, perfdata.Misc(perfdata.ModeKernel), tid, time, event, &perfdata.Sample{Fields: perfdata.FieldIP, IP: uint64(tid), Period: 1})
	}
	const out, preempted = perfdata.MiscSwitchOut, perfdata.MiscSwitchOut | perfdata.MiscSwitchOutPreempt

	record(perfdata.TypeSwitch, 0, 1, 5, -1, nil) // runs, nothing is known of before
	sample(1, 10, 0)
	record(perfdata.TypeSwitch, out, 1, 11, -1, nil)
	sample(2, 12, 0)
	record(perfdata.TypeSwitchCPUWide, out, 2, 12, -1, nil)
	sample(3, 15, 1) // another event counts as it is
	record(perfdata.TypeSwitchCPUWide, 0, 2, 20, -1, nil)
	record(perfdata.TypeSwitch, 0, 1, 30, -1, nil)
	record(perfdata.TypeSwitch, 0, 1, 31, -1, nil) // a second time

	sample(3, 40, 0)
	record(perfdata.TypeSwitch, preempted, 3, 40, -1, nil)
	record(perfdata.TypeSwitch, preempted, 3, 40, -1, nil) // the same of another event
	record(perfdata.TypeSwitch, 0, 3, 90, -1, nil)

	// The last switch of a thread that has ended is not a wait.
	record(perfdata.TypeExit, 0, 4, 50, -1, &perfdata.Task{PID: 1, TID: 4, ParentPID: 1, ParentTID: 1})
	sample(5, 50, 0)
	record(perfdata.TypeExit, 0, 5, 51, -1, &perfdata.Task{PID: 1, TID: 5, ParentPID: 1, ParentTID: 1})
	sample(5, 52, 0)
	record(perfdata.TypeSwitch, out, 5, 52, -1, nil)

	sample(6, 60, 0) // waits to the end
	record(perfdata.TypeSwitch, out, 6, 60, -1, nil)
	record(perfdata.TypeSwitch, out, 7, 100, -1, nil)
	if err := b.stillWaiting(); err != nil {
		t.Fatal(err)
	}

	var got []string
	for _, s := range b.rec.Stacks {
		text := fmt.Sprint(b.rec.Threads[s.Thread].TID, s.Event, s.Samples, s.Weight)
		for _, f := range b.rec.Frames(&s) {
			text += fmt.Sprintf(" %#x%s", f.Address, f.Symbol.Name)
		}
		got = append(got, text)
	}
	want := []string{"3 1 1 1 0x3", "2 0 1 8 0x2", "1 0 1 20 0x1", "3 0 1 50 0x0[runnable] 0x3", "6 0 1 40 0x6"}
	if !slices.Equal(got, want) {
		t.Errorf("thread, event, samples, weight: %q, expected %q", got, want)
	}
}
