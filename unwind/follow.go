// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/clewdev/clew/arch"
)

// Follow walks the stack that starts with the given registers as Walk does, and
// leaves its frames in a trail. The registers of frames, which only few callers
// want, are recovered only as far as the path depends on them: Walk has them all.
// Of the path that the trail remembers what still holds is not walked again. It
// allocates nothing once the trail has room for the deepest stack, but for
// memory's errors. Reason and Err tell why the walk ended.
func (w *Walker) Follow(t *Trail, regs *Registers) {
	w.begin()
	if t.of != w.Modules || t.generation != w.Modules.generation || t.machine != w.Machine {
		t.of, t.generation, t.machine = w.Modules, w.Modules.generation, w.Machine
		t.Forget()
	}
	f := follower{w: w, t: t, initial: regs}
	if !f.follow() {
		// The remembered path would make it too long.
		t.Forget()
		f = follower{w: w, t: t, initial: regs}
		w.begin()
		f.follow()
	}
}

// follower is a walk that is being made along a trail.
type follower struct {
	w       *Walker
	t       *Trail
	initial *Registers

	now   step   // the frame that is to be left
	steps []step // before now, from room on
	slots []slot // of steps, from 2*room on

	// The steps of the trail from candidate on are those that now can be one of:
	// its stack pointer is next, or farAway where there is none.
	candidate int
	next      uint64

	loose     int // how many steps the last one ends that depends on more than its state and slots
	high      uint64
	scattered bool

	probes bool // registers cannot be replayed: steps are missing

	// The walker's registers are of the frame behind this many steps; -1 where
	// they are of none.
	replayed int
}

// follow returns false where the walk has to be made without the remembered path.
func (f *follower) follow() bool {
	w, t := f.w, f.t
	f.steps, f.slots = reserve(t.nextSteps, room), reserve(t.nextSlots, 2*room)
	f.replayed = -1
	m := w.Machine
	f.now = step{pc: f.initial.PC, is: interrupted | stepFacts(FromRegisters)}
	f.bases(f.initial)
	f.restart()
	most := w.most()
	for {
		if f.now.sp >= f.next {
			if from, ok := f.match(); ok {
				if len(f.steps)-room+len(t.steps)-from > most {
					return false
				}
				if f.join(from) {
					return true
				}
			}
		}
		if f.now.pc == 0 && f.now.is&interrupted == 0 {
			// Plain rules led here, as CFI's: code at address 0 calls nobody.
			w.end(EndOfStack, nil)
			break
		}
		if len(f.steps)-room >= most {
			w.end(TooManyFrames, fmt.Errorf("the walk was cut after %d frames", most))
			break
		}
		if f.run(room + most) {
			continue
		}
		if !f.step(m) {
			break
		}
	}
	f.finish()
	return true
}

// reserve returns a slice of n elements with room for more.
func reserve[T any](s []T, n int) []T {
	if cap(s) < 4*n {
		s = make([]T, 4*n)
	}
	return s[:n]
}

// bases sets what now has of some registers.
func (f *follower) bases(r *Registers) {
	m := f.w.Machine
	f.now.sp, f.now.fp = 0, 0
	f.now.is &^= basesKnown
	sp, ok := r.Get(uint64(m.StackPointer))
	if ok {
		f.now.sp = sp
	}
	if m.FramePointer < 0 {
		return
	}
	fp, known := r.Get(uint64(m.FramePointer))
	if known {
		f.now.fp = fp
	}
	if ok && known {
		f.now.is |= basesKnown
	}
}

// restart makes all steps candidates that can be one.
func (f *follower) restart() {
	f.candidate = len(f.t.steps) - f.t.fixed
	f.ahead()
}

func (f *follower) ahead() {
	f.next = farAway
	if f.candidate < len(f.t.steps) {
		f.next = f.t.steps[f.candidate].sp
	}
}

// match looks for now among the candidates.
func (f *follower) match() (int, bool) {
	steps := f.t.steps
	for f.candidate < len(steps) && steps[f.candidate].sp < f.now.sp {
		f.candidate++
	}
	f.next = farAway
	for i := f.candidate; i < len(steps); i++ {
		s := &steps[i]
		if s.sp != f.now.sp {
			f.next = s.sp
			break
		}
		if s.pc == f.now.pc && s.fp == f.now.fp && (s.is^f.now.is)&stateMask == 0 {
			return i, true
		}
	}
	return 0, false
}

