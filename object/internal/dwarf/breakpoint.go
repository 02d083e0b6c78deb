// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/clewdev/clew/internal/dw"
)

// Prologues finds the ends of prologues by instructions and symbols.
type Prologues struct {
	// Frame returns the address after the instructions at start that set up a frame
	// pointer, or start if they do not.
	Frame func(start uint64) uint64

	// ByLines reports that gdb prefers lines to instructions on the machine, whatever the
	// compiler.
	ByLines bool

	// Symbol returns the extent of the symbol that covers an address.
	Symbol func(addr uint64) (low, high uint64, ok bool)
}

// LineRange returns the row of the line table at addr; false if there is none.
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

// AfterPrologue returns the address of a breakpoint for the function that starts at addr,
// or for the inlined call there.
func (d *Data) AfterPrologue(addr uint64, p *Prologues) (uint64, error) {
	o, err := d.codeAt(addr)
	if _, of := d.lineRange(o, addr); of != nil && (d.locationsValid(o) || isAssembly(o, of.path)) {
		return addr, err
	}
	return d.skipPrologue(addr, p), err
}

// StepTarget returns the address at which a step into the function at entry ends.
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

// skipPrologue returns the end of the prologue that contains addr, else addr.
//
// gdb takes the row that is marked as the end of the prologue. Without one it takes the
// end of the row with the last instruction that sets up the frame pointer, because
// compilers write a separate row for the prologue.
func (d *Data) skipPrologue(addr uint64, p *Prologues) uint64 {
	o, _ := d.codeAt(addr)
	var function *functionRange
	if o != nil {
		function = o.functions.find(addr)
	}
	var entry, high uint64
	if function != nil {
		entry, high = o.functions.entry(function), o.functions.end(function)
		if end := d.markedEnd(o, entry); end != 0 {
			return max(addr, end)
		}
		if _, of := d.lineRange(o, addr); d.locationsValid(o) && !(of != nil && isAssembly(o, of.path)) {
			return max(addr, entry)
		}
	} else {
		var ok bool
		if entry, high, ok = p.Symbol(addr); !ok {
			return addr
		}
	}
	pc := d.machinePrologue(entry, p)
	if at, of := d.lineRange(o, pc); of != nil && at.Start != pc && at.End >= entry && at.End < high {
		pc = at.End
	}
	return max(addr, pc)
}

// markedEnd returns the address of the row that is marked as the end of a function's
// prologue, 0 if there is none.
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

// end returns the highest end of the parts of a function.
func (t *functionTable) end(r *functionRange) uint64 {
	high := r.high
	for _, i := range t.parts[r.function] {
		high = max(high, t.ranges[i].high)
	}
	return high
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

// first returns the index of the first row of s at addr, or of the next row.
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
// inlined call and block. If the line has no code, the nearest later line with code counts.
// A file matches if its path ends in the path components of file.
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

// CodeLine returns the line that LineAddresses uses for a line: that, or the nearest later one with
// code. It returns 0 if that line has no row at an address.
func (d *Data) CodeLine(file string, line uint32, address uint64) (uint32, error) {
	defer d.allow()()
	var found []lineAddress
	later, problem := d.collect(file, line, &found)
	if len(found) == 0 && later != 0 {
		line = later
		_, problem = d.collect(file, later, &found)
	}
	if slices.ContainsFunc(found, func(a lineAddress) bool { return a.address == address }) {
		return line, problem
	}
	return 0, problem
}

type lineAddress struct {
	*openUnit
	address uint64
}

// collect appends the addresses of a line in all files that match. later is the nearest
// later line with addresses, 0 if there is none.
func (d *Data) collect(file string, line uint32, found *[]lineAddress) (later uint32, problem error) {
	var addrs []uint64
	for _, u := range d.unitsOf(d.sources[0]) {
		o := d.openUnit(u)
		problem = cmp.Or(problem, o.err)
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

// producer returns the unit's DW_AT_producer.
func (d *Data) producer(o *openUnit) string {
	return string(d.text(o.code, &o.codeRoot, o.codeRoot.producer))
}

// isLLVM reports whether gdb recognises a producer as LLVM. It does not recognise the
// clang of distributions that put their own name first; but clang marks prologues' ends.
func isLLVM(producer string) bool {
	return strings.HasPrefix(producer, "clang ") || strings.HasPrefix(producer, " F90 Flang ")
}

// locationsValid reports whether the locations of variables are valid in prologues too,
// so that prologues need not be skipped: with location lists of gcc 4.5 or later.
func (d *Data) locationsValid(o *openUnit) bool {
	if o == nil || !o.functions.lists {
		return false
	}
	version, ok := strings.CutPrefix(d.producer(o), "GNU ")
	if !ok {
		return false
	}
	// "GNU C17 12.2.0 -O2", "GNU AS 2.40"
	for word := range strings.FieldsSeq(version) {
		if word[0] < '0' || word[0] > '9' {
			continue
		}
		first, rest, _ := strings.Cut(word, ".")
		major := decimal(first)
		return major > 4 || major == 4 && decimal(rest) >= 5
	}
	return false
}

// decimal returns the number at the start of a text.
func decimal(text string) (n int) {
	for i := 0; i < len(text) && i < 6 && text[i] >= '0' && text[i] <= '9'; i++ {
		n = 10*n + int(text[i]-'0')
	}
	return n
}

// isAssembly reports whether a file is in assembly language: its line table has a row for
// each instruction.
func isAssembly(o *openUnit, file string) bool {
	switch path.Ext(file) {
	case ".s", ".S", ".sx":
		return true
	}
	return o.codeRoot.language == dw.LangMipsAssembler || o.codeRoot.language == dw.LangAssembly
}
