// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import "github.com/clewdev/clew/check/internal/lift"

// solve finds the state before every instruction that is reached from the entries.
func (u *unit) solve() {
	for n := 0; ; n++ {
		u.reset()
		for _, t := range u.stubs {
			u.enterStubs(t)
		}
		for i := 0; i < len(u.parts); i++ { // parts are added while it runs
			if p := &u.parts[i]; p.entered {
				u.enter(p.start)
			}
			u.run()
		}
		if !u.restart && !u.repeat || u.failed != NoReason {
			return
		}
		if n >= maxRestarts {
			u.failed = TooLarge
			return
		}
	}
}

// reset invalidates all states. Their places stay: branches lead there again.
func (u *unit) reset() {
	u.restart, u.repeat, u.open = false, false, false
	u.work = u.work[:0]
	for i := range u.states {
		u.states[i].valid, u.states[i].queued = false, false
	}
	for i := range u.instructions {
		u.instructions[i].reached = false
	}
}

// enter starts a path at the entry of a function.
func (u *unit) enter(pc uint64) {
	s := u.entryState()
	u.reach(pc, &s, -1, false)
}

// enterStubs starts a path at each stub of a table.
func (u *unit) enterStubs(t Stubs) {
	if t.Size == 0 {
		return
	}
	p := &u.parts[0] // it starts in the table, whose end a file may put anywhere
	first := t.Start + (p.start-t.Start+t.Size-1)/t.Size*t.Size
	for at := first; at >= p.start && at < min(p.end, t.End); at += t.Size {
		if !(t.Header && at == t.Start) {
			u.enter(at)
			if k := u.find(at); k >= 0 && u.instructions[k].Flow == lift.FlowJumpIndirect {
				// Until the dynamic linker has bound it, it goes on after the jump.
				u.enter(at + uint64(u.instructions[k].Size))
			}
		}
	}
}

// reach merges a state into that before the instruction at an address of the unit.
func (u *unit) reach(pc uint64, s *state, from int32, afterCall bool) {
	if u.banned[pc] {
		if s.trust != sure {
			return
		}
		s.doubt = Guessed
	}
	if u.dropped[pc] {
		s.doubt = MayNotReturn
	}
	k := u.find(pc)
	if k < 0 {
		u.discover(pc)
		if k = u.find(pc); k < 0 {
			return // it cannot be decoded
		}
	}
	s.forgetComparisons(u.c.abi)
	i := &u.instructions[k]
	if i.state < 0 {
		if len(u.states) >= maxUnitStates {
			u.failed = TooLarge
			return
		}
		if len(u.states) < cap(u.states) {
			u.states = u.states[:len(u.states)+1]
		} else {
			u.states = append(u.states, stateBefore{})
		}
		i.state = int32(len(u.states) - 1)
		t := &u.states[i.state]
		t.valid, t.queued, t.afterCall, t.from = false, false, false, -1
		if i.reached {
			u.repeat = u.repeat || len(u.tables) > 0 // its length may be known by straight code
			u.again(k)                               // a path went through without a state of its own
		}
	}
	t := &u.states[i.state]
	if !t.valid {
		t.assign(s, u.c.abi)
		t.valid, t.afterCall, t.from = true, afterCall, from
	} else {
		sp := u.c.abi.SP
		switch differ := (s.trust == sure) != (t.trust == sure) && (s.registers[sp] != t.registers[sp] || u.conflict(&t.state, s)); {
		case differ && s.trust != sure:
			return
		case differ:
			u.unlikely(pc)
			return
		}
		if (t.afterCall || afterCall) && u.conflict(&t.state, s) {
			u.drop(pc)
			return
		}
		t.afterCall = t.afterCall || afterCall
		if !t.merge(s, u.c.abi) {
			return
		}
	}
	if !t.queued {
		t.queued = true
		u.push(k)
	}
}

// push queues an instruction. The queue is a heap: that with the lowest address comes first,
// because compilers lay blocks out in about the order in which paths lead to them.
func (u *unit) push(k int32) {
	u.work = append(u.work, k)
	pc := u.instructions[k].pc
	for n := len(u.work) - 1; n > 0; {
		parent := (n - 1) / 2
		if u.instructions[u.work[parent]].pc <= pc {
			break
		}
		u.work[n], u.work[parent] = u.work[parent], u.work[n]
		n = parent
	}
}

