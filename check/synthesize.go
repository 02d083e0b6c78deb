// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/object"
)

// Synthesis is an unwind table that was made from the code of a function.
type Synthesis struct {
	// Unwind is the table, ready for a jit.Function or a [cfi.Encoder]. In the gaps the return
	// address is undefined, so that a walk ends there instead of going wrong. Unwind is nil if
	// no instruction is decided.
	Unwind *cfi.Program

	// Instructions is the number of instructions, without those that only fill the space between
	// blocks. Undecided is the number of those in the gaps.
	Instructions, Undecided int

	// Gaps are the instructions that could not be decided, in ascending order.
	Gaps []Gap
}

// Gap is a range of instructions without a row. Offsets are in bytes from the start of the
// function.
type Gap struct {
	Offset, End uint64
	Reason      Reason
}

func (g Gap) String() string { return fmt.Sprintf("+%#x to +%#x: %s", g.Offset, g.End, g.Why()) }

// Why says why the instructions are undecided.
func (g Gap) Why() string {
	switch g.Reason {
	case Guessed:
		return "reached only through a jump table of unknown length"
	case MayNotReturn:
		return "has another frame if a previous call returns"
	case UnknownRule:
		return "not expressible in one table"
	}
	return g.Reason.String()
}

// ErrCode is wrapped by the error for a function that is empty or whose code cannot be read.
var ErrCode = errors.New("no code")

// syntheticBase is the address of code that has none. It is page-aligned and not small,
// because the analysis takes small constants for numbers.
const syntheticBase = 1 << 24

// Synthesize makes the unwind table of a function from its bytes. The function is called as the
// psABI says, at its first byte. Calls return, and targets of jumps outside of the code are
// other functions. The code is only read during the call. The error wraps [ErrMachine] or
// [ErrCode].
//
// [Synthesizer.Function] does the same for a function at its address in a program, and knows
// more: jump tables outside of the function, and called functions. [Synthesizer.Pieces] knows cold parts
// and landing pads too, which are undecided otherwise.
func Synthesize(code []byte, m *arch.Machine) (*Synthesis, error) {
	if len(code) == 0 {
		return nil, fmt.Errorf("%w: the function is empty", ErrCode)
	}
	s, err := NewSynthesizer(m, Code{Memory: bytesAt{syntheticBase, code}}, nil)
	if err != nil {
		return nil, err
	}
	return s.Function(syntheticBase, uint64(len(code)))
}

// bytesAt is memory that contains bytes at an address.
type bytesAt struct {
	address uint64
	bytes   []byte
}

func (b bytesAt) ReadMemory(p []byte, address uint64) error {
	offset := address - b.address
	if offset > uint64(len(b.bytes)) || uint64(len(p)) > uint64(len(b.bytes))-offset {
		return fmt.Errorf("%w at %#x", ErrCode, address)
	}
	copy(p, b.bytes[offset:])
	return nil
}

// Range is the addresses [Start, End) of a function.
type Range struct{ Start, End uint64 }

// Synthesizer makes the unwind tables of functions of a program. It must not be used
// concurrently.
type Synthesizer struct {
	// Work bounds the steps of the analysis of one function, about one for each instruction of
	// each path. 0 stands for more than any real function needs.
	Work int64

	spent   int64
	rules   []cfi.RegisterRule
	checker checker
	arch    *arch.Machine
	cies    [2]*cfi.CIE // by key of signed return addresses
	frames  []framedOffset
}

