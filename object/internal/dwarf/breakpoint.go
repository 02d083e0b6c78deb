// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"path"
	"slices"
	"strings"
)

// Prologues finds the end of prologues by their instructions.
type Prologues struct {
	// Frame returns the address after the instructions at start that set up a frame
	// pointer, or start if they do not.
	Frame func(start uint64) uint64

	// ByLines says that lines take precedence over instructions with any compiler, as in
	// gdb for the machine.
	ByLines bool

	// Symbol returns the extent of the symbol that covers an address.
	Symbol func(addr uint64) (low, high uint64, ok bool)
}

// LineRange returns the row of the line table that addr is in, and false where
// there is none.
func (d *Data) LineRange(addr uint64) (LineRange, bool, error) {
	o, err := d.codeAt(addr)
	r, of := d.lineRange(o, addr)
	return r, of != nil, err
}

func (d *Data) lineRange(o *openUnit, addr uint64) (LineRange, *sourceFile) {
	if o == nil {
		return LineRange{}, nil
	}
	return o.lines.lineRange(d.sourceFiles(o), addr, o.high)
}

// AfterPrologue returns where a breakpoint is set for the function that starts
// at addr, or for the call inlined there.
func (d *Data) AfterPrologue(addr uint64, p *Prologues) (uint64, error) {
	o, err := d.codeAt(addr)
	if _, of := d.lineRange(o, addr); of != nil && (d.locationsValid(o) || isAssembly(o, of.path)) {
		return addr, err
	}
	return d.skipPrologue(addr, p), err
}

// StepTarget returns where a step into the function that starts at entry ends.
func (d *Data) StepTarget(entry uint64, p *Prologues) (uint64, error) {
	o, err := d.codeAt(entry)
	if o == nil {
		return entry, err
	}
	pc := entry
	if !isAssembly(o, "") {
		pc = d.machinePrologue(entry, p)
	}
	if function := o.functions.find(entry); function != nil {
		if at, of := d.lineRange(o, pc); of != nil && at.Start != pc && at.End < function.high {
			pc = at.End
		}
	}
	return pc, err
}

// skipPrologue returns the end of the prologue that addr is in, else addr.
//
// gdb takes the row that is marked as the end of the prologue. Without one it
// trusts the instructions of a frame pointer, then goes on to the end of the row
// that they end in: compilers give the prologue a row of its own.
func (d *Data) skipPrologue(addr uint64, p *Prologues) uint64 {
	o, _ := d.codeAt(addr)
	var entry, high uint64
	ok := false
	if o != nil {
		if function := o.functions.find(addr); function != nil {
			entry, ok = o.functions.entry(function), true
			_, high = o.functions.bounds(function)
		}
	}
	named := ok
	if !ok {
		if entry, high, ok = p.Symbol(addr); !ok {
			return addr
		}
	}
	if named {
		if end := d.markedEnd(o, entry); end != 0 {
			return max(addr, end)
		}
	}
	at, of := d.lineRange(o, addr)
	if named && d.locationsValid(o) && !(of != nil && isAssembly(o, of.path)) {
		return max(addr, entry)
	}
	pc := d.machinePrologue(entry, p)
	if at, of = d.lineRange(o, pc); of != nil && at.Start != pc && at.End >= entry && at.End < high {
		pc = at.End
	}
	return max(addr, pc)
}

// markedEnd returns the row of a function that is marked as the end of its
// prologue, 0 where there is none.
func (d *Data) markedEnd(o *openUnit, entry uint64) uint64 {
	function := o.functions.find(entry)
	_, of := d.lineRange(o, entry)
	if function == nil || of == nil || isAssembly(o, of.path) {
		return 0
	}
	t := &o.lines
	for k := t.first(of, function.low); k < len(of.entries); k++ {
		at := t.address(of, k)
		if at >= function.high {
			break
		}
		if e := of.entries[k]; e >= 0 && t.rows[e].has(prologueEnd) {
			return at
		}
	}
	return 0
}

// bounds returns the first and the last address of all parts of a function.
func (t *functionTable) bounds(r *functionRange) (low, high uint64) {
	low, high = r.low, r.high
	for _, i := range t.parts[r.function] {
		low, high = min(low, t.ranges[i].low), max(high, t.ranges[i].high)
	}
	return low, high
}

