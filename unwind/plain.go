// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// plain holds rules in their usual form. The CFA is the stack pointer or the frame
// pointer plus an offset. The return address is on the stack. The frame pointer is on
// the stack or unchanged. The caller's stack pointer is the CFA. Such a frame is left
// with a few loads. plain omits the other registers that the rules restore.
type plain struct {
	cfa uint32 // offset from the base in bytes, like the next two; at most 1<<31
	ra  uint32 // of the slot of the return address
	fp  uint32 // of the slot of the frame pointer; ra if it has no slot
	is  facts
}

// facts are properties of the address of a frame.
type facts uint32

const (
	isPlain     facts = 1 << iota // the offsets count
	fromFP                        // the base is the frame pointer, else the stack pointer
	savesFP                       // the frame pointer has a slot
	isSigned                      // the return address is signed
	isOutermost                   // the rules call the return address undefined
	hasRules
	isExecutable
	isTrampoline  // of signals
	looksUpAtPC   // though the frame was not interrupted
	leftByPointer // by the frame pointer, in the absence of rules
	isReturnedTo  // a function that was not called: see Walker.returnedTo
	needsBases    // the rules lead to the caller's bases from the frame's, and memory
)

// reach is the greatest distance above the CFA at which a slot may end: ppc64's callers
// keep a save area there.
const reach = 32

// plainOf returns the plain form of rules, without isPlain and isOutermost if they have
// none.
func plainOf(r *Rules, m *arch.Machine) plain {
	if !canBePlain(m) || r.CFA.Kind != cfi.Register || r.SignalFrame || r.Interrupts {
		return plain{}
	}
	p := plain{is: isPlain}
	switch int(r.CFA.Register) {
	case m.StackPointer:
	case m.FramePointer:
		p.is |= fromFP
	default:
		return plain{}
	}
	if r.Signed {
		p.is |= isSigned
	}
	returns := false
	slot := func(offset int64) (uint32, bool) {
		at := r.CFA.Offset + offset
		return uint32(at), offset <= reach-8 && at >= 0 && at <= math.MaxInt32
	}
	for i := range r.Registers {
		rule := &r.Registers[i]
		ok := true
		switch column := int(rule.Column); {
		case uint64(rule.Column) == r.ReturnAddress:
			if rule.Kind == cfi.Undefined {
				return plain{is: isOutermost | p.is&fromFP}
			}
			p.ra, ok = slot(rule.Offset)
			ok = ok && rule.Kind == cfi.Offset
			returns = true
		case column == m.StackPointer || column == m.ProgramCounter:
			ok = false
		case column == m.FramePointer && rule.Kind == cfi.Offset:
			p.fp, ok = slot(rule.Offset)
			p.is |= savesFP
		case column == m.FramePointer:
			ok = rule.Kind == cfi.SameValue
		}
		if !ok {
			return plain{}
		}
	}
	if !returns || r.CFA.Offset <= 0 || r.CFA.Offset > math.MaxInt32 || int(r.ReturnAddress) == m.StackPointer ||
		int(r.ReturnAddress) == m.FramePointer {
		return plain{}
	}
	p.cfa = uint32(r.CFA.Offset)
	if p.is&savesFP == 0 {
		p.fp = p.ra
	}
	return p
}

// canBePlain reports whether rules of a machine can have the plain form.
func canBePlain(m *arch.Machine) bool {
	return m.AddressSize == 8 && m.RegisterSize == 8 && m.Order == binary.LittleEndian && m.CFAOffset == 0 && m.ReturnOffset == 0 && m.CodeMask == math.MaxUint64 &&
		m.StackPointer >= 0 && m.FramePointer >= 0 && m.FramePointer < MaxColumns && m.StackPointer < MaxColumns &&
		m.CalleeSaved(uint64(m.FramePointer))
}

// farAway is above every stack pointer.
const farAway = math.MaxUint64

// run leaves frames by plain rules, until there are most steps or now may be one of the
// trail. It returns false if it has left no frame.
func (f *follower) run(most int) bool {
	w := f.w
	if len(w.Stack.Bytes) < reach || f.now.is&(basesKnown|spGuessed) != basesKnown {
		return false
	}
	before := len(f.steps)
	for {
		n := len(f.steps)
		const ahead = 64
		if cap(f.steps)-n < ahead {
			f.steps = slices.Grow(f.steps, ahead)
		}
		e, _ := w.know(f.now.pc, f.now.is&interrupted != 0)
		f.leavePlain(e, min(ahead, most-n))
		if len(f.steps) == n || len(f.steps) == most || f.now.sp >= f.next || f.now.pc == 0 {
			break
		}
	}
	f.reached(f.now.sp)
	return len(f.steps) > before
}

