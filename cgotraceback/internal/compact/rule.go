// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package compact

import (
	"cmp"
	"debug/elf"
	"math"
	"slices"

	"github.com/clewdev/clew/cfi"
)

// flags are those of struct clew_rule.
type flags uint8

const (
	signalFrame flags = 1 << iota
	signedReturn
	outermost
	dereferenced
	plt
	undescribed
)

// rule is struct clew_rule.
type rule struct {
	offset, more int32
	saved        uint32
	register     uint8
	flags        flags
	count        uint8
}

// kind is that of struct clew_saved.
type kind uint8

const (
	atCFA kind = 1 + iota
	isCFA
	inRegister
	atRegister
	lost
)

// saved is struct clew_saved.
type saved struct {
	offset   int32
	column   uint8
	kind     kind
	register uint8
}

// maxSaved is more than the registers that a machine keeps over calls, with the return
// address.
const maxSaved = 16

// form is a row in the form of the table. Equal forms have one number.
type form struct {
	rule  rule
	saved [maxSaved]packed
}

// packed is a saved in one word, as in the table.
type packed uint64

func (s saved) pack() packed {
	return packed(uint32(s.offset)) | packed(s.column)<<32 | packed(s.kind)<<40 | packed(s.register)<<48
}

// dictionary numbers the distinct rules. Rule 0 is a gap.
type dictionary struct {
	section *cfi.Section
	columns uint32 // set of the columns that a walk needs
	numbers map[form]uint32
	forms   []form // by number
	rules   []rule
	saved   []packed
	places  map[[maxSaved]packed]uint32 // in saved

	// recent holds the numbers of forms by a quick hash.
	recent [1 << 12]uint32
}

func newDictionary(s *cfi.Section) *dictionary {
	d := &dictionary{section: s, numbers: make(map[form]uint32), forms: make([]form, 1), places: make(map[[maxSaved]packed]uint32)}
	switch s.Machine.ELF {
	case elf.EM_X86_64:
		d.columns = 1<<3 | 1<<6 | 1<<7 | 15<<12 | 1<<16 // rbx, rbp, rsp, r12 to r15, return address
	case elf.EM_AARCH64:
		d.columns = 0x1fff << 19
	}
	return d
}

// number returns the number of a row's rules.
func (d *dictionary) number(row *cfi.Row, cie *cfi.CIE) uint32 {
	var f form
	d.setForm(&f, row, cie)
	h := uint64(uint32(f.rule.offset))*0x9e3779b1 + uint64(f.rule.register)<<20 + uint64(f.rule.count)<<24
	for i := range f.rule.count {
		h = (h ^ uint64(f.saved[i])) * 0x9e3779b97f4a7c15
	}
	recent := &d.recent[h>>52]
	if n := *recent; n != 0 && d.forms[n].is(&f) {
		return n
	}
	n, ok := d.numbers[f]
	if !ok {
		n = uint32(len(d.forms))
		if n > math.MaxUint16 {
			f = form{rule: rule{flags: undescribed}}
			if n, ok = d.numbers[f]; ok {
				return n
			}
			n = uint32(len(d.forms))
		}
		d.forms = append(d.forms, f)
		d.numbers[f] = n
		if _, ok := d.places[f.saved]; !ok {
			d.places[f.saved] = uint32(len(d.saved))
			d.saved = append(d.saved, f.saved[:f.rule.count]...)
		}
	}
	*recent = n
	return n
}

func (f *form) is(g *form) bool {
	return f.rule == g.rule && slices.Equal(f.saved[:f.rule.count], g.saved[:g.rule.count])
}

// sort numbers the rules anew by their uses, and writes them.
func (d *dictionary) sort(uses map[uint32]int) {
	order := make([]uint32, len(d.forms)-1)
	for i := range order {
		order[i] = uint32(i + 1)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(uses[b], uses[a]), cmp.Compare(a, b)) })
	forms := make([]form, 1, len(d.forms))
	for _, n := range order {
		d.numbers[d.forms[n]] = uint32(len(forms))
		forms = append(forms, d.forms[n])
	}
	d.forms = forms
	clear(d.recent[:])
}

// write writes the rules of all forms.
func (d *dictionary) write() {
	d.rules = make([]rule, 1, len(d.forms))
	for _, f := range d.forms[1:] {
		f.rule.saved = d.places[f.saved]
		d.rules = append(d.rules, f.rule)
	}
}