// machinePrologue returns the end of the prologue of the function at entry, by the
// machine's conventions.
func (d *Data) machinePrologue(entry uint64, p *Prologues) uint64 {
	o, _ := d.codeAt(entry)
	byLines := d.prologueByLines(o, entry, p)
	if byLines != 0 && (p.ByLines || o != nil && isLLVM(d.producer(o))) {
		return max(entry, byLines)
	}
	return p.Frame(entry)
}

// prologueByLines returns the start of the second row of a function, or of a later one
// while lines decrease: code that the optimizer moved into the prologue. It returns 0 if
// the rows do not show it.
func (d *Data) prologueByLines(o *openUnit, entry uint64, p *Prologues) uint64 {
	if o == nil {
		return 0
	}
	start, end := uint64(0), uint64(0)
	if function := o.functions.find(entry); function != nil {
		start, end = function.low, function.high
	} else if low, high, ok := p.Symbol(entry); ok {
		start, end = low, high
	}
	files := d.sourceFiles(o)
	row, of := o.lines.lineRange(files, start, o.high)
	if of == nil {
		return 0
	}
	if !isAssembly(o, of.path) {
		// Two rows at the first instruction: there is no prologue.
		if k := o.lines.first(of, row.Start); k+1 < len(of.entries) && of.entries[k+1] >= 0 && o.lines.address(of, k+1) == start {
			return start
		}
	}
	if row.End >= end {
		return 0
	}
	for row.End < end {
		next, in := o.lines.lineRange(files, row.End, o.high)
		if in == nil || next.Line >= row.Line || in != of || next.End <= row.End {
			break
		}
		if _, chain := d.inlinedAt(o, o.functions.find(row.End), row.End); len(chain) > 0 {
			break
		}
		row = next
	}
	if row.End < end {
		return row.End
	}
	return row.Start
}

// first returns the first entry of s at addr that is a row.
func (t *lineTable) first(s *sourceFile, addr uint64) int {
	k := t.after(s, addr)
	for k > 0 && t.address(s, k-1) == addr {
		k--
	}
	for k < len(s.entries) && s.entries[k] < 0 {
		k++
	}
	return k
}

// LineAddresses returns the addresses of a breakpoint for a line: one in each function,
// inlined call and block. If the line has no code, it is the nearest later line with
// code. All files match that have the path components of file at the end of their path.
func (d *Data) LineAddresses(file string, line uint32, p *Prologues) ([]uint64, error) {
	defer d.allow()()
	var found []lineAddress
	later, problem := d.collect(file, line, &found)
	if len(found) == 0 && later != 0 {
		_, problem = d.collect(file, later, &found)
	}
	var addrs []uint64
	known := make(map[uint64]bool)
	for _, at := range found {
		block, ok, err := d.blockAt(at.openUnit, at.address)
		if err != nil {
			return addrs, err
		}
		if ok && known[block] {
			continue
		}
		known[block] = ok
		addrs = append(addrs, d.skipPrologue(at.address, p))
	}
	slices.Sort(addrs)
	return slices.Compact(addrs), problem
}

type lineAddress struct {
	*openUnit
	address uint64
}

func (d *Data) collect(file string, line uint32, found *[]lineAddress) (later uint32, problem error) {
	var addrs []uint64
	for _, u := range d.unitsOf(d.sources[0]) {
		o := d.openUnit(u)
		if o.err != nil && problem == nil {
			problem = o.err
		}
		for _, s := range d.sourceFiles(o) {
			if !hasPath(s.path, file) {
				continue
			}
			var next uint32
			addrs, next = o.lines.lineAddresses(s, line, addrs[:0])
			for _, a := range addrs {
				*found = append(*found, lineAddress{o, a})
			}
			if len(addrs) == 0 && next != 0 && (later == 0 || next < later) {
				later = next
			}
		}
	}
	return later, problem
}

// hasPath reports whether the last components of a path are those of file.
func hasPath(full, file string) bool {
	file = path.Clean(file)
	if !strings.HasSuffix(full, file) {
		return false
	}
	n := len(full) - len(file)
	return n == 0 || full[n-1] == '/' && !path.IsAbs(file)
}