// NewSynthesizer returns a Synthesizer for a program. The ranges are those of the functions that
// the program is known to have. They show which calls do not return; they may be in any order,
// and nil. The error wraps [ErrMachine].
func NewSynthesizer(m *arch.Machine, code Code, functions []Range) (*Synthesizer, error) {
	if lift.Of(m) == nil {
		name := "unknown"
		if m != nil {
			name = m.Name
		}
		return nil, fmt.Errorf("%w: %s, only code for %s can be analysed", ErrMachine, name, strings.Join(lift.Names(), " and "))
	}
	s := &Synthesizer{arch: m, checker: *newChecker(&cfi.Section{Machine: m}, code)}
	c := &s.checker
	c.section = nil
	for _, f := range functions {
		if f.Start < f.End {
			c.fdes = append(c.fdes, cfi.IndexRange{Start: f.Start, End: f.End})
		}
	}
	slices.SortFunc(c.fdes, func(a, b cfi.IndexRange) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	// Of functions that overlap, as those with two names do, the first one stays.
	end := uint64(0)
	c.fdes = slices.DeleteFunc(c.fdes, func(r cfi.IndexRange) bool {
		if r.Start < end {
			return true
		}
		end = r.End
		return false
	})
	for key := range s.cies {
		s.cies[key] = cfi.EntryCIE(m)
		s.cies[key].BKey = key == lift.KeyB
	}
	return s, nil
}

// NewFileSynthesizer returns a Synthesizer for the functions of a file, which it may read as long
// as it is used. Imports are as in [Options]. The error wraps [ErrMachine] or [ErrRelocatable].
func NewFileSynthesizer(f *object.File, functions []Range, imports map[uint64]string) (*Synthesizer, error) {
	if f.Type() == elf.ET_REL {
		return nil, fmt.Errorf("%s: %w: link it first", f.Name(), ErrRelocatable)
	}
	s, err := NewSynthesizer(f.Machine(), Code{Memory: newRelocated(f, nil), NoReturn: noReturns(f, imports), Stubs: stubs(f), stops: noReturnAttributes(f)}, functions)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return s, nil
}

// Function makes the unwind table of the function in size bytes of code at an address. Calls
// enter it at its first byte. The error wraps [ErrCode].
func (s *Synthesizer) Function(start, size uint64) (*Synthesis, error) {
	r, err := s.analyse(start, size)
	if err != nil {
		return nil, err
	}
	if s.write(r) != nil {
		return s.undecided(size, UnknownRule), nil
	}
	return r, nil
}

// Rows is Function, but returns the rows of the table, without those of gaps. It appends their
// expressions to the Data of a section.
func (s *Synthesizer) Rows(start, size uint64, section *cfi.Section) ([]cfi.Row, error) {
	r, err := s.analyse(start, size)
	if err != nil || r.Undecided == r.Instructions {
		return nil, err
	}
	s.rules = s.rules[:0]
	rows := make([]cfi.Row, 0, len(s.frames))
	for i := range s.frames {
		f := &s.frames[i]
		if n := len(rows); n > 0 && (i == 0 || s.frames[i-1].returnAddress.kind != cfi.Undefined) {
			rows[n-1].End = start + f.offset
		}
		if f.returnAddress.kind == cfi.Undefined {
			continue // a gap
		}
		row := cfi.Row{Start: start + f.offset, End: start + size, CFA: s.rule(f.cfa, section), Signed: f.signed}
		s.rules = s.appendRules(s.rules, &f.frame, section)
		rows = append(rows, row)
	}
	rules := slices.Clone(s.rules)
	n := 0
	for i := range s.frames {
		f := &s.frames[i]
		if f.returnAddress.kind == cfi.Undefined {
			continue
		}
		count := f.rules(s.checker.abi)
		rows[n].Registers, rules = rules[:count:count], rules[count:]
		n++
	}
	return rows, nil
}

// Pieces makes the tables of a function and of its cold parts, in the order in which Pieces names
// them. A cold part starts with the frame that the function has where it jumps there, and a
// landing pad with that at the call. The error wraps [ErrCode].
func (s *Synthesizer) Pieces(start, size uint64, known Pieces) ([]*Synthesis, error) {
	var list []*Synthesis
	err := s.solve(start, size, known, func(p *part) {
		if p.entered {
			list = list[:0]
		}
		r := s.collect(p)
		if s.write(r) != nil {
			r = s.undecided(p.end-p.start, UnknownRule)
		}
		list = append(list, r)
	}, func(why Reason) {
		list = []*Synthesis{s.undecided(size, why)}
		for _, r := range known.Cold {
			list = append(list, s.undecided(r.End-r.Start, why))
		}
	})
	return list, err
}

// analyse finds the frames of a function.
func (s *Synthesizer) analyse(start, size uint64) (result *Synthesis, err error) {
	err = s.solve(start, size, Pieces{}, func(p *part) { result = s.collect(p) }, func(why Reason) { result = s.undecided(size, why) })
	return result, err
}

// solve follows the paths through a function, and calls collect for each part, or undecided. It calls
// collect again if it has learned that a call does not return.
func (s *Synthesizer) solve(start, size uint64, known Pieces, collect func(*part), undecided func(Reason)) error {
	c := &s.checker
	if size == 0 {
		return fmt.Errorf("%w at %#x: the function is empty", ErrCode, start)
	}
	if start+size < start {
		return fmt.Errorf("%w: %#x bytes at %#x pass the end of the address space", ErrCode, size, start)
	}
	total := size
	if len(known.Cold) > 0 {
		var err error
		if total, err = known.size(start, size); err != nil {
			return err
		}
	}
	budget := cmp.Or(s.Work, minWork+int64(min(total, maxUnitSize)*workPerByte))
	c.work = budget
	defer func() { s.spent = budget - max(c.work, 0) }()
	u := &c.unit
	u.clear(c)
	if total > maxUnitSize || len(known.Cold) >= maxUnitParts || len(known.Landings) > maxLandings {
		undecided(TooLarge)
		return nil
	}
	landings := known.landings()
	for i := range 1 + len(known.Cold) {
		r := Range{start, start + size}
		if i > 0 {
			r = known.Cold[i-1]
		}
		p := u.addCode(r.Start, r.End-r.Start)
		p.entered, p.landings = i == 0, append(p.landings, landings...)
		if err := c.memory.ReadMemory(p.code, p.start); err != nil {
			return fmt.Errorf("%w at %#x: %w", ErrCode, p.start, err)
		}
	}
	for range maxRestarts {
		u.solve()
		if u.failed != NoReason {
			undecided(u.failed)
			return nil
		}
		if u.framed {
			undecided(UnknownEntry)
			return nil
		}
		doubtful := false
		for i := range u.parts {
			u.doubtful = false
			collect(&u.parts[i])
			doubtful = doubtful || u.doubtful
		}
		if !doubtful || !u.stopCalls() {
			return nil
		}
	}
	undecided(TooLarge)
	return nil
}

// Steps returns how many steps the last call of Function took.
func (s *Synthesizer) Steps() int64 { return s.spent }

func (s *Synthesizer) undecided(size uint64, why Reason) *Synthesis {
	return &Synthesis{Instructions: 1, Undecided: 1, Gaps: []Gap{{0, size, why}}}
}

// addCode adds a part without rows.
func (u *unit) addCode(start, size uint64) *part {
	if len(u.parts) < cap(u.parts) {
		u.parts = u.parts[:len(u.parts)+1]
	} else {
		u.parts = append(u.parts, part{})
	}
	p := &u.parts[len(u.parts)-1]
	p.fde, p.start, p.end, p.first = -1, start, start+size, 0
	p.code, p.at = resize(p.code, int(size)), resize(p.at, int(size))
	clear(p.at)
	p.rows, p.landings = p.rows[:0], p.landings[:0]
	return p
}

// Complete makes the unwind tables of those functions of a batch that have none, from their code,
// and sets their Unwind. Call it before [jit.Publish]. The result has an element for each function
// of the batch: nil for a function whose author gave a table. A function of which nothing can be
// decided stays without a table. A function is entered at its first byte, as the psABI says;
// [Synthesize] lists what else the result relies on.
//
// The error wraps [jit.ErrCode] if the batch is invalid, or [ErrMachine]. The batch is then
// unchanged.
func Complete(code *jit.Code) ([]*Synthesis, error) {
	if err := code.Check(); err != nil {
		return nil, err
	}
	m := code.Machine
	if m == nil {
		m = jit.Host()
	}
	base := code.Address
	if base == 0 {
		base = syntheticBase
	}
	functions := make([]Range, len(code.Functions))
	for i := range code.Functions {
		f := &code.Functions[i]
		functions[i] = Range{base + f.Offset, base + f.Offset + f.Size}
	}
	s, err := NewSynthesizer(m, Code{Memory: bytesAt{base, code.Text}}, functions)
	if err != nil {
		return nil, err
	}
	list := make([]*Synthesis, len(code.Functions))
	for i := range code.Functions {
		if code.Functions[i].Unwind != nil {
			continue
		}
		if list[i], err = s.Function(functions[i].Start, functions[i].End-functions[i].Start); err != nil {
			return nil, fmt.Errorf("function %q: %w", code.Functions[i].Name, err)
		}
	}
	for i, r := range list {
		if r != nil {
			code.Functions[i].Unwind = r.Unwind
		}
	}
	return list, nil
}

// framedOffset is a frame from an instruction on.
type framedOffset struct {
	offset uint64
	frame
}

// collect computes the frames before the instructions of a part, and notes the gaps.
func (s *Synthesizer) collect(p *part) *Synthesis {
	var (
		u        = &s.checker.unit
		state    state
		compared *instruction
		now      frame
		have     bool // state is that before the instruction
		same     bool // and now is its frame
		result   Synthesis
	)
	s.frames, u.doubtful = s.frames[:0], false
	for offset := 0; offset < len(p.code); {
		k := p.at[offset] - 1
		if k < 0 || !u.instructions[k].reached {
			size, why := u.unreached(p, offset)
			if why != NoReason {
				s.gap(&result, offset, size, why)
			}
			offset += size
			have, same = false, false
			continue
		}
		i := &u.instructions[k]
		if i.state >= 0 && u.states[i.state].valid {
			state.assign(&u.states[i.state].state, u.c.abi)
			have, same, compared = true, false, nil
		}
		why := NoReason
		switch {
		case !have:
			why = Unreached
		case !same:
			why = u.frameOf(&state, &now)
		}
		if why != NoReason {
			u.doubtful = u.doubtful || why == UnknownStack || why == UnknownValue
			s.gap(&result, offset, int(i.Size), why)
		} else {
			result.Instructions++
			if n := len(s.frames); n == 0 || s.frames[n-1].frame != now {
				s.frames = append(s.frames, framedOffset{uint64(offset), now})
			}
		}
		state.touched = false
		if have {
			have = u.pass(&state, i, k, &compared)
		}
		same = have && why == NoReason && !state.touched && i.writes&now.watched(u.c.abi) == 0
		offset += int(i.Size)
	}
	return &result
}

// pass executes an instruction that the solver has followed. It returns false if the next one
// in memory does not follow it.
func (u *unit) pass(s *state, i *instruction, k int32, compared **instruction) bool {
	u.execute(s, i, int(k)+1)
	switch i.Flow {
	case lift.FlowNext:
	case lift.FlowBranch:
		refine(s, *compared, i.Condition, false, u.c.abi)
	case lift.FlowCall, lift.FlowCallIndirect:
		u.called(i, s)
	default:
		return false
	}
	*compared = u.compared(*compared, i)
	return true
}

// gap notes that the instruction at an offset is undecided.
func (s *Synthesizer) gap(r *Synthesis, offset, size int, why Reason) {
	r.Instructions++
	r.Undecided++
	at := uint64(offset)
	if n := len(r.Gaps); n > 0 && r.Gaps[n-1].Reason == why && r.Gaps[n-1].End == at {
		r.Gaps[n-1].End += uint64(size)
	} else {
		r.Gaps = append(r.Gaps, Gap{at, at + uint64(size), why})
	}
	if n := len(s.frames); n == 0 || s.frames[n-1].returnAddress.kind != cfi.Undefined {
		f := entryFrame(s.checker.abi)
		if n > 0 {
			f = s.frames[n-1].frame // as short as possible
		}
		f.returnAddress = location{kind: cfi.Undefined}
		s.frames = append(s.frames, framedOffset{at, f})
	}
}

// unreached returns the size of the instruction at an offset that no path reaches, and why it is
// undecided. Padding is not.
func (u *unit) unreached(p *part, offset int) (size int, why Reason) {
	var r result
	size = u.skipped(p, offset, &r)
	for n, count := range r.counters.Reasons {
		if count > 0 {
			why = Reason(n)
		}
	}
	return size, why
}

// write makes the table of the frames.
func (s *Synthesizer) write(r *Synthesis) error {
	if r.Undecided == r.Instructions {
		return nil
	}
	m := s.checker.abi
	key := -1
	for i := range s.frames {
		switch f := &s.frames[i]; {
		case !f.signed || f.returnAddress.kind == cfi.Undefined:
		case key >= 0 && key != f.key:
			return errors.New("two keys") // a CIE names one
		default:
			key = f.key
		}
	}
	b := cfi.NewBuilder(s.cies[max(key, 0)])
	previous := entryFrame(m)
	for i := range s.frames {
		f := &s.frames[i]
		b.At(f.offset)
		s.writeFrame(b, &previous, &f.frame)
		previous = f.frame
	}
	var err error
	r.Unwind, err = b.Program()
	return err
}

// writeFrame writes the difference between two rows.
func (s *Synthesizer) writeFrame(b *cfi.Builder, from, to *frame) {
	m := s.checker.abi
	if from.cfa != to.cfa {
		switch p := to.cfa; {
		case p.kind == cfi.ValExpression:
			b.DefCFAExpression(p.expression(s.arch))
		case from.cfa.kind != cfi.Register || from.cfa.column != p.column && from.cfa.offset != p.offset:
			b.DefCFA(uint64(p.column), p.offset)
		case from.cfa.column != p.column:
			b.DefCFARegister(uint64(p.column))
		default:
			b.DefCFAOffset(p.offset)
		}
	}
	for i, number := range m.Preserved {
		s.writeRule(b, uint64(m.Column(int(number))), from.registers[i], to.registers[i], location{})
	}
	s.writeRule(b, uint64(m.Column(m.ReturnAddress)), from.returnAddress, to.returnAddress, entryFrame(m).returnAddress)
	if from.signed != to.signed {
		b.NegateRAState()
	}
}

// writeRule writes the rule of a column if it changes. The rule at the entry is that of the CIE.
func (s *Synthesizer) writeRule(b *cfi.Builder, column uint64, from, to, atEntry location) {
	switch {
	case from == to:
	case to == atEntry:
		b.Restore(column)
	case to.kind == cfi.Undefined:
		b.Undefined(column)
	case to.kind == cfi.Offset:
		b.Offset(column, to.offset)
	case to.kind == cfi.Register:
		b.Register(column, uint64(to.column))
	default:
		b.Expression(column, to.expression(s.arch))
	}
}