// leavePlain leaves now, at the address e, and its callers by plain rules of known
// addresses, at most most times. steps has the capacity for them. leavePlain stops when
// now may be one of the trail.
//
// From one return address to the next the processor waits for two dependent loads (the
// address's entry, the slot), and does everything else meanwhile. There are no calls, the
// only unpredictable branches depend on the length of the stack, and rarely used variables
// are not kept in registers.
func (f *follower) leavePlain(e *known, most int) {
	w := f.w
	// These stay in memory, because there are not enough registers.
	var c struct {
		limit, base, mask, end, next  uint64
		trail                         unsafe.Pointer // the steps that may equal now
		candidateAt, candidates, more uint64
	}
	c.limit, c.base = uint64(len(w.Stack.Bytes))-reach, w.Stack.Address
	if f.now.sp-c.base > c.limit {
		return
	}
	c.trail = unsafe.Pointer(unsafe.SliceData(f.t.steps))
	c.candidateAt, c.candidates = uint64(f.candidate)*stepSize, uint64(len(f.t.steps))*stepSize
	c.next = farAway - c.base
	if f.next != farAway {
		c.next = f.next - c.base
	}
	c.mask = uint64(len(w.known.called)-2) * entrySize
	c.more = uint64(len(f.slots))
	stack, entries := unsafe.Pointer(unsafe.SliceData(w.Stack.Bytes)), unsafe.Pointer(unsafe.SliceData(w.known.called))
	steps := f.steps
	first := unsafe.Pointer(unsafe.SliceData(steps))
	at := uint64(len(steps)) * stepSize // bytes after the first one
	c.end = at + uint64(most)*stepSize
	pc, sp, fp := f.now.pc, f.now.sp-c.base, f.now.fp
	for at < c.end {
		is := e.is
		if is&isPlain == 0 {
			break
		}
		// No sum below overflows, and all slots are in the stack: plain offsets are
		// below 1<<31, and the slots end at most reach bytes above the CFA.
		base := c.base
		pointer, from := fp-base, sp
		if is&fromFP != 0 {
			from = pointer
		}
		cfa := from + uint64(e.cfa)
		if from < sp || from > c.limit || cfa > c.limit {
			break
		}
		s := (*step)(unsafe.Add(first, at))
		s.pc, s.fp = pc, fp
		ra := from + uint64(e.ra)
		pc = word(stack, ra)
		saved := from + uint64(e.fp)
		v := word(stack, saved)
		s.sp, s.more, s.is = sp+base, uint32(c.more), stepFacts(FromCFI)|basesKnown|hasSlots
		s.ra.addr, s.ra.value = ra+base, pc
		s.saved.addr, s.saved.value = saved+base, v
		fp ^= (fp ^ v) & -uint64(is&savesFP/savesFP) // v if it saves it, without a branch
		if is&isSigned != 0 {
			pc = unsigned(pc)
		}
		at += stepSize
		sp = cfa
		// now is past a frame of the trail, or may be that frame.
		for sp >= c.next {
			t := (*step)(unsafe.Add(c.trail, c.candidateAt))
			if t.pc == pc && t.sp-base == sp && t.fp == fp {
				c.end = 0
				break
			}
			c.next = farAway - base
			if c.candidateAt += stepSize; c.candidateAt < c.candidates {
				c.next = (*step)(unsafe.Add(c.trail, c.candidateAt)).sp - base
			}
		}
		e = (*known)(unsafe.Add(entries, (pc*entrySize^pc>>(9-entryShift))&c.mask))
		if e.pc != pc {
			if e = (*known)(unsafe.Add(unsafe.Pointer(e), entrySize)); e.pc != pc {
				break
			}
		}
	}
	f.candidate = int(c.candidateAt / stepSize)
	f.ahead()
	if f.steps = steps[:at/stepSize]; len(f.steps) > len(steps) {
		f.steps[len(steps)].is = f.now.is | hasSlots
		f.now = state{pc: pc, sp: sp + c.base, fp: fp, is: stepFacts(FromCFI) | basesKnown}
	}
}

const (
	entryShift = 5
	entrySize  = 1 << entryShift // of a known
	stepSize   = 64
)

// word returns the 8 bytes at an offset, least significant first.
func word(p unsafe.Pointer, offset uint64) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, offset))[:])
}

// leaveElsewhere leaves the last step by plain rules with slots outside the copied
// stack. done is false if the frame must be left in the general way. on reports whether
// the walk continues.
func (f *follower) leaveElsewhere(rule plain) (done, on bool) {
	w, sp := f.w, f.now.sp
	from := sp
	if rule.is&fromFP != 0 {
		from = f.now.fp
	}
	cfa := from + uint64(rule.cfa)
	pc, err := w.word8(from + uint64(rule.ra))
	if err != nil {
		return true, w.unreadableReturn(f.now.pc, from+uint64(rule.ra), err)
	}
	fp, err := w.word8(from + uint64(rule.fp))
	if err != nil || from < sp || cfa <= from {
		return false, false
	}
	left := &f.steps[len(f.steps)-1]
	left.ra, left.saved = slot{from + uint64(rule.ra), pc}, slot{from + uint64(rule.fp), fp}
	left.is |= hasSlots
	if rule.is&isSigned != 0 {
		pc = unsigned(pc)
	}
	if rule.is&savesFP == 0 {
		fp = f.now.fp
	}
	f.now = state{pc: pc, sp: cfa, fp: fp, is: stepFacts(FromCFI) | basesKnown}
	f.reached(cfa)
	return true, true
}

// reached notes the stack pointer that a step has led to.
func (f *follower) reached(sp uint64) {
	high := sp + reach
	if high < sp {
		f.scattered = true
	}
	f.high = max(f.high, high)
}
