// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"slices"

	"github.com/clewdev/clew/check/internal/lift"
)

// Limits of one unit. They bound the time and memory that a hostile file can cost.
const (
	maxUnitSize         = 8 << 20 // bytes of code
	maxUnitInstructions = 1 << 19
	maxUnitParts        = 64
	maxUnitStates       = 1 << 16
	maxSteps            = 64 // executions of each instruction, on average
	maxRestarts         = 24
	maxTableEntries     = 1 << 14
)

// part is the code of one FDE.
type part struct {
	fde        int // index in checker.fdes
	start, end uint64
	code       []byte
	rows       []row
	factors    factors
	landings   []landing
	at         []int32 // by offset in code: index of the instruction that starts there plus 1
	entered    bool    // the state at its start is that of a function's entry
	offset     uint64  // of the FDE, in the section
	next       uint64  // offset of the entry after it
	first      int     // index of the function's first part: see unit.chain
}

// unit is a function with its parts in other FDEs: cold blocks, and code that its branches
// lead to with a frame.
type unit struct {
	c            *checker
	parts        []part
	instructions []instruction
	operations   []lift.Operation
	states       []stateBefore
	work         []int32         // indexes of instructions whose state has changed
	dropped      map[uint64]bool // ends of calls that do not return
	banned       map[uint64]bool // addresses to which no guess leads
	open         bool            // a jump with a frame leads to unknown places
	restart      bool            // at once, because a path was removed
	repeat       bool            // at the end, because paths went through an instruction without its state
	steps        int
	failed       Reason
	framed       bool  // it saves registers in the frame of its caller, so that it is not entered by a call
	returns      bool  // it returns to its caller, or a tail call does
	suspicious   bool  // there may be findings
	doubtful     bool  // the state before an instruction is not known
	current      state // of the path that is followed
	taken        state // of a branch from it
	pending      []uint64
	tables       []jumpTable
	targets      []tableTargets // of tables, by their number
	stubs        []Stubs
	mismatches   []mismatch // of the findings of a part
}

// instruction is a decoded instruction of a unit.
type instruction struct {
	lift.Instruction
	pc      uint64
	writes  uint64 // set of registers that it may change
	first   int32  // of its operations, in unit.operations
	state   int32  // index of the state before it in unit.states, or -1
	row     int32  // index in the rows of its part
	part    uint8
	joins   bool // a branch leads there
	reached bool
	verdict Verdict
	reason  Reason
}

// stateBefore is the state before an instruction to which a branch leads, or which starts a
// path.
type stateBefore struct {
	state
	valid     bool
	queued    bool
	afterCall bool  // it includes the state after the call that ends there
	from      int32 // instruction that the first path comes from, -1 for an entry
}

// partOf returns the index of the part that contains an address, -1 if there is none.
func (u *unit) partOf(pc uint64) int {
	for i := range u.parts {
		if p := &u.parts[i]; pc >= p.start && pc < p.end {
			return i
		}
	}
	return -1
}

// find returns the index of a decoded instruction, -1 if there is none.
func (u *unit) find(pc uint64) int32 {
	if i := u.partOf(pc); i >= 0 {
		p := &u.parts[i]
		return p.at[pc-p.start] - 1
	}
	return -1
}

// addPart adds an FDE to the unit. It returns false if that exceeds a limit or if its code
// cannot be read.
func (u *unit) addPart(index int) bool {
	c := u.c
	r := c.fdes[index]
	size := r.End - r.Start
	total := uint64(0)
	for i := range u.parts {
		total += u.parts[i].end - u.parts[i].start
	}
	if len(u.parts) >= maxUnitParts || size > maxUnitSize || total+size > maxUnitSize || !c.spend(1+int(size)/bytesPerJob) {
		u.failed = TooLarge
		return false
	}
	if err := c.section.FDEAt(r.FDE, &c.fde); err != nil {
		u.failed = NoRow
		return false
	}
	if len(u.parts) < cap(u.parts) {
		u.parts = u.parts[:len(u.parts)+1]
	} else {
		u.parts = append(u.parts, part{})
	}
	p := &u.parts[len(u.parts)-1]
	p.fde, p.start, p.end, p.entered = index, r.Start, r.End, false
	p.offset, p.next, p.first = c.fde.Offset, c.fde.Offset+c.fde.Size, len(u.parts)-1
	p.code = resize(p.code, int(size))
	p.at = resize(p.at, int(size))
	clear(p.at)
	p.factors = factors{c.fde.CIE.CodeAlign, c.fde.CIE.DataAlign}
	p.rows = c.rows(p.rows[:0], &c.fde)
	p.landings = c.landings(p.landings[:0], &c.fde)
	if err := c.memory.ReadMemory(p.code, r.Start); err != nil {
		u.failed = NoCode
		return false
	}
	if c.fde.CIE.SignalFrame {
		u.failed = SignalFrame
		return false
	}
	return true
}

