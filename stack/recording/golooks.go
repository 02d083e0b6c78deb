// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"encoding/binary"
	"slices"

	"github.com/clewdev/clew/snapshot/goruntime"
	"github.com/clewdev/clew/unwind"
)

// goCalls are looks at the calls between Go and C code on one thread. A sample copies the stack on which
// the thread runs: that of C code without that of the goroutine that called it, or the reverse. The other
// stack is read some milliseconds later. It is that of the sample only if the thread was in the same call
// at a look before the sample and at one after it.
type goCalls struct {
	m      uint64 // Go's structure for the thread, 0 if unknown
	looks  [32]callLook
	n      uint // looks made; the newest is looks[(n-1)%len(looks)]
	copies [4]callCopy
	next   int // the copy to replace

	processors [maxProcessors]uint64 // those that the thread has used in callbacks lately
	oldest     int                   // the processor to replace

	last   uint64 // time of the last sample in a call
	listed bool   // in builder.calling
	// Looks at calls that last less than the time between two looks prove nothing. Of pause+1 rounds, only
	// one has a look then; in rest rounds it has.
	pause, rest int
}

// callLook is one look at a thread.
type callLook struct {
	from, until uint64 // it was made between these times
	calls       goruntime.Calls
	goroutine   goroutine // calls.Current
	ticks       [maxProcessors]goruntime.Tick
	copied      *callCopy // of the other stack during the same call, nil if there is none
}

// goroutine is what a look needs of a goroutine.
type goroutine struct {
	id        uint64 // 0 for none
	sp        uint64 // of its innermost function, which called C code
	stackHigh uint64
	runs      uint8 // see goruntime.Goroutine
}

// tick returns the tick of a processor at a look, and whether it was read.
func (l *callLook) tick(processor uint64) (count uint32, ok bool) {
	for _, t := range l.ticks {
		if t.Processor == processor {
			return t.Count, processor != 0
		}
	}
	return 0, false
}

// callCopy is a copy of the stack that a sample lacks, and of the words of the runtime that lead there.
type callCopy struct {
	goroutine  uint64 // its address
	sp         uint64 // of its innermost function, if that has called C code
	systemLow  uint64 // the thread's own stack
	systemHigh uint64
	words      [4]word
	stack      unwind.Stack
	buffer     []byte
}

type word struct{ address, value uint64 }

// read implements memory.ReadMemory for the copy.
func (c *callCopy) read(p []byte, address uint64) bool {
	if len(p) == 8 {
		for _, w := range c.words {
			if w.address == address {
				binary.LittleEndian.PutUint64(p, w.value)
				return true
			}
		}
	}
	at := address - c.stack.Address
	if at > uint64(len(c.stack.Bytes)) || uint64(len(c.stack.Bytes))-at < uint64(len(p)) {
		return false
	}
	copy(p, c.stack.Bytes[at:])
	return true
}

const (
	// maxCallCopy bounds the copy of a stack, in bytes.
	maxCallCopy = 16 << 10
	// stackHigh is the offset of the end of the stack in a g.
	stackHigh = 8
	// belowCall is more than the size of asmcgocall's frame, in bytes.
	belowCall = 64
	// maxProcessors bounds the processors of which a look reads the ticks.
	maxProcessors = 4
	// maxCallPause bounds the rounds without a look at a thread that makes short calls.
	maxCallPause = 3
	// rememberCalls is how long each round looks at a thread after a sample in a call, in nanoseconds.
	rememberCalls = 200e6
	// maxCalling bounds the threads at which each round looks, and so the memory of their copies.
	maxCalling = 64
	// maxCallers bounds the threads with goCalls, each of which can have some 70 KB.
	maxCallers = 4 * maxCalling
	// maxGoroutines bounds the goroutines that a process remembers.
	maxGoroutines = 1 << 12

	// Looks may take 1/lookShare of all time, and firstLooks nanoseconds before that. If a look takes more than
	// shortLook nanoseconds and much more than the last look, only a part of its time counts: another program
	// can have had the processor.
	lookShare  = 100
	firstLooks = 20e6
	shortLook  = 500e3
)

// keepCalls notes that a thread has goCalls, and drops those of the thread that got them first of maxCallers,
// except of threads at which each round looks.
func (b *builder) keepCalls(t *thread) {
	if b.callers == nil {
		b.callers = make([]*thread, maxCallers)
	}
	for range maxCallers {
		slot := &b.callers[b.nextCaller%maxCallers]
		b.nextCaller++
		if old := *slot; old != nil && old != t && old.calls != nil {
			if old.calls.listed {
				continue
			}
			old.calls = nil
		}
		*slot = t
		return
	}
}

