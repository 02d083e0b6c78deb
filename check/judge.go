// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
	"github.com/clewdev/clew/object"
)

// result is the result for one FDE.
type result struct {
	counters Counters
	findings []Finding
	factors  factors
	rows     int  // 0 if they are not known
	unit     int  // FDE of the function that leads to it
	returns  bool // to its caller
}

// factors are the alignment factors of a CIE. They tell compilers apart: on arm64, those of gcc are 4 and
// -8, and LLVM's 1 and -4.
type factors struct {
	code uint64
	data int64
}

// judge compares every instruction of the unit with its row. It returns false if it has found
// that a call does not return, so that the unit must be solved again.
func (u *unit) judge() bool {
	u.doubtful = false
	for k := range u.parts {
		if !u.judgePart(&u.parts[k]) {
			return false
		}
	}
	return !u.doubtful || u.failed != NoReason || !u.stopCalls()
}

// judgePart compares the instructions of a part in the order of their addresses.
func (u *unit) judgePart(p *part) bool {
	var (
		c        = u.c
		s        state
		have     bool         // s is the state before the instruction
		compared *instruction // by the flags
		previous *instruction // it agreed with the same row, and has not changed what rows use
		call     *instruction // ends before, with only padding between
		last     *instruction // ends directly before
	)
	c.follow(p.fde)
	if !c.spend(len(p.code) / bytesPerJob) {
		u.failed = TooLarge
		return true
	}
	for offset := 0; offset < len(p.code); {
		k := p.at[offset] - 1
		if k < 0 || !u.instructions[k].reached {
			offset++
			have, previous, call, last = false, nil, nil, nil
			continue
		}
		i := &u.instructions[k]
		onlyCall := call != nil
		if i.state >= 0 && u.states[i.state].valid {
			t := &u.states[i.state]
			s.assign(&t.state, c.abi)
			have, previous, compared = true, nil, nil
			onlyCall = onlyCall && t.from >= 0 && &u.instructions[t.from] == last && (t.afterCall || last != call)
		}
		switch {
		case !have:
			i.verdict, i.reason = Undecided, Unreached
		case i.row < 0:
			i.verdict, i.reason = Undecided, NoRow
		case previous != nil && previous.row == i.row:
			i.verdict, i.reason = Agree, NoReason
		default:
			r := &p.rows[i.row]
			i.verdict, i.reason = u.verdict(r, &s, i.pc)
			if i.verdict == Disagree && onlyCall && r.start == i.pc && !u.heals(p, i, s) {
				u.drop(call.pc + uint64(call.Size))
				return false
			}
		}
		if i.verdict == Undecided && (i.reason == UnknownStack || i.reason == UnknownValue) {
			u.doubtful = true
		}
		previous = nil
		if i.verdict == Agree && i.writes&p.rows[i.row].watched == 0 && !p.rows[i.row].dynamic {
			previous = i
		}
		s.touched = false
		if !i.Padding {
			call = nil
		}
		last = i
		if i.verdict == Disagree || have && i.Flow == lift.FlowReturn && !s.preserved(c.abi) {
			u.suspicious = true
		}
		if have {
			u.returns = u.returns || u.leaves(i, &s)
			u.execute(&s, i, int(k)+1)
			switch i.Flow {
			case lift.FlowNext:
				compared = u.compared(compared, i)
			case lift.FlowBranch:
				refine(&s, compared, i.Condition, false, u.c.abi)
				compared = u.compared(compared, i)
			case lift.FlowCall, lift.FlowCallIndirect:
				call, compared = i, nil
				u.called(i, &s)
			default:
				have = false
			}
		}
		if s.touched {
			previous = nil
		}
		offset += int(i.Size)
	}
	return true
}

// leaves reports whether an instruction ends the function's frame, by a return or a tail call.
func (u *unit) leaves(i *instruction, s *state) bool {
	switch i.Flow {
	case lift.FlowReturn, lift.FlowJumpIndirect:
	case lift.FlowJump, lift.FlowBranch:
		if u.partOf(i.Target) >= 0 {
			return false
		}
	default:
		return false
	}
	return s.registers[u.c.abi.SP] == makeValue(entry, u.c.abi.SP, 0)
}