// join goes on along the trail from a step that now is equal to. It returns true
// where that leads to its end, and the walk is finished; else now is the frame from
// which on the path is another.
func (f *follower) join(from int) bool {
	t := f.t
	to := t.changed(from, f.w)
	if to == len(t.steps) {
		if t.ended || f.endsAgain() {
			f.keep(from)
			return true
		}
		to-- // the last one leads on now
	}
	first := t.steps[from].slots
	shift := uint32(len(f.slots)) - first
	for _, s := range t.steps[from:to] {
		s.slots += shift
		f.steps = append(f.steps, s)
	}
	f.slots = append(f.slots, t.slots[first:t.steps[to].slots]...)
	f.high = max(f.high, t.high)
	f.scattered = f.scattered || t.scattered
	f.now = t.steps[to]
	f.now.is &= stateMask
	f.candidate = to + 1
	f.ahead()
	return false
}

// endsAgain reports whether the outermost step of the trail is again where the
// walk ends.
func (f *follower) endsAgain() bool {
	t := f.t
	f.replayed = -1 // the probe uses the walker's registers
	probe := *f
	probe.probes = true
	probe.now = t.steps[len(t.steps)-1]
	probe.now.is &= stateMask
	probe.next, probe.candidate = farAway, len(t.steps)
	return !probe.run(len(probe.steps)+1) && !probe.step(f.w.Machine)
}

// run leaves frames by plain rules, as long as there are at most so many steps and
// now may not be one of the trail. It returns false where it has left none.
func (f *follower) run(most int) bool {
	w := f.w
	if len(w.Stack.Bytes) < reach || f.now.is&basesKnown == 0 {
		return false
	}
	before := len(f.steps)
	if f.now.is&interrupted != 0 {
		// Its place is not that of an address that a call returns to.
		e, _ := w.know(f.now.pc, true)
		if f.leavePlain(e); f.now.is&interrupted != 0 {
			return false
		}
	}
	for len(f.steps) < most && f.now.sp < f.next && f.now.pc != 0 {
		n := len(f.steps)
		f.steps = slices.Grow(f.steps, 32)
		f.slots = slices.Grow(f.slots, 64)
		if f.leaveKnown(min(32, most-n)); len(f.steps) == n {
			// An address that was not met yet, or the end of what is plain.
			e, _ := w.know(f.now.pc, false)
			if f.leavePlain(e); len(f.steps) == n {
				break
			}
		}
	}
	f.reached(f.now.sp)
	return len(f.steps) > before
}

// leavePlain leaves now by plain rules, if it has them and the stack that they need.
func (f *follower) leavePlain(e *known) {
	stack := &f.w.Stack
	from := f.now.sp - stack.Address
	at := from
	if e.is&fromFP != 0 {
		at = f.now.fp - stack.Address
	}
	limit := uint64(len(stack.Bytes)) - reach
	cfa := at + uint64(e.cfa)
	if e.is&isPlain == 0 || from > limit || at-from > limit || cfa > limit {
		return
	}
	ra, saved := at+uint64(e.ra), at+uint64(e.fp)
	f.now.slots = uint32(len(f.slots))
	f.steps = append(f.steps, f.now)
	pc := binary.LittleEndian.Uint64(stack.Bytes[ra:])
	f.slots = append(f.slots, slot{stack.Address + ra, pc})
	if e.is&savesFP != 0 {
		f.now.fp = binary.LittleEndian.Uint64(stack.Bytes[saved:])
		f.slots = append(f.slots, slot{stack.Address + saved, f.now.fp})
	}
	if e.is&isSigned != 0 {
		pc = unsigned(pc)
	}
	f.now.pc, f.now.sp, f.now.is = pc, stack.Address+cfa, stepFacts(FromCFI)|basesKnown
}

