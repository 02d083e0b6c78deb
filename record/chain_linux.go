// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/perfdata"
)

// maxChain is kernel.perf_event_max_stack by default.
const maxChain = 127

// chain returns the call chain of a thread that was stopped, as the kernel records it by frame pointers.
// The chain can lead to other stacks than the one of which the sample has a copy. Memory there that was
// not copied with the thread's stack is included for the next samples; this chain ends before it.
func (s *stopper) chain(p *stopped, t *snapshot.Thread) []uint64 {
	target := p.watch.Target()
	m := target.Machine
	if m.FrameRecord == nil || m.FrameRecord.FP != 0 || m.FrameRecord.RA != 1 || m.AddressSize != 8 {
		return nil // the kernel follows those of amd64 and arm64
	}
	memory := target.ThreadMemory(t)
	fp, _ := t.Registers.Get(uint64(m.FramePointer))
	cut := len(t.Stack) >= int(s.event.attr.Sample_stack_user)
	copied, pages := 0, 0 // addresses before the first late one; pages that were read late
	s.followed = append(s.followed[:0], perfdata.ContextUser, t.Registers.PC)
	for len(s.followed) <= maxChain && fp != 0 && fp%8 == 0 {
		at := fp - t.StackAddress
		if cut && at >= uint64(len(t.Stack)) && at < maxStackExtent {
			break
		}
		var record [16]byte
		if memory.ReadMemory(record[:], fp) != nil {
			break
		}
		address := m.Order.Uint64(record[8:])
		if m.SignsReturns {
			address &= 1<<userBits - 1
		}
		if code := target.Mapping(address - 1); code == nil || !code.Executable {
			break
		}
		if _, late := memory.Late(); late && copied == 0 {
			copied = len(s.followed)
		}
		pages = len(memory.LatePages())
		s.followed = append(s.followed, address)
		fp = m.Order.Uint64(record[:])
	}
	if copied > 0 {
		p.watch.Include(t.ID, memory.LatePages()[:pages])
		return s.followed[:copied]
	}
	return s.followed
}

const (
	// maxStackExtent is up to which distance after the stack pointer an address belongs to the
	// thread's own stack, of which the copy is too small.
	maxStackExtent = 64 << 20

	// userBits are the bits of an address of arm64 programs that are not a signature.
	userBits = 48
)
