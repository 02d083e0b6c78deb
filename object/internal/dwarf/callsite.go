// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import "sort"

// CallSite is a call (DWARF 5 §3.4.1).
type CallSite struct {
	// PC is the address after the call; with At, of the call itself: clang writes only
	// that for tail calls in DWARF 5.
	PC uint64
	At bool

	// The called function: its first instruction if its code is in this file, else its
	// name if it is declared here. An indirect call has neither.
	Entry uint64
	Name  string
}

// callSite is what is kept of a call.
type callSite struct {
	pc     uint64
	origin uint64 // offset of the entry that is called, 0 where that is not said
	at     bool
}

// callSite returns the call of an entry; ok is false where it does not say where
// that is.
func (d *Data) callSite(u *unit, r *root, e *entry) (call callSite, ok bool) {
	for _, origin := range []value{e.callOrigin, e.origin} { // the second is of the GNU extension
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

// TailCalls returns the calls that the function at an address ends with. It
// reports false where no function is known there. A function without a mark
// that all of its tail calls are said (DW_AT_call_all_tail_calls) has none.
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

// callee returns where the function of the entry at an offset starts, and the
// name of one that is elsewhere.
func (d *Data) callee(o *openUnit, offset uint64) (entry uint64, name string) {
	u := d.unitAt(offset)
	if u == nil {
		return 0, ""
	}
	e, err := d.entryAt(u, offset)
	if err != nil {
		return 0, ""
	}
	if r, err := d.readRoot(u); err == nil {
		found := false
		d.ranges(u, &r, e.pc, func(low, _ uint64) bool {
			entry, found = low, true
			return false
		})
		if found {
			return entry, ""
		}
	}
	// What was inlined elsewhere has its code under an entry that refers to this
	// one; the linker's name leads to what is not in this unit.
	if entry, ok := d.instances(o)[offset]; ok {
		return entry, ""
	}
	if e.declaration || e.external {
		return 0, d.functionName(offset)
	}
	return 0, ""
}

// instances returns the first instructions of the functions with an entry that refers to
// another one, by the offset of the other entry.
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