// leaveKnown does what leavePlain does again and again, at most so many times,
// while the walker knows the addresses. There is room for the steps and slots.
//
// From one return address to the next the processor waits for three loads that
// depend on each other (the address's entry, the slot), and everything else has to
// be done meanwhile: there is no call, no branch that could go either way but on
// the length of the stack, and what is not needed often is not in a register.
func (f *follower) leaveKnown(most int) {
	w := f.w
	base, limit := w.Stack.Address, uint64(len(w.Stack.Bytes))-reach
	stack := unsafe.Pointer(unsafe.SliceData(w.Stack.Bytes))
	entries, mask := unsafe.Pointer(unsafe.SliceData(w.known.called)), uintptr(len(w.known.called)-2)*entrySize
	next := farAway - base
	if f.next != farAway {
		next = f.next - base
	}
	if f.now.sp-base > limit {
		return
	}
	steps, slots := f.steps, f.slots
	// Bytes behind the first step and slot.
	stepAt, slotAt := uintptr(len(steps))*stepSize, uintptr(len(slots))*slotSize
	firstStep, firstSlot := unsafe.Pointer(unsafe.SliceData(steps)), unsafe.Pointer(unsafe.SliceData(slots))
	end := stepAt + uintptr(most)*stepSize
	pc, sp, fp := f.now.pc, f.now.sp-base, f.now.fp
	for stepAt < end {
		at := (uintptr(pc)*entrySize ^ uintptr(pc)>>(9-entryShift)) & mask
		e := (*known)(unsafe.Add(entries, at))
		if e.pc != pc {
			if e = (*known)(unsafe.Add(entries, at+entrySize)); e.pc != pc {
				break
			}
		}
		is := e.is
		if is&isPlain == 0 {
			break
		}
		// No sum below overflows, and all slots are in the stack: plain offsets are
		// below 1<<31, and the slots end at most reach bytes above the CFA.
		pointer, from := fp-base, sp
		if is&fromFP != 0 {
			from = pointer
		}
		cfa := from + uint64(e.cfa)
		if from-sp > limit || cfa > limit {
			break
		}
		ra, saved := from+uint64(e.ra), from+uint64(e.fp)
		s := (*step)(unsafe.Add(firstStep, stepAt))
		s.pc, s.sp, s.fp = pc, sp+base, fp
		s.slots, s.is = uint32(slotAt/slotSize), stepFacts(FromCFI)|basesKnown
		pc = word(stack, ra)
		v := word(stack, saved)
		two := (*[2]slot)(unsafe.Add(firstSlot, slotAt))
		two[0].addr, two[0].value = ra+base, pc
		two[1].addr, two[1].value = saved+base, v
		if is&savesFP != 0 {
			fp = v
		}
		if is&isSigned != 0 {
			pc = unsigned(pc)
		}
		stepAt += stepSize
		slotAt += slotSize + uintptr(is&savesFP)/uintptr(savesFP)*slotSize
		sp = cfa
		if pc == 0 || sp >= next {
			break
		}
	}
	f.steps, f.slots = steps[:stepAt/stepSize], slots[:slotAt/slotSize]
	if len(f.steps) > len(steps) {
		f.steps[len(steps)].is = f.now.is
		f.now.is = stepFacts(FromCFI) | basesKnown
		f.now.pc, f.now.sp, f.now.fp = pc, sp+base, fp
	}
}

const (
	entrySize  = unsafe.Sizeof(known{})
	entryShift = 5
	stepSize   = unsafe.Sizeof(step{})
	slotSize   = unsafe.Sizeof(slot{})

	_ = uint(entrySize-1<<entryShift) + uint(1<<entryShift-entrySize) // they are equal
)

// word returns the 8 bytes at an offset, least significant first.
func word(p unsafe.Pointer, offset uint64) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, offset))[:])
}

// reached notes the stack pointer that a step has led to.
func (f *follower) reached(sp uint64) {
	high := sp + reach
	if high < sp {
		f.scattered = true
	}
	f.high = max(f.high, high)
}

// needsRegisters reports whether leaving a frame takes more registers than the bases.
func needsRegisters(e facts, now stepFacts) bool {
	switch {
	case now&basesKnown == 0:
		return true
	case e&(isPlain|isOutermost) != 0:
		return false
	}
	return e&(hasRules|isTrampoline) != 0 || now&interrupted != 0
}

// step leaves now in the general way. It returns false where the walk ends.
func (f *follower) step(m *arch.Machine) bool {
	w := f.w
	left := len(f.steps) - room
	if !w.mayWork(left) {
		return false
	}
	e, module := w.know(f.now.pc, f.now.is&interrupted != 0)
	at, rules := e.plain, e.rules
	if at.is&isTrampoline != 0 {
		f.now.is |= trampoline
	}
	if at.is&looksUpAtPC != 0 {
		f.now.is |= lookedUpAtPC
	}
	f.now.slots = uint32(len(f.slots))
	f.steps = append(f.steps, f.now)
	simple := !needsRegisters(at.is, f.now.is)
	switch {
	case simple && at.is&isOutermost != 0:
		return w.end(EndOfStack, nil)
	case simple && at.is&isPlain != 0:
		// It is at the end of the copied stack or behind it, or makes no sense.
		if done, on := f.leaveElsewhere(at); done {
			return on
		}
	}
	if simple && at.is&isPlain == 0 {
		// No rules: the frame pointer is all that counts.
		w.regs.known = columnSet{}
		w.regs.Set(uint64(m.StackPointer), f.now.sp)
		w.regs.Set(uint64(m.FramePointer), f.now.fp)
		w.regs.PC = f.now.pc
		if m.ProgramCounter >= 0 {
			w.regs.Set(uint64(m.ProgramCounter), f.now.pc)
		}
	} else if f.probes || !f.replay(left) {
		return f.probes
	}
	w.frame = Frame{Registers: &w.regs, PC: f.now.pc, LookupPC: f.now.lookup(), Module: module,
		Method: Method(f.now.is & methodMask), Interrupted: f.now.is&interrupted != 0}
	w.recorder, w.records = recorder{slots: f.slots}, true
	switches := w.switches
	on := w.leave(at.is, rules)
	w.records = false
	first := len(f.slots)
	f.slots = w.recorder.slots
	if w.recorder.loose || w.switches != switches {
		f.loose = len(f.steps)
	}
	before := f.now.sp
	if on {
		f.now = step{pc: w.regs.PC, is: stepFacts(w.frame.Method)}
		if w.frame.Interrupted {
			f.now.is |= interrupted
		}
		f.bases(&w.regs)
		f.replayed = len(f.steps)
	}
	f.reached(f.now.sp)
	for _, s := range f.slots[first:] {
		if s.addr < before || s.addr+8 > f.high || s.addr+8 < s.addr {
			f.scattered = true
		}
	}
	if f.now.sp < before {
		f.restart()
	} else {
		f.ahead()
	}
	return on
}

