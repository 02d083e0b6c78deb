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
	Name   string // the linkage name if there is one, "" if the entry is missing
	Entry  uint64 // the first instruction of the first range
	Ranges [][2]uint64

	Inlined  bool
	Starts   bool   // it starts at the address of FunctionsAt
	CallFile string // the place of the inlined call
	CallLine int
}

// FunctionsAt returns the inlined calls at addr, the innermost first, and last the
// function. The list is empty if no unit has a function at addr.
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
		// gdb examines the code before addr only if a function has several ranges.
		before, chainBefore = d.inlinedAt(o, o.functions.find(addr-1), addr-1)
	}
	for k := len(chain) - 1; k >= 0; k-- {
		call := d.inlinedCall(o, body, chain[k])
		continues := slices.ContainsFunc(chainBefore, func(b int32) bool { return before.inlined[b].entry == body.inlined[chain[k]].entry })
		call.Starts = call.Entry == addr || o.functions.scattered && !continues
		list = append(list, call)
	}
	return append(list, d.function(o, function)), err
}

// inlinedAt returns the body of a function and its chain of inlined calls at addr, both
// nil without a function.
func (d *Data) inlinedAt(o *openUnit, function *functionRange, addr uint64) (b *functionBody, chain []int32) {
	if function == nil {
		return nil, nil
	}
	b = d.body(o, function)
	chain = b.chain(addr)
	return b, chain[max(0, len(chain)-maxInlined):]
}

// Functions returns the functions with a name (see isCalled) and the inlined calls of them.
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
			d.records = records // the body is not kept
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

// allow gives one call its own budget of entries, so that many calls do not use up the
// budget of the file. The returned function restores the budget of the file.
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

// inlinedCall returns the call with b.inlined[k] as one of its ranges.
func (d *Data) inlinedCall(o *openUnit, b *functionBody, k int32) Function {
	list := b.inlined
	in := &list[k]
	for k > 0 && list[k-1].entry == in.entry {
		k--
	}
	f := Function{
		Name: d.functionName(in.entry), Entry: list[k].low, Inlined: true,
		CallFile: d.fileName(o, int(in.callFile)), CallLine: int(in.callLine),
	}
	for ; int(k) < len(list) && list[k].entry == in.entry; k++ {
		f.Ranges = append(f.Ranges, [2]uint64{list[k].low, list[k].high})
	}
	return f
}

// codeAt opens the unit with a function or a line at addr; nil if there is none.
func (d *Data) codeAt(addr uint64) (found *openUnit, problem error) {
	d.unitsAt(addr, func(o *openUnit) bool {
		function := o.functions.find(addr)
		if file, _, _ := o.lines.find(addr); function != nil || file >= 0 {
			found, problem = o, d.problem(o)
			return false
		}
		problem = errors.Join(problem, d.problem(o))
		return true
	})
	return found, problem
}

// CallSite is a call (DWARF 5 §3.4.1).
type CallSite struct {
	// PC is the address after the call; with At, of the call itself: clang writes only
	// that for tail calls in DWARF 5.
	PC uint64
	At bool

	// Entry is the first instruction of the called function if its code is in this file;
	// else Name is its name if it is declared here. An indirect call has neither.
	Entry uint64
	Name  string
}

// callSite is an unresolved CallSite.
type callSite struct {
	pc     uint64
	origin uint64 // the offset of the called function's entry, 0 if unknown
	at     bool
}

// callSite returns the call of an entry; ok is false if the entry has no address.
func (d *Data) callSite(u *unit, r *root, e *entry) (call callSite, ok bool) {
	for _, origin := range []value{e.callOrigin, e.origin} { // the GNU extension uses the second
		if origin.class == reference && call.origin == 0 {
			call.origin = origin.u
		}
	}
	for _, pc := range []value{e.returnPC, e.pc.low} { // likewise
		if call.pc, ok = d.address(u, r, pc); ok {
			return call, true
		}
	}
	call.at = true
	call.pc, ok = d.address(u, r, e.callPC)
	return call, ok
}

