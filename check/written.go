// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

const (
	maxWritesDepth = 4
	maxWritesSize  = 16 << 10 // bytes
)

// writes returns a set of columns that contains all those that a function changes. It is
// asked only where a value is in a register that functions may change.
func (c *checker) writes(pc uint64, depth int) uint64 {
	if set, ok := c.written[pc]; ok {
		return set
	}
	const all = ^uint64(0)
	if depth > maxWritesDepth {
		return all
	}
	if c.written == nil {
		c.written = map[uint64]uint64{}
	}
	c.written[pc] = all // for recursion
	index := c.fdeAt(pc)
	if index < 0 {
		return all
	}
	f := c.fdes[index]
	if f.End-f.Start > maxWritesSize || !c.spend(int(f.End-f.Start)/bytesPerJob) {
		return all
	}
	code := make([]byte, f.End-f.Start)
	if c.memory.ReadMemory(code, f.Start) != nil {
		return all
	}
	set := uint64(0)
	var operations []operation
	for at := uint64(0); at < uint64(len(code)) && set != all; {
		var i instruction
		var ok bool
		operations, ok = c.machine.decode(code[at:], f.Start+at, &i, operations[:0])
		if !ok || i.size == 0 {
			set = all
			break
		}
		set |= i.clobbered
		for _, o := range operations {
			if o.op != opStore {
				set |= 1 << o.to
			}
		}
		switch i.flow {
		case flowNext, flowReturn, flowStop:
		case flowBranch, flowJump:
			if i.target < f.Start || i.target >= f.End {
				set = all
			}
		case flowCall:
			set |= c.writes(i.target, depth+1)
		default:
			set = all
		}
		at += uint64(i.size)
	}
	c.written[pc] = set
	return set
}
