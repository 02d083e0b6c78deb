// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/object"
)

// No finding is on what compilers make, and nearly everything is decided.
func TestCompilersOutput(t *testing.T) {
	for _, b := range someBuilds(t, 10) {
		t.Run(b.String(), func(t *testing.T) {
			f := b.compile(t)
			r, err := File(f, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Findings {
				if b.compiler == arm64Clang && !atCall(t, f, &r.Findings[i]) {
					continue // before LLVM 15 it has rows for calls only
				}
				if b.compiler == "g++" && strings.HasPrefix(r.Findings[i].Name, "realigned") && strings.HasSuffix(r.Findings[i].Found, "by an expression") {
					continue // gcc leaves the rules by rbp after pop %rbp
				}
				t.Errorf("%s: %v", r.Findings[i].Name, &r.Findings[i])
			}
			if r.Instructions < 500 || r.Undecided*20 > r.Instructions {
				t.Errorf("%+v", r.Counters)
			}
		})
	}
}

// atCall reports whether a finding on arm64 is about an instruction that is a call.
func atCall(t *testing.T, f *object.File, g *Finding) bool {
	for at := g.Address; at <= g.Last; at += 4 {
		var b [4]byte
		if err := f.ReadMemory(b[:], at); err != nil {
			t.Fatal(err)
		}
		if b[3]>>2 == 0b100101 {
			return true
		}
	}
	return false
}

// Each defect that is seeded into a table is found at its first instruction.
func TestSeededDefects(t *testing.T) {
	seeded := map[string]int{}
	for _, b := range someBuilds(t, 6) {
		t.Run(b.String(), func(t *testing.T) {
			s := newSeeder(t, b.compile(t))
			for i := range s.fdes {
				s.seed(t, i, seeded)
			}
		})
	}
	total := 0
	for _, n := range seeded {
		total += n
	}
	t.Logf("%d defects: %v", total, seeded)
	if total < 1000 {
		t.Errorf("%d defects, want 1000", total)
	}
}

// seeder makes defective copies of a table.
type seeder struct {
	section *cfi.Section
	code    Code
	fdes    []cfi.FDE
	agree   map[uint64]bool // instructions at which the whole table is right
	size    map[uint64]uint8
}

func newSeeder(t *testing.T, f *object.File) *seeder {
	section, err := f.EHFrame()
	if err != nil {
		t.Fatal(err)
	}
	s := &seeder{section: section, code: Code{Memory: f, NoReturn: noReturns(f, nil), Stubs: stubs(f)}, agree: map[uint64]bool{}, size: map[uint64]uint8{}}
	for fde := range section.FDEs() {
		s.fdes = append(s.fdes, *fde)
	}
	c := newChecker(section, s.code)
	c.observe = func(i *instruction) {
		if i.verdict == Agree {
			s.agree[i.pc] = true
		}
		s.size[i.pc] = i.Size
	}
	c.run(Options{})
	return s
}

// defect is a change of the instructions of an FDE.
type defect struct {
	name         string
	instructions []cfi.Instruction
}

// defects returns the changes of an FDE, one at a time.
func (s *seeder) defects(f *cfi.FDE) []defect {
	var all []cfi.Instruction
	d := f.Decode()
	for {
		var i cfi.Instruction
		if !d.Next(&i) {
			break
		}
		all = append(all, i)
	}
	var list []defect
	change := func(name string, n int, with ...cfi.Instruction) {
		list = append(list, defect{name, slices.Concat(all[:n], with, all[n+1:])})
	}
	// move moves a row. The next one stays.
	move := func(name string, n int, by int64) {
		moved := slices.Clone(all)
		moved[n] = advance(all[n].Value(f.CIE) + by)
		for k := n + 1; k < len(moved); k++ {
			if moved[k].Op.Base().Effect() == cfi.EffectLocation {
				d := moved[k].Value(f.CIE) - by
				if d <= 0 {
					return
				}
				moved[k] = advance(d)
				break
			}
		}
		list = append(list, defect{name, moved})
	}
	pc := f.Start
	for n, i := range all {
		switch i.Op.Base().Effect() {
		case cfi.EffectLocation:
			next := pc + uint64(i.Value(f.CIE))
			if size, ok := s.size[next]; ok && n+1 < len(all) {
				move("late", n, int64(size))
			}
			for size := uint64(1); size < 15; size++ {
				if before := next - size; uint64(s.size[before]) == size && before > pc {
					move("early", n, -int64(size))
					break
				}
			}
			pc = next
		case cfi.EffectCFA:
			change("dropped", n)
			if i.Op == cfi.CFADefCFAOffset {
				doubled := i
				doubled.Operand += 8
				change("doubled", n, doubled)
			}
		case cfi.EffectRegister:
			change("dropped", n)
			if i.Op == cfi.CFAOffset && i.Register != pushedReturn {
				slot := i
				slot.Operand++
				change("slot", n, slot)
			}
		case cfi.EffectRestore:
			change("unrestored", n)
		case cfi.EffectSigned, cfi.EffectWindow:
			change("unsigned", n)
		}
	}
	return list
}

// pushedReturn is the column of the return address on amd64.
const pushedReturn = 16

func advance(delta int64) cfi.Instruction {
	return cfi.Instruction{Op: cfi.CFAAdvanceLoc4, Operand: delta}
}

// seed checks an FDE with each of its defects.
func (s *seeder) seed(t *testing.T, index int, seeded map[string]int) {
	f := &s.fdes[index]
	defects := s.defects(f)
	if !sample.Full() && len(defects) > 24 {
		sample.Rand(t).Shuffle(len(defects), func(i, j int) { defects[i], defects[j] = defects[j], defects[i] })
		defects = defects[:24]
	}
	for _, d := range defects {
		section, err := s.with(index, d.instructions)
		if err != nil {
			continue // no longer a table
		}
		first, kind, column, ok := s.wrong(section, f)
		if !ok {
			continue // no instruction that is reached has another rule
		}
		seeded[d.name]++
		c := newChecker(section, s.code)
		undecided := map[uint64]Reason{}
		c.observe = func(i *instruction) {
			if i.verdict == Undecided {
				undecided[i.pc] = i.reason
			}
		}
		r, err := c.run(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if u := undecided[first]; u != NoReason {
			t.Errorf("%s of %v: %#x is undecided: %v", d.name, f, first, u)
			continue
		}
		found := slices.IndexFunc(r.Findings, func(g Finding) bool {
			// It can continue what is wrong in the untouched table.
			return (g.Address == first || g.Address < first && first <= g.Last && !s.agree[g.Address]) && g.Kind == kind && (kind == WrongCFA || g.Column == column)
		})
		if found < 0 {
			t.Errorf("%s of %v: want a %v of column %d at %#x, got %s", d.name, f, kind, column, first, describe(r.Findings))
		}
	}
}

func describe(list []Finding) string {
	text := ""
	for i := range list {
		text += fmt.Sprintf("\n\t%v", &list[i])
	}
	return text
}

// with returns the section with other instructions of one FDE.
func (s *seeder) with(index int, instructions []cfi.Instruction) (*cfi.Section, error) {
	e := cfi.Encoder{Kind: s.section.Kind, Machine: s.section.Machine, Address: s.section.Address}
	for i := range s.fdes {
		f := s.fdes[i]
		if i == index {
			b := cfi.NewBuilder(f.CIE)
			for _, i := range instructions {
				if i.Op.Base().Effect() != cfi.EffectNone {
					b.Instruction(i)
				}
			}
			p, err := b.Program()
			if err != nil {
				return nil, err
			}
			f.Instructions = p.Instructions
		}
		if err := e.FDE(&f); err != nil {
			return nil, err
		}
	}
	return &cfi.Section{Name: s.section.Name, Kind: s.section.Kind, Data: e.Data, Address: s.section.Address, Machine: s.section.Machine, Memory: s.section.Memory}, nil
}

// wrong returns the first instruction at which a changed table is wrong for sure: the CFA
// has the same register and another offset, or a register has another slot. At instructions
// before it both tables have equal rules, or rules that may be equal in another way.
func (s *seeder) wrong(changed *cfi.Section, f *cfi.FDE) (pc uint64, kind Kind, column int, ok bool) {
	var g cfi.FDE
	if changed.Find(f.Start, &g) != nil {
		return
	}
	var x, y cfi.Interpreter
	for pc := f.Start; pc < f.End; pc++ {
		if !s.agree[pc] {
			continue
		}
		a, err := x.RowAt(f, pc)
		if err != nil {
			return 0, 0, 0, false
		}
		b, err := y.RowAt(&g, pc)
		if err != nil {
			return 0, 0, 0, false
		}
		if a.CFA != b.CFA {
			if a.CFA.Kind == cfi.Register && b.CFA.Kind == cfi.Register && a.CFA.Register == b.CFA.Register {
				return pc, WrongCFA, numberCFA, true
			}
			return 0, 0, 0, false
		}
		abi := lift.Of(f.CIE.Section.Machine).ABI()
		if a.Signed != b.Signed {
			return pc, WrongReturnAddress, abi.SignState, true
		}
		saved := abi.Preserved
		if abi.Link != lift.NoRegister {
			saved = append([]uint8{abi.Link}, saved...)
		}
		for _, number := range saved {
			column := abi.Column(int(number))
			p, q := a.Register(uint64(column)), b.Register(uint64(column))
			if p != q {
				switch {
				case p.Kind != cfi.Offset || q.Kind != cfi.Offset:
				case number == abi.Link:
					return pc, WrongReturnAddress, column, true
				default:
					return pc, WrongRegister, column, true
				}
				return 0, 0, 0, false
			}
		}
	}
	return 0, 0, 0, false
}