// find finds the thread of a sample by the goroutine that it ran.
func (c *goCalls) find(g *golang, address, sp uint64, inC bool) bool {
	r, err := g.calls.Goroutine(address)
	if err != nil || r.Thread == 0 {
		return false
	}
	calls, _, err := g.calls.Read(r.Thread, 0, nil)
	if err != nil || calls.Current != address {
		return false
	}
	if system, err := g.calls.Goroutine(calls.System); err != nil || inC && (sp < system.StackLow || sp >= system.StackHigh) {
		return false
	}
	c.m, c.n, c.pause, c.rest = r.Thread, 0, 0, 0
	return true
}

// around returns the last look before a time and the first one after it, nil where there is none.
func (c *goCalls) around(at uint64) (before, after *callLook) {
	for i := range min(c.n, uint(len(c.looks))) {
		l := &c.looks[(c.n-1-i)%uint(len(c.looks))]
		if l.until <= at {
			return l, after
		}
		if l.from >= at {
			after = l
		}
	}
	return nil, after
}

// enclosing returns looks before and after a time between which nothing has changed for a goroutine, and nil
// if there are none.
func (c *goCalls) enclosing(at, goroutine uint64, inC bool) (before, after *callLook) {
	const most = 4 // on both sides
	var later [most]*callLook
	n := uint(0)
	for i, tries := uint(0), 0; i < min(c.n, uint(len(c.looks))) && tries < most; i++ {
		l := &c.looks[(c.n-1-i)%uint(len(c.looks))]
		if l.calls.Current != goroutine || l.goroutine.id == 0 {
			continue
		}
		if l.from >= at {
			later[n%most] = l
			n++
			continue
		}
		if l.until > at {
			continue
		}
		tries++
		for k := range min(n, most) {
			if y := later[(n-1-k)%most]; unchanged(l, y, inC) {
				return l, y
			}
		}
	}
	return nil, nil
}

// has reports whether a look has a copy for a sample: see goCalls.prove.
func (l *callLook) has(goroutine, sp uint64, inC bool) bool {
	c := l.copied
	return c != nil && l.calls.InC == inC && c.goroutine == goroutine && (!inC || c.systemLow <= sp && sp < c.systemHigh)
}

// unchanged reports whether two looks at a thread with the same goroutine prove that a part of the thread's
// stacks has not changed in between. In C code, it is that of all calls of C code that have not returned:
// each new call is counted. In Go code, it is the thread's own stack, because the goroutine has not
// returned to C code and been called again:
//
//   - A return to C code notes the tick of the processor, which must still be noted.
//   - Later the goroutine gets a processor, whose tick then grows. It is the processor at the second look,
//     or another one from which the scheduler has taken the goroutine, which is counted too.
func unchanged(x, y *callLook, inC bool) bool {
	if x.calls.Current != y.calls.Current || x.goroutine.id != y.goroutine.id || x.calls.System != y.calls.System || x.calls.Count != y.calls.Count {
		return false
	}
	if inC {
		return true
	}
	tick := x.calls.Tick
	if x.calls.InC || y.calls.InC || x.calls.Active != y.calls.Active || y.calls.Tick != tick || y.goroutine.runs-x.goroutine.runs > 1 {
		return false
	}
	first, ok1 := x.tick(y.calls.Processor)
	last, ok2 := y.tick(y.calls.Processor)
	if !ok1 || !ok2 || first != last || first == tick {
		return false
	}
	// If the thread has returned to C code on the processor that it had first, it has noted another tick.
	first, ok1 = x.tick(x.calls.Processor)
	last, ok2 = y.tick(x.calls.Processor)
	return ok1 && ok2 && tick-first > last-first
}

