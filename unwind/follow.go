// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/clewdev/clew/arch"
)

// Follow walks the stack that starts with the given registers as Walk does, and stores its
// frames in a trail. It only checks the frames of the previous path that are unchanged. It
// recovers only the registers that the path depends on. It allocates nothing if the trail
// has the capacity for the stack, except for errors of the memory. Reason and Err return
// why the walk ended.
func (w *Walker) Follow(t *Trail, regs *Registers) {
	w.begin()
	if t.of != w.Modules || t.generation != w.Modules.generation || t.machine != w.Machine {
		t.of, t.generation, t.machine = w.Modules, w.Modules.generation, w.Machine
		t.Forget()
	}
	f := follower{w: w, t: t, initial: regs}
	if !f.follow() {
		// The path would be too long with the remembered frames.
		t.Forget()
		f = follower{w: w, t: t, initial: regs}
		w.comeBack()
		w.begin()
		f.follow()
	}
	w.comeBack()
}

// follower is one walk along a trail.
type follower struct {
	w       *Walker
	t       *Trail
	initial *Registers

	now   state  // of the frame to leave
	steps []step // before now, from spare on
	slots []slot // of steps, from 2*spare on

	// now can be one of the steps of the trail from candidate on. The stack pointer of
	// candidate is next, or farAway if there is no candidate.
	candidate int
	next      uint64

	loose     int // the number of steps up to the last one that depends on more than its state and slots
	down      int // and up to the last one that led down
	high      uint64
	scattered bool

	probes bool // registers cannot be replayed: steps are missing

	// The walker's registers are those of the frame after this many steps; -1 if of no
	// frame.
	replayed int
}

// follow returns false if the walk has to be made without the remembered path.
func (f *follower) follow() bool {
	w, t := f.w, f.t
	f.steps, f.slots = reserve(t.nextSteps, spare), reserve(t.nextSlots, 2*spare)
	f.replayed = -1
	m := w.Machine
	f.now = state{pc: f.initial.PC, is: interrupted | stepFacts(FromRegisters)}
	f.bases(f.initial)
	f.restart()
	most := cmp.Or(w.MaxFrames, DefaultMaxFrames)
	for {
		if f.now.sp >= f.next {
			if from, ok := f.match(); ok {
				if len(f.steps)-spare+len(t.steps)-from > most {
					return false
				}
				if f.join(from) {
					return true
				}
			}
		}
		if f.now.pc == 0 && f.now.is&interrupted == 0 {
			// Plain rules led here, as CFI does: code at address 0 has no callees.
			w.end(EndOfStack, nil)
			break
		}
		if len(f.steps)-spare >= most {
			w.end(TooManyFrames, fmt.Errorf("the walk was cut after %d frames", most))
			break
		}
		if f.run(spare + most) {
			continue
		}
		if !f.step(m) {
			break
		}
	}
	f.finish()
	return true
}

// reserve returns a slice of n elements with capacity for more.
func reserve[T any](s []T, n int) []T {
	if cap(s) < 4*n {
		s = make([]T, 4*n)
	}
	return s[:n]
}

// bases sets the stack pointer and the frame pointer of now from registers.
func (f *follower) bases(r *Registers) {
	m := f.w.Machine
	f.now.fp, f.now.is = 0, f.now.is&^basesKnown
	sp, ok := r.Get(uint64(m.StackPointer))
	f.now.sp = sp
	if m.FramePointer < 0 {
		return
	}
	fp, known := r.Get(uint64(m.FramePointer))
	f.now.fp = fp
	if ok && known {
		f.now.is |= basesKnown
	}
}

// restart makes steps of the trail candidates. Their stack pointers have to ascend from that of now:
// before the walk was led down these are all fixed steps, up to the first one that leads down, and
// afterwards those that follow the last one.
func (f *follower) restart() {
	n := f.t.fixed
	if f.w.switches.n > 0 {
		n = min(n, f.t.ascending)
	}
	f.candidate = len(f.t.steps) - n
	f.ahead()
}

// ahead sets next from candidate.
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

// join continues along the trail from a step that equals now. It returns true if it
// reaches the end of the trail and the walk is finished. Otherwise now is the frame at
// which the path becomes different.
func (f *follower) join(from int) bool {
	t := f.t
	to := t.changed(from, f.w)
	if to == len(t.steps) {
		if t.ended || f.stillEnds() {
			f.keep(from)
			return true
		}
		to-- // the last one has a caller now
	}
	first := t.steps[from].more
	shift := uint32(len(f.slots)) - first
	down := f.down
	for i, s := range t.steps[from:to] {
		s.more += shift
		f.steps = append(f.steps, s)
		if next := &t.steps[from+i+1]; f.w.inner(next.sp, s.sp) {
			f.w.mayGoDown(next.pc, next.sp) // as before: this walk was not led down until here
			f.down = len(f.steps)
		}
	}
	f.slots = append(f.slots, t.slots[first:t.steps[to].more]...)
	f.high = max(f.high, t.high)
	f.scattered = f.scattered || t.scattered
	f.now = t.steps[to].state()
	if t.scattered {
		f.w.enter(f.now.sp)
	}
	if f.down != down {
		f.restart()
	} else {
		f.candidate = to + 1
		f.ahead()
	}
	return false
}

// stillEnds reports whether the walk ends again at the outermost step of the trail.
func (f *follower) stillEnds() bool {
	t := f.t
	f.replayed = -1 // the probe uses the walker's registers
	probe := *f
	probe.probes = true
	probe.now = t.steps[len(t.steps)-1].state()
	probe.next, probe.candidate = farAway, len(t.steps)
	w := f.w
	stack, others, switches := w.Stack, w.others, w.switches.n
	ends := !probe.run(len(probe.steps)+1) && !probe.step(w.Machine)
	w.Stack, w.others, w.switches.n = stack, others, switches
	return ends
}

