// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"errors"
	"math/bits"
)

// PERF_FORMAT_* of include/uapi/linux/perf_event.h.
const (
	formatEnabled = 1 << 0
	formatRunning = 1 << 1
	formatID      = 1 << 2
	formatGroup   = 1 << 3
	formatLost    = 1 << 4
)

// PERF_SAMPLE_BRANCH_* that change what a sample holds.
const (
	branchHWIndex  = 1 << 17
	branchCounters = 1 << 19
)

// abiSIMD is PERF_SAMPLE_REGS_ABI_SIMD, a bit next to the ABI.
const abiSIMD = 1 << 2

var errShort = errors.New("the record ends in the middle of a field")

// sampleDecoder holds a sample and the arrays of its slices, which are reused for the
// next sample.
type sampleDecoder struct {
	sample    Sample
	callchain []uint64
	userRegs  []uint64
}

// decode reads a sample of the event a. The order of fields is that of
// perf_output_sample in kernel/events/core.c. After an error, the last field in id.Fields
// or d.sample.Fields is the one that failed.
func (d *sampleDecoder) decode(payload []byte, big bool, a *Attribute, id *SampleID) error {
	d.sample = Sample{}
	s := &d.sample
	c := cursor{b: payload, big: big}
	has := a.SampleType
	if has&FieldIdentifier != 0 {
		id.ID = c.u64()
	}
	if has&FieldIP != 0 {
		s.IP = c.u64()
	}
	id.readMoment(&c, has)
	if has&FieldAddr != 0 {
		s.Addr = c.u64()
	}
	id.readSource(&c, has)
	if has&FieldPeriod != 0 {
		s.Period = c.u64()
	}
	if c.failed {
		return errShort
	}
	const fixed = trailerFields | FieldIP | FieldAddr | FieldPeriod
	id.Fields = has & trailerFields
	s.Fields = has & fixed
	if has&FieldPeriod == 0 && a.Flags&FlagFrequency == 0 {
		s.Period = a.Period
	}
	if has&^fixed == 0 {
		return nil
	}
	return d.decodeVariable(&c, a)
}

// decodeVariable reads the fields from READ to USER_STACK, up to the first truncated one.
func (d *sampleDecoder) decodeVariable(c *cursor, a *Attribute) error {
	s, has := &d.sample, a.SampleType
	if has&FieldRead != 0 {
		skipRead(c, a.ReadFormat)
	}
	if has&FieldCallchain != 0 {
		d.callchain = c.words(d.callchain[:0], c.u64())
		s.Callchain = d.callchain
		s.read(c, FieldCallchain)
	}
	if has&FieldRaw != 0 {
		size := c.u32()
		s.Raw = c.bytes(uint64(size))
		// The kernel pads the field to whole words.
		c.skip(uint64(-(size + 4) & 7))
		s.read(c, FieldRaw)
	}
	if has&FieldBranchStack != 0 {
		skipBranches(c, a.BranchSampleType)
	}
	if has&FieldUserRegs != 0 {
		d.userRegs = s.UserRegs.read(c, a.RegsUser, d.userRegs)
		s.read(c, FieldUserRegs)
	}
	if has&FieldUserStack != 0 {
		s.UserStack = userStack(c)
		s.read(c, FieldUserStack)
	}
	if c.failed {
		return errShort
	}
	return nil
}

// read adds a field to those that could be read.
func (s *Sample) read(c *cursor, field SampleType) {
	if !c.failed {
		s.Fields |= field
	}
}

// skipRead skips struct read_format.
func skipRead(c *cursor, format uint64) {
	n := uint64(1)
	if format&formatGroup != 0 {
		n = c.u64()
	}
	c.entries(1, bits.OnesCount64(format&(formatEnabled|formatRunning)))
	c.entries(n, 1+bits.OnesCount64(format&(formatID|formatLost)))
}

// skipBranches skips the branches that the processor took: a number, and struct
// perf_branch_entry for each.
func skipBranches(c *cursor, branchType uint64) {
	n := c.u64()
	if branchType&branchHWIndex != 0 {
		c.u64()
	}
	c.entries(n, 3)
	if branchType&branchCounters != 0 {
		c.entries(n, 1)
	}
}

// read reads the registers of mask. It stores their values in buf, and returns buf.
func (r *RegisterSet) read(c *cursor, mask uint64, buf []uint64) []uint64 {
	abi := c.u64()
	r.ABI = ABI(abi &^ abiSIMD)
	if r.ABI == ABINone {
		return buf
	}
	buf = c.words(buf[:0], uint64(bits.OnesCount64(mask)))
	r.Mask, r.Values = mask, buf
	if abi&abiSIMD != 0 {
		// Vector and predicate registers: their number, their width, and their words.
		vectors := uint64(c.u16()) * uint64(c.u16())
		predicates := uint64(c.u16()) * uint64(c.u16())
		c.bytes(8 * (vectors + predicates))
	}
	if c.failed {
		r.Mask, r.Values = 0, nil
	}
	return buf
}

// userStack reads PERF_SAMPLE_STACK_USER: a buffer, of which the kernel filled a part.
func userStack(c *cursor) []byte {
	size := c.u64()
	data := c.bytes(size)
	if size == 0 {
		return nil
	}
	filled := c.u64()
	if filled > size {
		c.fail()
		return nil
	}
	return data[:filled:filled]
}