// CallSite returns the call that returns to an address.
func (d *Data) CallSite(pc uint64) (site CallSite, ok bool, err error) {
	o, err := d.codeAt(pc - 1)
	if o == nil {
		return site, false, err
	}
	function := o.functions.find(pc - 1)
	if function == nil {
		return site, false, err
	}
	calls := d.body(o, function).calls
	for i := sort.Search(len(calls), func(i int) bool { return calls[i].pc >= pc }); i < len(calls) && calls[i].pc == pc; i++ {
		if !calls[i].at {
			return d.site(o, &calls[i]), true, err
		}
	}
	return site, false, err
}

// NoReturn reports whether the function that starts at an address has DW_AT_noreturn (DWARF 5
// §3.3.1.1), or the function of the call that returns to next.
func (d *Data) NoReturn(start, next uint64) (bool, error) {
	if o, _ := d.codeAt(start); o != nil {
		if r := o.functions.find(start); r != nil && o.functions.entry(r) == start && d.isNoReturn(r.entry) {
			return true, nil
		}
	}
	o, err := d.codeAt(next - 1)
	if o == nil {
		return false, err
	}
	function := o.functions.find(next - 1)
	if function == nil {
		return false, err
	}
	for _, call := range d.body(o, function).calls {
		if call.pc == next && !call.at && call.origin != 0 && d.isNoReturn(call.origin) {
			return true, nil
		}
	}
	return false, err
}

// isNoReturn reports whether an entry has DW_AT_noreturn, or one that it refers to.
func (d *Data) isNoReturn(offset uint64) bool {
	for range maxHops {
		u := d.unitAt(offset)
		if u == nil {
			return false
		}
		e, err := d.entryAt(u, offset)
		if err != nil || e.noReturn {
			return e.noReturn
		}
		next := e.origin
		if next.class != reference {
			next = e.specification
		}
		if next.class != reference {
			return false
		}
		offset = next.u
	}
	return false
}

// TailCalls returns the tail calls of the function at an address; ok is false if no
// function is known there. The list is empty unless the function is marked as having an
// entry for each of its tail calls (DW_AT_call_all_tail_calls).
func (d *Data) TailCalls(addr uint64) (list []CallSite, ok bool, err error) {
	o, err := d.codeAt(addr)
	if o == nil {
		return nil, false, err
	}
	function := o.functions.find(addr)
	if function == nil {
		return nil, false, err
	}
	if !o.functions.complete[function.function] {
		return nil, true, err
	}
	tails := d.body(o, function).tails
	for i := range tails {
		list = append(list, d.site(o, &tails[i]))
	}
	return list, true, err
}

func (d *Data) site(o *openUnit, call *callSite) CallSite {
	site := CallSite{PC: call.pc, At: call.at}
	if call.origin != 0 {
		site.Entry, site.Name = d.callee(o, call.origin)
	}
	return site
}

// callee returns the start of the function with the entry at an offset; else its name if it
// is declared here.
func (d *Data) callee(o *openUnit, offset uint64) (entry uint64, name string) {
	u := d.unitAt(offset)
	if u == nil {
		return 0, ""
	}
	e, err := d.entryAt(u, offset)
	if err != nil {
		return 0, ""
	}
	found := false
	if r, err := d.readRoot(u); err == nil {
		d.ranges(u, &r, e.pc, func(low, _ uint64) bool {
			entry, found = low, true
			return false
		})
		if found {
			return entry, ""
		}
	}
	// The code of a function that was inlined elsewhere is under an entry that refers to
	// this one. A function outside of this unit is found by its linkage name.
	if entry, ok := d.instances(o)[offset]; ok {
		return entry, ""
	}
	if e.declaration || e.external {
		return 0, d.functionName(offset)
	}
	return 0, ""
}

// instances returns the starts of the functions with an entry that refers to an abstract
// instance (DWARF 5 §3.3.8), by the offset of the abstract instance.
func (d *Data) instances(o *openUnit) map[uint64]uint64 {
	if o.instances != nil {
		return o.instances
	}
	o.instances = make(map[uint64]uint64)
	for i := range o.functions.ranges {
		r := &o.functions.ranges[i]
		if r.part > 0 {
			continue
		}
		e, err := d.entryAt(o.code, r.entry)
		if err != nil {
			break
		}
		if e.origin.class == reference {
			o.instances[e.origin.u] = r.low
		}
	}
	return o.instances
}
