// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// jumps returns n jumps of five bytes, each to the one that next gives.
func jumps(n int, next func(i int) int) []byte {
	code := make([]byte, 0, 5*n)
	for i := range n {
		code = binary.LittleEndian.AppendUint32(append(code, 0xe9), uint32(5*(next(i)-i-1)))
	}
	return code
}

// TestHostileFunctions checks functions that no compiler writes. Each has a verdict or a reason for every
// instruction that was met, after bounded work.
func TestHostileFunctions(t *testing.T) {
	const start, large = 0x1000, 100 << 20
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 1<<16)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	// jmp *8(,%rdi,8) with the address of the table, which leads back to its jump, and to its own entries.
	table := []byte{0x81, 0xff, 0, 0, 1, 0, 0x0f, 0x87, 0xee, 0xff, 0xff, 0xff, 0xff, 0x24, 0xfd, 0x00, 0x11, 0, 0}
	table = append(table, make([]byte, 0x100-len(table))...)
	for i := range 1 << 16 {
		table = binary.LittleEndian.AppendUint64(table, start+uint64(i%0x200))
	}
	pushes := bytes.Repeat([]byte{0x50, 0x74, 0xfd}, 1<<18) // push %rax; je to the push: the stack grows on one path
	for _, test := range []struct {
		name string
		code []byte
		size int // if larger than the code: the rest are zeros, add %al,(%rax)
	}{
		{"data", data, 0},
		{"a jump into itself", bytes.Repeat([]byte{0xeb, 0xff, 0xc0}, 1<<16), 0},
		{"overlapping instructions", bytes.Repeat([]byte{0x74, 0x01, 0xe8, 0x90, 0x48}, 1<<16), 0},
		{"a chain of jumps back", jumps(1<<20, func(i int) int { return max(i-1, 0) }), 0},
		{"a circle of jumps", jumps(1<<20, func(i int) int { return (i + 7919) % (1 << 20) }), 0},
		{"jumps anywhere", jumps(1<<20, func(int) int { return random.IntN(1 << 20) }), 0},
		{"a cyclic jump table", table, 0},
		{"a stack that grows in a loop", pushes, 0},
		{"100 MB", []byte{0x53}, large},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
			e := cfi.Encoder{Kind: cfi.EHFrame, Machine: m, Address: 1 << 30}
			code := append(test.code, make([]byte, max(0, test.size-len(test.code)))...)
			if err := e.FDE(&cfi.FDE{CIE: cfi.EntryCIE(m), Start: start, End: start + uint64(len(code))}); err != nil {
				t.Fatal(err)
			}
			s := &cfi.Section{Name: ".eh_frame", Data: e.Data, Address: e.Address, Machine: m}
			r, err := Section(s, Code{Memory: flat(code), size: uint64(len(code))}, Options{})
			if err != nil || r.Functions != 1 || r.Agree+r.Disagree+r.Undecided != r.Instructions || r.Decided == 1 && r.Undecided > 0 {
				t.Fatalf("%+v, %v", r.Counters, err)
			}
			reasons := 0
			for _, n := range r.Reasons[NoReason+1:] {
				reasons += n
			}
			if r.Decided == 0 && reasons == 0 {
				t.Errorf("undecided without a reason: %+v", r.Counters)
			}
			t.Logf("%+v, %d findings", r.Counters, len(r.Findings))
		})
	}
}