// needsRegisters reports whether leaving a frame needs more registers than the bases.
func needsRegisters(e facts, now stepFacts) bool {
	switch {
	case now&basesKnown == 0, now&spGuessed != 0 && e&hasRules != 0:
		return true
	case e&(isPlain|isOutermost) != 0, e&needsBases != 0 && now&interrupted == 0:
		return false
	}
	return e&(hasRules|isTrampoline) != 0 || now&interrupted != 0
}

// step leaves now in the general way. It returns false if the walk ends.
func (f *follower) step(m *arch.Machine) bool {
	w := f.w
	n := len(f.steps) - spare
	if !w.mayWork(n) {
		return false
	}
	e, module := w.know(f.now.pc, f.now.is&interrupted != 0)
	at, rules := e.plain, e.rules
	left := step{pc: f.now.pc, sp: f.now.sp, fp: f.now.fp, more: uint32(len(f.slots)), is: f.now.is}
	if at.is&isTrampoline != 0 {
		left.is |= trampoline
	}
	if at.is&looksUpAtPC != 0 {
		left.is |= lookedUpAtPC
	}
	f.steps = append(f.steps, left)
	simple := !needsRegisters(at.is, f.now.is)
	switch {
	case simple && at.is&isOutermost != 0:
		return w.end(EndOfStack, nil)
	case simple && at.is&isPlain != 0:
		// run could not leave it: a slot is outside the copied stack, or the rules are invalid.
		if done, on := f.leaveElsewhere(at); done {
			return on
		}
	}
	if simple && at.is&isPlain == 0 {
		// Only the bases matter.
		w.regs.known, w.guessed = columnSet{}, false
		w.regs.Set(uint64(m.StackPointer), f.now.sp)
		w.regs.Set(uint64(m.FramePointer), f.now.fp)
		w.regs.PC = f.now.pc
		if m.ProgramCounter >= 0 {
			w.regs.Set(uint64(m.ProgramCounter), f.now.pc)
		}
	} else if f.probes || !f.replay(n) {
		return f.probes
	}
	w.frame = Frame{Registers: &w.regs, PC: left.pc, LookupPC: left.lookup(), Module: module,
		Method: Method(f.now.is & methodMask), Interrupted: f.now.is&interrupted != 0}
	w.recorder, w.records = recorder{slots: f.slots}, true
	switches := w.switches.n
	_, spKnown := w.regs.Get(uint64(m.StackPointer))
	on := w.leave(at.is, rules)
	w.records = false
	first := len(f.slots)
	f.slots = w.recorder.slots
	if w.recorder.loose || !spKnown {
		f.loose = len(f.steps)
	}
	if w.switches.n != switches {
		f.down = len(f.steps)
	}
	before := f.now.sp
	if on {
		f.now = state{pc: w.regs.PC, is: stepFacts(w.frame.Method)}
		if w.frame.Interrupted {
			f.now.is |= interrupted
		}
		if w.frame.Gap {
			f.now.is |= gap
		}
		if w.guessed {
			f.now.is |= spGuessed
		}
		f.bases(&w.regs)
		f.replayed = len(f.steps)
		if simple && at.is&needsBases != 0 {
			f.replayed = -1 // the other registers were left out
		}
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

// replay sets the walker's registers to those of the frame after the given number of
// steps.
func (f *follower) replay(left int) bool {
	w := f.w
	at := f.replayed - spare
	if f.replayed < 0 {
		w.start(f.initial)
		at = 0
	}
	for ; at < left; at++ {
		e := w.look()
		if !w.leave(e.is, e.rules) {
			return false // memory has changed
		}
	}
	return true
}

// keep finishes the walk with the steps of the trail from the given one on.
func (f *follower) keep(from int) {
	t := f.t
	steps, slots := f.steps[spare:], f.slots[2*spare:]
	first := int(t.steps[from].more)
	t.kept = len(t.steps) - from
	head, headSlot := from-len(steps), first-len(slots)
	t.nextSteps, t.nextSlots = f.steps, f.slots
	if head < 0 || headSlot < 0 {
		// The spare slots are used up.
		shift := len(f.slots) - first
		for _, s := range t.steps[from:] {
			s.more = uint32(int(s.more) + shift)
			f.steps = append(f.steps, s)
		}
		f.slots = append(f.slots, t.slots[first:]...)
		t.nextSteps, t.nextSlots = t.steps, t.slots
		t.steps, t.slots, t.head = f.steps, f.slots, spare
	} else {
		shift := uint32(headSlot - 2*spare)
		for i := range steps {
			steps[i].more += shift
		}
		copy(t.steps[head:], steps)
		copy(t.slots[headSlot:], slots)
		t.head = head
	}
	t.fixed = t.Len() - max(0, f.loose-spare)
	if f.down > 0 {
		t.ascending = min(t.ascending, t.Len()-(f.down-spare))
	}
	t.high = max(t.high, f.high)
	t.scattered = t.scattered || f.scattered
}

// finish makes the path of this walk the trail.
func (f *follower) finish() {
	t := f.t
	t.steps, t.nextSteps = f.steps, t.steps
	t.slots, t.nextSlots = f.slots, t.slots
	t.head, t.kept = spare, 0
	t.fixed, t.ascending = t.Len()-max(0, f.loose-spare), t.Len()-max(0, f.down-spare)
	t.high, t.scattered = f.high, f.scattered
	t.ended = f.w.reason == EndOfStack
}

// recorder records the data that a step depends on.
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