// verdict compares a row with the state at its first instruction. Nothing that rests on a guess
// agrees.
func (u *unit) verdict(r *row, s *state, pc uint64) (Verdict, Reason) {
	if u.framed {
		return Undecided, UnknownEntry
	}
	verdict, reason := u.c.compare(r, s, pc, nil)
	switch {
	case verdict == Agree && s.trust == guess, verdict == Disagree && s.trust != sure:
		return Undecided, Guessed
	case verdict == Agree && s.doubt != NoReason:
		return Undecided, s.doubt
	case verdict == Agree && u.open:
		return Undecided, OpenJump
	}
	return verdict, reason
}

// heals reports whether a row that is wrong after a call, if that returns, becomes right by
// the instructions that follow. Then the code after the call continues that before it, and
// the call returns. Else the row may be that of code that only others reach.
func (u *unit) heals(p *part, i *instruction, s state) bool {
	m := u.c.abi
	for range 64 {
		for _, o := range u.operationsOf(i) {
			if to, ok := o.Writes(); ok && int(to) == m.SP && int(o.From) != m.SP {
				return false // set, whatever it was before
			}
		}
		if i.Flow != lift.FlowNext && i.Flow != lift.FlowBranch {
			return false
		}
		n := u.find(i.pc + uint64(i.Size))
		u.execute(&s, i, 0)
		if n < 0 {
			return false
		}
		if i = &u.instructions[n]; i.state >= 0 || i.row < 0 {
			return false
		}
		if v, _ := u.c.compare(&p.rows[i.row], &s, i.pc, nil); v == Agree {
			return true
		}
	}
	return false
}

// collect returns the result of a part, after judge.
func (u *unit) collect(p *part) result {
	var r result
	r.counters.Functions = 1
	r.factors, r.rows, r.unit, r.returns = p.factors, len(p.rows), u.parts[0].fde, u.returns
	if u.suspicious && !u.framed {
		r.findings = u.findings(p)
	}
	for offset := 0; offset < len(p.code); {
		if k := p.at[offset] - 1; k >= 0 && u.instructions[k].reached {
			i := &u.instructions[k]
			r.count(i.verdict, i.reason)
			if u.c.observe != nil {
				u.c.observe(i)
			}
			offset += int(i.Size)
			continue
		}
		offset += u.skipped(p, offset, &r)
	}
	if r.counters.Undecided == 0 {
		r.counters.Decided = 1
	}
	if len(r.findings) > 0 {
		r.counters.Defective = 1
	}
	return r
}

func (r *result) count(v Verdict, why Reason) {
	r.counters.Instructions++
	switch v {
	case Agree:
		r.counters.Agree++
	case Disagree:
		r.counters.Disagree++
	default:
		r.counters.Undecided++
		r.counters.Reasons[why]++
	}
}

// skipped counts the instruction at an offset that is not reached, and returns its size.
func (u *unit) skipped(p *part, offset int, r *result) int {
	i := lift.Instruction{Right: lift.NoRegister}
	_, ok := u.c.machine.Decode(p.code[offset:], p.start+uint64(offset), &i, u.c.spare[:0])
	switch {
	case !ok || i.Size == 0:
		size := min(u.c.abi.MinSize, len(p.code)-offset)
		if slices.ContainsFunc(p.code[offset:offset+size], func(b byte) bool { return b != 0 }) {
			r.count(Undecided, NotDecoded)
		}
		return size
	case i.Padding:
	case u.dropped[p.start+uint64(offset)]:
		r.count(Undecided, MayNotReturn)
	default:
		r.count(Undecided, Unreached)
	}
	// The next instruction may be reached before this one's end.
	for n := 1; n < int(i.Size); n++ {
		if k := p.at[offset+n] - 1; k >= 0 && u.instructions[k].reached {
			return n
		}
	}
	return int(i.Size)
}