// pop removes the instruction with the lowest address from the queue.
func (u *unit) pop() int32 {
	k := u.work[0]
	last := len(u.work) - 1
	u.work[0] = u.work[last]
	u.work = u.work[:last]
	for n := 0; ; {
		child := 2*n + 1
		if child >= last {
			return k
		}
		if child+1 < last && u.instructions[u.work[child+1]].pc < u.instructions[u.work[child]].pc {
			child++
		}
		if u.instructions[u.work[n]].pc <= u.instructions[u.work[child]].pc {
			return k
		}
		u.work[n], u.work[child] = u.work[child], u.work[n]
		n = child
	}
}

// again queues the start of the path that leads straight to an instruction.
func (u *unit) again(k int32) {
	for n := k - 1; n >= 0; n-- {
		i := &u.instructions[n]
		if i.pc+uint64(i.Size) != u.instructions[n+1].pc {
			break
		}
		if i.state >= 0 {
			if t := &u.states[i.state]; t.valid && !t.queued {
				t.queued = true
				u.push(n)
			}
			return
		}
	}
	u.repeat = true // the path is not in order
}

// drop removes the path from a call to the instruction after it, at pc, and starts again.
func (u *unit) drop(pc uint64) {
	if i := u.callBefore(pc); i != nil && u.stopsAt(i) {
		u.restart = true
		return
	}
	if !u.dropped[pc] {
		if u.dropped == nil {
			u.dropped = map[uint64]bool{}
		}
		u.dropped[pc] = true
		u.restart = true
	}
}

// unlikely removes the guessed paths to pc, and starts again.
func (u *unit) unlikely(pc uint64) {
	if u.banned == nil {
		u.banned = map[uint64]bool{}
	}
	u.banned[pc] = true
	u.restart = true
}

// run follows all paths until no state changes.
func (u *unit) run() {
	for len(u.work) > 0 && !u.restart && u.failed == NoReason {
		k := u.pop()
		t := &u.states[u.instructions[k].state]
		t.queued = false
		u.current.assign(&t.state, u.c.abi)
		u.follow(k, &u.current)
	}
}

// follow follows a path to its end, or to an instruction with a state.
func (u *unit) follow(k int32, s *state) {
	var compared *instruction
	from := k
	for first := true; ; first = false {
		i := &u.instructions[k]
		if !first && (i.state >= 0 || i.joins) {
			u.reach(i.pc, s, from, false)
			return
		}
		i.reached = true
		if u.steps++; u.steps > maxSteps*(len(u.instructions)+16) || !u.c.spend(1) {
			u.failed = TooLarge
			return
		}
		next := i.pc + uint64(i.Size)
		u.execute(s, i, int(k)+1)
		switch i.Flow {
		case lift.FlowNext:
		case lift.FlowBranch:
			taken := &u.taken
			taken.assign(s, u.c.abi)
			refine(taken, compared, i.Condition, true, u.c.abi)
			u.jump(i.Target, taken, k)
			i = &u.instructions[k] // jump can add instructions
			refine(s, compared, i.Condition, false, u.c.abi)
		case lift.FlowJump:
			u.jump(i.Target, s, k)
			return
		case lift.FlowJumpIndirect:
			u.jumpIndirect(i, s, k)
			return
		case lift.FlowCall, lift.FlowCallIndirect:
			if !u.call(i, s, k, next) {
				return
			}
			i = &u.instructions[k]
		default:
			return
		}
		compared = u.compared(compared, i)
		n := k + 1
		if int(n) >= len(u.instructions) || u.instructions[n].pc != next || u.instructions[n].part != i.part {
			n = u.find(next)
		}
		called := i.Flow == lift.FlowCall || i.Flow == lift.FlowCallIndirect
		switch {
		case called && (n < 0 || u.instructions[n].part != i.part):
			return // no compiler lets a call return to another function
		case n < 0:
			if u.partOf(next) < 0 {
				u.jump(next, s, k) // falls into the next function
			}
			return
		}
		if called && u.instructions[n].state >= 0 {
			u.reach(next, s, k, true)
			return
		}
		from, k = k, n
	}
}

