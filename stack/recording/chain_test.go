// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"debug/elf"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

// A call chain replaces a walk that ends early, up to the first caller that is data.
func TestChainThroughData(t *testing.T) {
	const code, data = 0x10000, 0x7f0000002000
	for _, test := range []struct {
		chain  []uint64
		frames int
		end    unwind.Reason
	}{
		{[]uint64{code + 4, code + 0x20, code + 0x30}, 3, unwind.CallChain},
		{[]uint64{code + 4, code + 0x20, data, code + 0x30}, 2, unwind.NoStack},
		{append([]uint64{code + 4}, slices.Repeat([]uint64{data}, 120)...), 1, unwind.NoStack}, // glibc's clone3
	} {
		b := newBuilder(new(perfdata.Reader), Options{})
		b.started, b.machine = true, arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
		b.thread(1, 1)
		b.mmap(&perfdata.Record{Misc: perfdata.Misc(perfdata.ModeUser)},
			&perfdata.Mmap{PID: 1, TID: 1, Start: code, Length: 0x1000, Protection: protExec, Path: []byte("//anon")})
		// Registers of perf: BP, SP and IP (arch/x86/include/uapi/asm/perf_regs.h).
		s := &perfdata.Sample{Fields: perfdata.FieldUserRegs | perfdata.FieldUserStack | perfdata.FieldCallchain, Callchain: append([]uint64{perfdata.ContextUser}, test.chain...),
			UserRegs: perfdata.RegisterSet{ABI: perfdata.ABI64, Mask: 7 << 6, Values: []uint64{data, 0x7f0000000000, code + 4}}}
		if err := b.record(&perfdata.Record{Misc: perfdata.Misc(perfdata.ModeUser), ID: perfdata.SampleID{PID: 1, TID: 1}, Body: s}); err != nil {
			t.Fatal(err)
		}
		got, frames := &b.rec.Stacks[0], 0
		for range b.rec.Frames(got) {
			frames++
		}
		if frames != test.frames || got.Reason != test.end {
			t.Errorf("%#x: %d frames, %v; expected %d, %v", test.chain, frames, got.Reason, test.frames, test.end)
		}
		b.close()
	}
}