// entryAlignment is the alignment of functions in assembly language.
const entryAlignment = 16

// aligned reports whether a part starts with padding for an alignment, and has another row for the code after
// it. The function is then entered after the padding, in the state of that row: _dl_tlsdesc_resolve_rela of
// older versions of glibc has .align after .cfi_startproc, and a word on the stack at its entry.
func (u *unit) aligned(p *part) bool {
	if p.start%entryAlignment == 0 || len(p.rows) < 2 {
		return false
	}
	at := p.start
	for at < p.end {
		i := lift.Instruction{Right: lift.NoRegister}
		if _, ok := u.c.machine.Decode(p.code[at-p.start:], at, &i, u.c.spare[:0]); !ok || !i.Padding || i.Size == 0 {
			break
		}
		at += uint64(i.Size)
	}
	return at > p.start && at%entryAlignment == 0 && p.rows[1].start == at && !p.rows[1].entry
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// discover decodes the instructions that direct branches reach from an address.
func (u *unit) discover(pc uint64) {
	u.pending = append(u.pending[:0], pc)
	for len(u.pending) > 0 {
		pc := u.pending[len(u.pending)-1]
		u.pending = u.pending[:len(u.pending)-1]
		for joins := true; ; joins = false {
			k := u.partOf(pc)
			if k < 0 {
				break
			}
			p := &u.parts[k]
			offset := pc - p.start
			if n := p.at[offset]; n != 0 {
				u.instructions[n-1].joins = u.instructions[n-1].joins || joins
				break
			}
			if len(u.instructions) >= maxUnitInstructions {
				u.failed = TooLarge
				return
			}
			i := u.decode(p, uint8(k), pc)
			if i == nil {
				break
			}
			i.joins = joins
			if i.Flow == lift.FlowBranch || i.Flow == lift.FlowJump {
				u.lead(i.Target)
			}
			next := pc + uint64(i.Size)
			if l := u.landing(p, i, next); l != nil {
				u.lead(l.pad)
			}
			if i.Flow == lift.FlowJump || i.Flow == lift.FlowJumpIndirect || i.Flow >= lift.FlowReturn {
				break
			}
			pc = next
		}
	}
}

// lead makes an address of the unit one that branches lead to.
func (u *unit) lead(pc uint64) {
	if u.partOf(pc) >= 0 {
		u.pending = append(u.pending, pc)
	}
}

// decode adds the instruction at an address, or returns nil if it cannot be decoded.
func (u *unit) decode(p *part, k uint8, pc uint64) *instruction {
	offset := pc - p.start
	if len(u.instructions) < cap(u.instructions) {
		u.instructions = u.instructions[:len(u.instructions)+1]
	} else {
		u.instructions = append(u.instructions, instruction{})
	}
	i := &u.instructions[len(u.instructions)-1]
	*i = instruction{pc: pc, part: k, state: -1, first: int32(len(u.operations))}
	i.Right = lift.NoRegister
	operations, ok := u.c.machine.Decode(p.code[offset:], pc, &i.Instruction, u.operations)
	if !ok || i.Size == 0 {
		// The place stays free, so that it is counted as not decoded.
		u.operations = u.operations[:i.first]
		u.instructions = u.instructions[:len(u.instructions)-1]
		return nil
	}
	u.operations = operations
	i.writes = i.Clobbered
	for n := range operations[i.first:] {
		if to, ok := operations[int(i.first)+n].Writes(); ok {
			i.writes |= 1 << to
		}
	}
	if i.Flow == lift.FlowCall || i.Flow == lift.FlowCallIndirect {
		i.writes |= u.c.abi.Clobbered
	}
	near := -1
	if n := len(u.instructions); n > 1 && u.instructions[n-2].part == k {
		near = int(u.instructions[n-2].row)
	}
	i.row = int32(rowAt(p.rows, pc, near))
	p.at[offset] = int32(len(u.instructions))
	return i
}

// signs reports whether a part starts with the instruction that signs the return address.
func (u *unit) signs(p *part) bool {
	for offset := 0; offset < len(p.code) && offset <= u.c.abi.MinSize; {
		i := lift.Instruction{Right: lift.NoRegister}
		operations, _ := u.c.machine.Decode(p.code[offset:], p.start+uint64(offset), &i, u.c.spare[:0])
		if len(operations) == 1 && operations[0].Op == lift.OpSign {
			return true
		}
		if i.Size == 0 || i.Flow != lift.FlowNext {
			break
		}
		offset += int(i.Size)
	}
	return false
}

// landing returns the landing pad of a call, nil if it has none.
func (u *unit) landing(p *part, i *instruction, next uint64) *landing {
	if len(p.landings) == 0 || i.Flow != lift.FlowCall && i.Flow != lift.FlowCallIndirect {
		return nil
	}
	return landingAt(p.landings, next)
}

func (u *unit) operationsOf(i *instruction) []lift.Operation {
	return u.operations[i.first : i.first+int32(i.Count)]
}

// within reports whether an address is inside of a decoded instruction.
func (u *unit) within(pc uint64) bool {
	p := &u.parts[u.partOf(pc)]
	for n := uint64(1); n < uint64(u.c.abi.MaxSize) && n <= pc-p.start; n++ {
		if k := p.at[pc-p.start-n] - 1; k >= 0 && uint64(u.instructions[k].Size) > n {
			return true
		}
	}
	return false
}

// maxJoins bounds how often an FDE is added to a unit, on average.
const maxJoins = 4

// join adds the function at pc to the unit if a path leads into it with a frame.
func (u *unit) join(index int, pc uint64, s *state, from int32) {
	if u.c.section == nil {
		return // the functions have no rows
	}
	members := []int{index}
	if o := u.c.ownerOf(index); o >= 0 {
		members = u.c.units[o]
	}
	if len(u.parts)+len(members) > maxUnitParts || u.c.joins >= maxJoins*(len(u.c.fdes)+16) {
		return
	}
	u.c.joins += len(members)
	for _, m := range members {
		if slices.ContainsFunc(u.parts, func(p part) bool { return p.fde == m }) {
			continue // the unit is checked again
		}
		failed := u.failed
		if !u.addPart(m) {
			u.parts = u.parts[:len(u.parts)-1]
			u.failed = failed
			continue
		}
		p := &u.parts[len(u.parts)-1]
		p.entered = len(p.rows) > 0 && p.rows[0].entry && !(p.start == pc)
	}
	u.chain()
	if u.partOf(pc) >= 0 {
		u.jump(pc, s, from)
	}
}

// chain finds which parts belong to one function: the FDE of a cold part directly follows that of the function
// or of another cold part. A path from one function's parts to another's is probably never taken: gcc lets
// the default case of a switch that is __builtin_unreachable end at an empty cold part, where that of another
// function starts.
func (u *unit) chain() {
	if !u.c.spend(len(u.parts) * len(u.parts)) {
		u.failed = TooLarge
		return
	}
	before := make([]int, len(u.parts))
	for k := range u.parts {
		before[k] = slices.IndexFunc(u.parts, func(p part) bool { return u.c.follows(&p, &u.parts[k]) })
	}
	for k := range u.parts {
		first := k
		for before[first] >= 0 {
			first = before[first]
		}
		u.parts[k].first = first
	}
}

// maxCIE is the size of the largest CIE that can be between the FDEs of a function and of its cold part.
const maxCIE = 64

// follows reports whether the FDE of b comes after that of a, with no other between them.
func (c *checker) follows(a, b *part) bool {
	return a.next == b.offset || a.next < b.offset && b.offset-a.next <= maxCIE && c.section.FDEAt(a.next, &c.fde) != nil
}