// findings makes findings of the instructions that disagree.
func (u *unit) findings(p *part) []Finding {
	var list []Finding
	open := map[int]int{} // by mismatch.number: index in list of the finding that continues
	var wrong []mismatch
	u.c.follow(p.fde)
	detailed := u.c.details > 0
	u.c.pathSteps = maxPathSteps
	u.replay(p, func(i *instruction, k int32, s *state) {
		if i.verdict == Disagree {
			wrong = wrong[:0]
			r := &p.rows[i.row]
			u.c.compare(r, s, i.pc, &wrong)
			for _, w := range wrong {
				if len(list) >= maxFindings {
					break
				}
				f := u.finding(p, r, s, i, w)
				f.atCall = i.Flow == lift.FlowCall || i.Flow == lift.FlowCallIndirect
				n, ok := open[w.number]
				if ok && (list[n].Found == f.Found && list[n].Expected == f.Expected || w.continues(&u.mismatches[n])) {
					list[n].Last = i.pc
					list[n].Count++
					list[n].atCall = list[n].atCall || f.atCall
					continue
				}
				if detailed {
					f.Path = u.path(k)
				}
				open[w.number] = len(list)
				list = append(list, f)
				u.mismatches = append(u.mismatches[:len(list)-1], w)
			}
		}
		for number := range open {
			if list[open[number]].Last != i.pc {
				delete(open, number)
			}
		}
		if i.Flow == lift.FlowReturn && s.trust == sure && len(list) < maxFindings {
			list = append(list, u.unrestored(p, i, k, s, detailed)...)
			u.mismatches = append(u.mismatches[:0], make([]mismatch, len(list))...)
		}
	})
	if !detailed {
		u.c.strip(list)
		return list
	}
	u.around(p, list)
	u.c.details -= maxPathSteps - u.c.pathSteps
	return list
}

// strip shares the texts of findings without details.
func (c *checker) strip(list []Finding) {
	if c.interned == nil {
		c.interned = map[string]string{}
	}
	for i := range list {
		f := &list[i]
		f.bare = true
		for _, text := range []*string{&f.Expected, &f.Found, &f.Fix} {
			if known, ok := c.interned[*text]; ok {
				*text = known
			} else if len(c.interned) < maxInterned {
				c.interned[*text] = *text
			}
		}
	}
}

const maxInterned = 1 << 14

// complete returns the findings of a function with details, after run. They stay valid until the next
// call.
func (c *checker) complete(start uint64) []Finding {
	if len(c.completed) > 0 && c.completed[0].Function == start {
		return c.completed
	}
	c.completed = nil
	index := c.fdeAt(start)
	if index < 0 {
		return nil
	}
	c.joins, c.details = 0, 1
	_ = object.Guard(func() error { // without details
		c.check(c.results[index].unit, false)
		return nil
	})
	c.completed, c.results[index].findings = c.results[index].findings, nil
	return c.completed
}

// unrestored returns a finding for each preserved register that is lost where a function
// returns.
func (u *unit) unrestored(p *part, i *instruction, k int32, s *state, detailed bool) []Finding {
	c, m := u.c, u.c.abi
	if i.row >= 0 && p.rows[i.row].returnAddress.Kind == cfi.Undefined {
		return nil
	}
	if m.Link == lift.NoRegister && s.load(s.registers[m.SP], m) != makeValue(entry, m.ReturnAddress, 0) ||
		m.Link != lift.NoRegister && !s.registers[i.Register].returnAddress(m) {
		return nil // it goes elsewhere
	}
	var list []Finding
	for n, column := range m.Preserved {
		if c.ignored>>column&1 != 0 {
			continue
		}
		if v, _ := c.holds(s.registers[column], makeValue(entry, int(column), 0)); v != Disagree {
			continue
		}
		if i.row >= 0 && (i.verdict == Disagree || p.rows[i.row].rules[n].Kind == cfi.Undefined) {
			continue // the row is wrong, or says so
		}
		f := Finding{
			Kind: NotRestored, atCall: true, Function: p.start, Address: i.pc, Last: i.pc, Count: 1,
			Column: m.Column(int(column)), Register: m.Names[column],
			Expected: m.Names[column] + " restored", Found: "a return without it",
		}
		if detailed {
			f.Path = u.path(k)
		}
		list = append(list, f)
	}
	return list
}

// replay calls fn for every reached instruction of a part with the state before it.
func (u *unit) replay(p *part, fn func(i *instruction, k int32, s *state)) {
	var s state
	have := false
	var compared *instruction
	for offset := 0; offset < len(p.code); {
		k := p.at[offset] - 1
		if k < 0 || !u.instructions[k].reached {
			offset++
			have = false
			continue
		}
		i := &u.instructions[k]
		if i.state >= 0 && u.states[i.state].valid {
			s, have, compared = u.states[i.state].state, true, nil
		}
		if have {
			fn(i, k, &s)
			u.execute(&s, i, int(k)+1)
			switch i.Flow {
			case lift.FlowNext:
			case lift.FlowBranch:
				refine(&s, compared, i.Condition, false, u.c.abi)
			case lift.FlowCall, lift.FlowCallIndirect:
				u.called(i, &s)
			default:
				have = false
			}
			compared = u.compared(compared, i)
		}
		offset += int(i.Size)
	}
}