// setForm sets the form of a row.
func (d *dictionary) setForm(f *form, row *cfi.Row, cie *cfi.CIE) {
	known := flags(0)
	if cie.SignalFrame {
		known |= signalFrame
	}
	f.rule.flags = known
	if row.Signed {
		f.rule.flags |= signedReturn
	}
	if !d.setCFA(&f.rule, row) || cie.ReturnAddress > 31 || d.columns>>cie.ReturnAddress&1 == 0 {
		*f = form{rule: rule{flags: undescribed | known}}
		return
	}
	for i := range row.Registers {
		r := &row.Registers[i]
		if r.Column > 31 || d.columns>>r.Column&1 == 0 || r.Kind == cfi.Unspecified || r.Kind == cfi.SameValue {
			continue
		}
		returns := uint64(r.Column) == cie.ReturnAddress
		if returns && r.Kind == cfi.Undefined {
			*f = form{rule: rule{flags: outermost}}
			return
		}
		s, ok := d.savedAs(row, r)
		if !ok && returns || f.rule.count == maxSaved {
			*f = form{rule: rule{flags: undescribed | known}}
			return
		}
		f.saved[f.rule.count] = s.pack()
		f.rule.count++
	}
}

func (d *dictionary) setCFA(r *rule, row *cfi.Row) bool {
	switch row.CFA.Kind {
	case cfi.Register:
		r.register = uint8(row.CFA.Register)
		r.offset = int32(row.CFA.Offset)
		return row.CFA.Register < 32 && int64(r.offset) == row.CFA.Offset
	case cfi.ValExpression:
		ops, ok := d.operations(row, row.CFA)
		if !ok {
			return false
		}
		register, offset, ok := based(ops[0])
		if !ok {
			return false
		}
		r.register, r.offset = register, offset
		switch {
		case len(ops) == 1:
			return true
		case ops[1].Op == cfi.OpDeref && len(ops) == 2:
			r.flags |= dereferenced
			return true
		case ops[1].Op == cfi.OpDeref && len(ops) == 3 && ops[2].Op == cfi.OpPlusUconst:
			r.flags |= dereferenced
			r.more = int32(operand(ops[2]))
			return operand(ops[2]) <= math.MaxInt32
		}
		return d.setPLT(r, ops)
	}
	return false
}

// setPLT recognises the expression of linkers for stubs of the PLT:
// breg7 (rsp) +8; breg16 (rip) +0; lit15; and; lit11; ge; lit3; shl; plus.
func (d *dictionary) setPLT(r *rule, ops []cfi.Operation) bool {
	literal := func(o cfi.Operation, n uint64) bool {
		return o.Op >= cfi.OpLit0 && uint64(o.Op-cfi.OpLit0) == n
	}
	if len(ops) != 9 || r.register != 7 || ops[4].Op < cfi.OpLit0 || ops[4].Op > cfi.OpLit0+15 {
		return false
	}
	rip, zero, ok := based(ops[1])
	if !ok || rip != 16 || zero != 0 || !literal(ops[2], 15) || ops[3].Op != cfi.OpAnd || ops[5].Op != cfi.OpGe ||
		!literal(ops[6], 3) || ops[7].Op != cfi.OpShl || ops[8].Op != cfi.OpPlus {
		return false
	}
	r.flags |= plt
	r.more = int32(ops[4].Op - cfi.OpLit0)
	return true
}

func (d *dictionary) savedAs(row *cfi.Row, r *cfi.RegisterRule) (s saved, ok bool) {
	s = saved{column: uint8(r.Column), kind: lost}
	if r.Offset != int64(int32(r.Offset)) {
		return s, false
	}
	switch r.Kind {
	case cfi.Offset:
		s.kind, s.offset = atCFA, int32(r.Offset)
	case cfi.ValOffset:
		s.kind, s.offset = isCFA, int32(r.Offset)
	case cfi.Register:
		if r.Rule.Register > 31 {
			return s, false
		}
		s.kind, s.register = inRegister, uint8(r.Rule.Register)
	case cfi.Expression:
		ops, ok := d.operations(row, r.Rule)
		if !ok || len(ops) != 1 {
			return s, false
		}
		if s.register, s.offset, ok = based(ops[0]); !ok {
			return s, false
		}
		s.kind = atRegister
	default:
		return s, false
	}
	return s, true
}

// operations returns those of an expression, if they are few.
func (d *dictionary) operations(row *cfi.Row, r cfi.Rule) (ops []cfi.Operation, ok bool) {
	for o, err := range d.section.Operations(uint64(r.Offset), uint64(r.Register)) {
		if err != nil || len(ops) == 9 {
			return nil, false
		}
		ops = append(ops, o)
	}
	return ops, len(ops) > 0
}

// based returns the register and the offset of DW_OP_breg.
func based(o cfi.Operation) (register uint8, offset int32, ok bool) {
	n := o.Op - cfi.OpBreg0
	offset = int32(o.Operands[0])
	return uint8(n), offset, o.Op >= cfi.OpBreg0 && n < 32 && int64(offset) == o.Operands[0]
}

func operand(o cfi.Operation) uint64 { return uint64(o.Operands[0]) }
