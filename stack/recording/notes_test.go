// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

// A sample with registers and without a copy of the stack differs from one with a copy that is
// too short.
func TestNoStackCopy(t *testing.T) {
	for _, test := range []struct {
		stack []byte
		times int
		end   unwind.Reason
		note  string
	}{
		{nil, 1, unwind.NoStack, "no copy of the user stack was recorded for 1 sample"},
		{nil, 3, unwind.NoStack, "no copy of the user stack was recorded for 3 samples"},
		{make([]byte, 8), 1, unwind.StackCut, "the stack of 1 sample is longer than the recorded copy of at most 8 bytes: the outer frames are missing (use perf record --call-graph dwarf,SIZE)"},
	} {
		b := newBuilder(new(perfdata.Reader), Options{})
		b.started, b.machine = true, arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
		for range test.times {
			// Registers of perf: BP, SP and IP (arch/x86/include/uapi/asm/perf_regs.h).
			s := &perfdata.Sample{Fields: perfdata.FieldUserRegs | perfdata.FieldUserStack, UserStack: test.stack,
				UserRegs: perfdata.RegisterSet{ABI: perfdata.ABI64, Mask: 7 << 6, Values: []uint64{0x7f0000001000, 0x7f0000000000, 0x10004}}}
			if err := b.record(&perfdata.Record{ID: perfdata.SampleID{PID: 1, TID: 1}, Body: s}); err != nil {
				t.Fatal(err)
			}
		}
		b.noteMissing()
		if stack := b.rec.Stacks[0]; stack.Reason != test.end || int(stack.Samples) != test.times || !slices.Equal(b.notes, []string{test.note}) {
			t.Errorf("%d bytes: %d samples, %v, %q", len(test.stack), stack.Samples, stack.Reason, b.notes)
		}
		if !b.complete {
			t.Errorf("%v: a stack that ends early makes a recording partial", test.end)
		}
		b.close()
	}
}

// The advice for stacks that are longer than their copies is that of the program that recorded.
func TestCopyAdvice(t *testing.T) {
	for _, test := range []struct {
		live   Live
		copied uint32
		advice string
	}{
		{nil, 8 << 10, " (use perf record --call-graph dwarf,SIZE)"},
		{new(stopped), 8 << 10, ""}, // waits, or the least that clew record chooses
		{new(stopped), 33616, " (with a lower --frequency the copies are larger)"},
		{new(stopped), 64280, " (the kernel copies no more)"}, // with a call chain of 128 entries
		{new(stopped), 63 << 10, " (the kernel copies no more)"},
	} {
		b := &builder{opts: Options{Live: test.live}, longestCopy: test.copied}
		if got := b.copyAdvice(); got != test.advice {
			t.Errorf("%d bytes, live %v: %q, expected %q", test.copied, test.live != nil, got, test.advice)
		}
	}
}

// If perf had no time to read the mappings of a process, that is noted once for the process,
// also for an empty mapping.
func TestUnreadMappings(t *testing.T) {
	b := newBuilder(new(perfdata.Reader), Options{})
	const late = perfdata.MiscProcMapParseTimeout | perfdata.Misc(perfdata.ModeUser)
	for _, m := range []struct {
		misc perfdata.Misc
		pid  int32
		size uint64
	}{{perfdata.Misc(perfdata.ModeUser), 1, 0x1000}, {late, 2, 0x1000}, {late, 2, 0}, {late, 3, 0}} {
		body := &perfdata.Mmap{PID: m.pid, TID: m.pid, Start: 0x10000, Length: m.size, Protection: protExec, Path: []byte("/bin/true")}
		if err := b.record(&perfdata.Record{Misc: m.misc, Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	const note = " after a timeout: some are unknown (use perf record --proc-map-timeout)"
	want := []string{"perf stopped reading the mappings of process 2" + note, "perf stopped reading the mappings of process 3" + note}
	if !slices.Equal(b.notes, want) || b.complete {
		t.Errorf("complete %t, %q, expected %q", b.complete, b.notes, want)
	}
}

// Lost records are noted once, although newer Linux counts them twice. They do not make a
// recording partial.
func TestLost(t *testing.T) {
	for _, test := range []struct {
		records, samples uint64
		missed           uint64
		notes            []string
	}{
		{0, 0, 0, nil},
		{1, 0, 1, []string{"1 record was lost during the recording"}},
		{1, 1, 1, []string{"1 record was lost during the recording"}},
		{1245, 1245, 1245, []string{"1245 records were lost during the recording"}},
		{2, 7, 7, []string{"7 records were lost during the recording"}},
	} {
		m := newMade()
		if test.records > 0 {
			m.record(perfdata.TypeLost, 0, func(m *made) { m.words(1, test.records); m.trailer(1, 1) })
		}
		if test.samples > 0 {
			m.record(perfdata.TypeLostSamples, 0, func(m *made) { m.words(test.samples); m.trailer(1, 1) })
		}
		rec, err := readBytes(m.Bytes(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if rec.Counts.Missed() != test.missed || !slices.Equal(rec.Notes, test.notes) || !rec.Complete {
			t.Errorf("%d records and %d samples: %d, %q, complete %t", test.records, test.samples, rec.Counts.Missed(), rec.Notes, rec.Complete)
		}
	}
}

// The note about a cut stack names the limit, also the default one.
func TestTooDeep(t *testing.T) {
	for frames, want := range map[int]int{0: unwind.DefaultMaxFrames, 100: 100} {
		b := newBuilder(new(perfdata.Reader), Options{MaxFrames: frames})
		b.ends[unwind.TooManyFrames] = 2
		b.noteMissing()
		if note := fmt.Sprintf("the stacks of 2 samples are longer than %d frames and cut there", want); !slices.Equal(b.notes, []string{note}) {
			t.Errorf("%q, expected %q", b.notes, note)
		}
		b.close()
	}
}

// Each of several errors is a note. The end of a line in a name does not begin another one.
func TestJoinedErrors(t *testing.T) {
	b := newBuilder(nil, Options{})
	b.noteError(errors.Join(errors.New("first"), errors.New("sec\nond")))
	b.noteError(nil)
	if want := []string{"first", `sec\nond`}; !slices.Equal(b.notes, want) {
		t.Errorf("%q, expected %q", b.notes, want)
	}
}