// look reads the calls of a thread, and copies its other stack. It returns false if that fails or looks
// have taken too much time.
func (c *goCalls) look(b *builder, g *golang) bool {
	now := callLook{from: b.opts.Live.Now()}
	if b.looksFrom == 0 {
		b.looksFrom = now.from
	}
	if b.lookTime > (now.from-b.looksFrom)/lookShare+firstLooks {
		return false
	}
	defer func() {
		// Another program can have had the processor for a while.
		b.lookCost = min(b.opts.Live.Now()-now.from, max(2*b.lookCost, shortLook))
		b.lookTime += b.lookCost
	}()
	last := new(callLook)
	if c.n > 0 {
		last = &c.looks[(c.n-1)%uint(len(c.looks))]
	}
	if !c.read(g, &now, last.calls.Current) {
		c.m, c.n = 0, 0
		return false
	}
	now.until = b.opts.Live.Now()
	if now.goroutine.id != 0 {
		g.seen(now.calls.Current, now.goroutine.id, now.until)
	}
	calls := &now.calls
	changes := calls.Count - last.calls.Count
	if calls.Active > 0 && !calls.InC {
		// Returns to Go code of the goroutine, or of others: nothing is proved then either.
		if first, ok := last.tick(calls.Processor); ok {
			tick, _ := now.tick(calls.Processor)
			changes = max(changes, uint64(tick-first))
		}
	}
	if copied := last.copied; copied != nil && last.calls.InC == calls.InC && unchanged(last, &now, calls.InC) && (!calls.InC || copied.sp == now.goroutine.sp) {
		now.copied = copied
	}
	switch {
	case c.n > 0 && changes > 2:
		c.pause = min(2*c.pause+1, maxCallPause)
	case changes == 0:
		c.pause = 0
	}
	c.rest = c.pause
	if now.copied == nil && calls.Active > 0 && c.pause == 0 {
		now.copied = c.copy(g, &now)
	}
	c.looks[c.n%uint(len(c.looks))] = now
	c.n++
	return true
}

// read reads the calls of the thread, which probably runs a goroutine.
func (c *goCalls) read(g *golang, to *callLook, expected uint64) bool {
	n := 0
	for _, p := range c.processors {
		if p != 0 {
			to.ticks[n].Processor = p
			n++
		}
	}
	calls, r, err := g.calls.Read(c.m, expected, to.ticks[:n])
	if err != nil {
		return false
	}
	to.calls = calls
	to.goroutine = goroutine{id: r.ID, sp: r.Syscall.SP, stackHigh: r.StackHigh, runs: r.Runs}
	if calls.Active > 0 && !calls.InC && calls.Processor != 0 && !slices.Contains(c.processors[:], calls.Processor) {
		c.processors[c.oldest] = calls.Processor // from the next look on
		c.oldest = (c.oldest + 1) % len(c.processors)
	}
	return true
}

// copy copies the stack of the goroutine of a thread in C code, or the thread's own stack if it runs Go code
// that C code called. It returns nil if that fails or the thread has changed since the look.
func (c *goCalls) copy(g *golang, l *callLook) *callCopy {
	system, err := g.calls.Goroutine(l.calls.System)
	if err != nil {
		return nil
	}
	to := &c.copies[c.next]
	c.next = (c.next + 1) % len(c.copies)
	for i := range c.looks {
		if c.looks[i].copied == to {
			c.looks[i].copied = nil
		}
	}
	start, size := system.Sched.SP, uint64(maxCallCopy)
	if l.calls.InC {
		start = l.goroutine.sp - belowCall
		if start >= l.goroutine.stackHigh {
			return nil
		}
		size = min(size, l.goroutine.stackHigh-start)
	}
	if uint64(len(to.buffer)) < size {
		to.buffer = make([]byte, size)
	}
	for g.snapshot.Memory.ReadMemory(to.buffer[:size], start) != nil {
		if size /= 2; size < 1<<9 || l.calls.InC {
			return nil
		}
		// The thread's stack ends earlier.
	}
	address := l.calls.Current
	to.goroutine, to.sp, to.systemLow, to.systemHigh = address, l.goroutine.sp, system.StackLow, system.StackHigh
	to.stack = unwind.Stack{Address: start, Bytes: to.buffer[:size]}
	layout := g.runtime.Layout
	to.words = [...]word{{address + stackHigh, l.goroutine.stackHigh}, {address + uint64(layout.M), c.m}, {c.m, l.calls.System},
		{l.calls.System + uint64(layout.Sched), system.Sched.SP}}
	var now callLook
	if !c.read(g, &now, address) || now.calls.InC != l.calls.InC || !unchanged(l, &now, l.calls.InC) ||
		l.calls.InC && (now.goroutine.sp != to.sp || now.goroutine.stackHigh != l.goroutine.stackHigh) {
		return nil
	}
	return to
}

// lookAtCalls looks at the threads with recent samples in calls between Go and C code.
func (b *builder) lookAtCalls() {
	if len(b.calling) == 0 {
		return
	}
	now := b.opts.Live.Now()
	kept := b.calling[:0]
	for _, t := range b.calling {
		c, g := t.calls, t.process.goMemory
		switch {
		case c == nil:
		case t.exited || g == nil || c.last+rememberCalls < now:
			*c = goCalls{}
		default:
			kept = append(kept, t)
			if c.rest > 0 {
				c.rest--
			} else if c.m != 0 {
				c.look(b, g)
			}
		}
	}
	clear(b.calling[len(kept):])
	b.calling = kept
}