// leaveElsewhere leaves the last step by plain rules, of which the slots are not in
// the copied stack. It returns done unset where the frame is to be left in the
// general way, and on where the walk goes on.
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
	f.slots = append(f.slots, slot{from + uint64(rule.ra), pc})
	if rule.is&savesFP != 0 {
		f.now.fp = fp
		f.slots = append(f.slots, slot{from + uint64(rule.fp), fp})
	}
	if rule.is&isSigned != 0 {
		pc = unsigned(pc)
	}
	f.now.pc, f.now.sp, f.now.is = pc, cfa, stepFacts(FromCFI)|basesKnown
	f.reached(cfa)
	return true, true
}

// replay makes the walker's registers those of the frame behind some steps.
func (f *follower) replay(left int) bool {
	w := f.w
	at := f.replayed - room
	if f.replayed < 0 {
		w.start(f.initial)
		at = 0
	}
	for ; at < left; at++ {
		e := w.look()
		if !w.leave(e.is, e.rules) {
			return false // memory has changed meanwhile
		}
	}
	return true
}

// keep finishes the walk with the steps of the trail from one on.
func (f *follower) keep(from int) {
	t := f.t
	steps, slots := f.steps[room:], f.slots[2*room:]
	first := int(t.steps[from].slots)
	t.kept = len(t.steps) - from
	head, headSlot := from-len(steps), first-len(slots)
	t.nextSteps, t.nextSlots = f.steps, f.slots
	if head < 0 || headSlot < 0 {
		// No room is left.
		shift := len(f.slots) - first
		for _, s := range t.steps[from:] {
			s.slots = uint32(int(s.slots) + shift)
			f.steps = append(f.steps, s)
		}
		f.slots = append(f.slots, t.slots[first:]...)
		t.nextSteps, t.nextSlots = t.steps, t.slots
		t.steps, t.slots, t.head = f.steps, f.slots, room
	} else {
		shift := headSlot - 2*room
		for i, s := range steps {
			s.slots = uint32(int(s.slots) + shift)
			t.steps[head+i] = s
		}
		copy(t.slots[headSlot:], slots)
		t.head = head
	}
	t.fixed = t.Len()
	if f.loose > 0 {
		t.fixed = t.Len() - (f.loose - room)
	}
	t.high = max(t.high, f.high)
	t.scattered = t.scattered || f.scattered
}

// finish makes what was walked the trail.
func (f *follower) finish() {
	t := f.t
	t.steps, t.nextSteps = f.steps, t.steps
	t.slots, t.nextSlots = f.slots, t.slots
	t.head, t.kept = room, 0
	t.fixed = t.Len()
	if f.loose > 0 {
		t.fixed = t.Len() - (f.loose - room)
	}
	t.high, t.scattered = f.high, f.scattered
	t.ended = f.w.reason == EndOfStack
}

// recorder notes what a step depends on.
type recorder struct {
	slots []slot
	loose bool // on more than the bases and slots
}

func (r *recorder) used(column uint64, m *arch.Machine) {
	if c := int(column); c != m.StackPointer && c != m.FramePointer && c != m.ProgramCounter || column > math.MaxInt32 {
		r.loose = true
	}
}

func (r *recorder) record(p []byte, addr uint64, m *arch.Machine) {
	if len(p) != 8 || m.Order != binary.LittleEndian {
		r.loose = true
		return
	}
	r.slots = append(r.slots, slot{addr, binary.LittleEndian.Uint64(p)})
}
