// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"cmp"
	"errors"
	"slices"
	"sort"
)

// Function is a function, or a call that was inlined.
type Function struct {
	Name   string // the linkage name where there is one, "" where the entry is missing
	Entry  uint64 // the first instruction of the first range
	Ranges [][2]uint64

	Inlined    bool
	Starts     bool   // at the address that was asked for
	CallFile   string // where the call is that was inlined
	CallLine   int
	CallColumn int
}

// FunctionsAt returns the calls that were inlined at addr, the innermost first,
// and then the function; none where no unit has one there.
func (d *Data) FunctionsAt(addr uint64) ([]Function, error) {
	o, err := d.codeAt(addr)
	if o == nil {
		return nil, err
	}
	function := o.functions.find(addr)
	if function == nil {
		return nil, err
	}
	body, chain := d.inlinedAt(o, function, addr)
	list := make([]Function, 0, len(chain)+1)
	before := new(functionBody)
	var chainBefore []int32
	if o.functions.scattered && addr > 0 {
		// gdb looks at the code before only if a function has several ranges.
		before, chainBefore = d.inlinedAt(o, o.functions.find(addr-1), addr-1)
	}
	for k := len(chain) - 1; k >= 0; k-- {
		call := d.inlinedCall(o, body, chain[k])
		goesOn := slices.ContainsFunc(chainBefore, func(b int32) bool { return before.inlined[b].entry == body.inlined[chain[k]].entry })
		call.Starts = call.Entry == addr || o.functions.scattered && !goesOn
		list = append(list, call)
	}
	return append(list, d.function(o, function)), err
}

// inlinedAt returns the chain of inlined calls of a function at addr, the outermost first,
// as indexes of its body's; none of no function.
func (d *Data) inlinedAt(o *openUnit, function *functionRange, addr uint64) (b *functionBody, chain []int32) {
	if function == nil {
		return nil, nil
	}
	b = d.body(o, function)
	chain = b.chain(addr)
	return b, chain[max(0, len(chain)-maxInlined):]
}

// Functions returns the functions called name, by linkage name or as the source
// has it, and the inlined calls of them.
func (d *Data) Functions(name string) ([]Function, error) {
	var list []Function
	var problem error
	defer d.allow()()
	for _, u := range d.unitsOf(d.sources[0]) {
		if u.typeUnit {
			continue
		}
		o := d.openUnit(u)
		problem = errors.Join(problem, o.err)
		for k := range o.functions.ranges {
			if r := &o.functions.ranges[k]; r.part == 0 && d.isCalled(r.entry, name) {
				list = append(list, d.function(o, r))
			}
		}
		for _, entry := range o.functions.entries() {
			records := d.records
			body, err := d.readBody(o.code, &o.codeRoot, entry)
			d.records = records // as it is not kept
			if err != nil && o.err == nil {
				problem = cmp.Or(problem, err)
			}
			if d.steps < 0 {
				break
			}
			last := uint64(0)
			for k := range body.inlined {
				if in := &body.inlined[k]; in.entry != last && d.isCalled(in.entry, name) {
					list = append(list, d.inlinedCall(o, body, int32(k)))
				}
				last = body.inlined[k].entry
			}
		}
		if d.steps < 0 {
			return list, errors.Join(problem, errTooMuch)
		}
	}
	return list, problem
}

// allow gives one call its own allowance of entries that it may read, so that
// many calls do not use up what one file may take. It returns what ends it.
func (d *Data) allow() func() {
	left, size := d.steps, d.size
	d.steps = 1<<20 + 16*d.size
	return func() { d.steps = left + 16*(d.size-size) }
}

// entries returns the entries of the functions, in their order.
func (t *functionTable) entries() []uint64 {
	list := make([]uint64, len(t.complete))
	for k := range t.ranges {
		list[t.ranges[k].function] = t.ranges[k].entry
	}
	return list
}

func (d *Data) function(o *openUnit, r *functionRange) Function {
	f := Function{Name: d.functionName(r.entry), Entry: o.functions.entry(r)}
	for _, i := range o.functions.parts[r.function] {
		p := &o.functions.ranges[i]
		f.Ranges = append(f.Ranges, [2]uint64{p.low, p.high})
	}
	if f.Ranges == nil {
		f.Ranges = [][2]uint64{{r.low, r.high}}
	}
	return f
}

// inlinedCall returns the call of which record k of a body's inlined ones is a range.
func (d *Data) inlinedCall(o *openUnit, b *functionBody, k int32) Function {
	list := b.inlined
	in := &list[k]
	for k > 0 && list[k-1].entry == in.entry {
		k--
	}
	f := Function{
		Name: d.functionName(in.entry), Entry: list[k].low, Inlined: true,
		CallFile: d.fileName(o, int(in.callFile)), CallLine: int(in.callLine), CallColumn: int(in.callColumn),
	}
	for ; int(k) < len(list) && list[k].entry == in.entry; k++ {
		f.Ranges = append(f.Ranges, [2]uint64{list[k].low, list[k].high})
	}
	return f
}

// codeAt opens the unit that has a function or a line at addr, nil where none
// has.
func (d *Data) codeAt(addr uint64) (*openUnit, error) {
	var problem error
	i := sort.Search(len(d.index), func(i int) bool { return d.index[i].low > addr }) - 1
	for tries := 0; i >= 0 && d.highs[i] > addr && tries < 256; i, tries = i-1, tries+1 {
		if addr >= d.index[i].high {
			continue
		}
		u := d.unitStartingAt(d.index[i].unit)
		if u == nil {
			continue
		}
		o := d.openUnit(u)
		problem = errors.Join(problem, d.problem(o))
		function := o.functions.find(addr)
		if file, _, _ := o.lines.find(addr); function != nil || file >= 0 {
			return o, d.problem(o)
		}
	}
	if d.more() {
		return d.codeAt(addr)
	}
	return nil, problem
}
