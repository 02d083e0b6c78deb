// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"debug/elf"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/target/perfdata"
)

// A sample with registers and without a copy of the stack is told apart from one
// whose copy is too short.
func TestNoStackCopy(t *testing.T) {
	for _, test := range []struct {
		stack []byte
		times int
		end   End
		note  string
	}{
		{nil, 1, NoStack, "no copy of the user stack was recorded for 1 sample"},
		{nil, 3, NoStack, "no copy of the user stack was recorded for 3 samples"},
		{make([]byte, 8), 1, Cut, "the stack of 1 sample is longer than the copy that was recorded, of 8 bytes at most (perf record --call-graph dwarf,SIZE): the outer frames are missing"},
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
		b.tell()
		if stack := b.rec.Stacks[0]; stack.End != test.end || int(stack.Samples) != test.times || !slices.Equal(b.notes, []string{test.note}) {
			t.Errorf("%d bytes: %d samples, %v, %q", len(test.stack), stack.Samples, stack.End, b.notes)
		}
		if !b.complete {
			t.Errorf("%v: a stack that ends early makes a recording partial", test.end)
		}
		b.close()
	}
}