// call executes a call. It returns false if the call does not return.
func (u *unit) call(i *instruction, s *state, k int32, next uint64) bool {
	c := u.c
	p := &u.parts[i.part]
	u.called(i, s)
	if l := u.landing(p, i, next); l != nil {
		landed := &u.taken
		landed.assign(s, c.abi)
		arguments := l.arguments
		if i.row >= 0 {
			arguments = p.rows[i.row].arguments
		}
		if arguments != 0 {
			sp := &landed.registers[c.abi.SP]
			*sp = sp.add(arguments)
		}
		u.jump(l.pad, landed, k)
		i = &u.instructions[k]
	}
	if i.Flow == lift.FlowCall {
		if c.noReturn[i.Target] {
			return false
		}
		if offset := next - p.start; offset < uint64(len(p.code)) && p.code[offset] == retAMD64 && s.entered(c.abi) && c.splitsStack(i.Target) {
			u.enter(next + 1)
			i = &u.instructions[k]
		}
		if n := u.partOf(i.Target); n >= 0 && u.parts[n].start != i.Target && !u.isEntered(i.Target) {
			u.callInside(i.Target)
		}
	}
	return !u.dropped[next] && (c.abi.Link == lift.NoRegister || s.returns(c.abi))
}

// called changes the state as the function does that an instruction calls, if it returns.
func (u *unit) called(i *instruction, s *state) {
	m := u.c.abi
	set := m.Clobbered
	// Local functions of assembly language keep registers that others may change, and rows use
	// them.
	if i.Flow == lift.FlowCall && i.row >= 0 && u.parts[i.part].rows[i.row].needs&set != 0 {
		set &= u.c.writes(i.Target, 0)
	}
	if m.Link != lift.NoRegister {
		set |= 1 << m.Link
	}
	s.clobber(set, m)
	s.drop(m)
}

func (u *unit) isEntered(pc uint64) bool {
	k := u.find(pc)
	return k >= 0 && u.instructions[k].state >= 0
}

// callInside follows a subroutine within a function, if its row says that it is called.
func (u *unit) callInside(pc uint64) {
	p := &u.parts[u.partOf(pc)]
	if r := rowAt(p.rows, pc, -1); r >= 0 && p.rows[r].entry {
		u.enter(pc)
	}
}

// jump continues a path at an address, in the unit or out of it.
func (u *unit) jump(pc uint64, s *state, from int32) {
	if k := u.partOf(pc); k >= 0 {
		if u.parts[k].first != u.parts[u.instructions[from].part].first {
			s.trust = max(s.trust, possible)
		}
		u.reach(pc, s, from, false)
		return
	}
	index := u.c.fdeAt(pc)
	if index < 0 {
		return
	}
	if s.entered(u.c.abi) || u.c.startsFunction(index, pc) {
		return // a tail call
	}
	u.join(index, pc, s, from)
}

// The work for a section is bounded by the size of the file, because the parts of a hostile
// file multiply: thousands of FDEs share one language-specific data area, and each jump reads
// the same table. A unit of work is a step of the analysis, a row, a call site or an entry of
// a jump table.
const (
	minWork     = 1 << 23
	workPerByte = 16      // real files need up to 2
	maxWork     = 1 << 34 // of code in memory whose size is unknown
	bytesPerJob = 2       // bytes of code that are read or decoded for a unit of work
)

// maxCounted bounds the code of one function whose instructions are counted without analysis.
const maxCounted = 8 * maxUnitSize

// Limits of what one function and one section report.
const (
	maxFindings  = 1 << 10 // of an FDE
	maxPathSteps = 1 << 19 // of the findings of an FDE
)

// maxDetails is the number of steps and lines after which the findings of a section get none, until
// Finding.Complete adds them: about 8 MiB.
var maxDetails = 1 << 16 // tests change it

// setBudget sets the work for a section whose code is in a file of a size, 0 if that is unknown.
func (c *checker) setBudget(size uint64) {
	if size == 0 && c.section != nil {
		size = uint64(len(c.section.Data))
		for _, r := range c.fdes {
			size = min(size+min(r.End-r.Start, maxUnitSize), maxWork)
		}
	}
	c.work = minWork + int64(min(size, maxWork/workPerByte)*workPerByte)
	c.details = maxDetails
}

// spend takes units of work from the budget, and returns false if none are left.
func (c *checker) spend(n int) bool {
	c.work -= int64(n)
	return c.work >= 0
}
