// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
)

// query is an address to name, with the best symbols found so far.
type query struct {
	addr  uint64
	index int // in the caller's slice
	done  bool

	cover    candidate // with a size, and the address within it
	preceder candidate // the nearest start at or before the address and after the previous query's
}

type candidate struct {
	table  int // 1 + index of the table, 0 for none
	name   uint32
	info   byte
	value  uint64
	size   uint64
	limit  uint64 // where the symbol's section ends
	isCode bool
}

// named is one table that was searched.
type named struct {
	file *File
	symbolTable
}

// maxNames bounds the bytes of all names of one FindSymbols.
const maxNames = 64 << 20

// FindSymbols names addresses: the result has one Symbol for each, with an empty Name if
// none covers it. One call with many addresses is far cheaper than many calls, since it
// scans each table once and keeps nothing.
//
// A symbol covers the addresses within its size. If several cover an address, the one
// that starts last is chosen, then functions before other code, global before weak before
// local, few leading underscores, the first in the table. A symbol without a size (in
// assembly code) covers the addresses up to the next symbol or the end of its section,
// unless a later source has a symbol with a size. Sources are searched in the order of
// [SymbolSource]. The error joins the errors of all of them.
func (f *File) FindSymbols(addrs []uint64) ([]Symbol, error) {
	symbols := make([]Symbol, len(addrs))
	if len(addrs) == 0 {
		return symbols, nil
	}
	queries := make([]query, len(addrs))
	for i, a := range addrs {
		queries[i] = query{addr: a, index: i}
	}
	slices.SortFunc(queries, func(a, b query) int { return cmp.Or(cmp.Compare(a.addr, b.addr), a.index-b.index) })
	finder := finder{File: f, queries: queries, symbols: symbols, starts: newStarts(queries), names: maxNames}
	fault := Guard(func() error {
		finder.search()
		if gccgo, gnat := f.compilers(); gccgo || gnat {
			for i := range symbols {
				symbols[i].Gccgo, symbols[i].GNAT = gccgo, gnat
			}
		}
		return nil
	})
	if err := errors.Join(finder.problems.err(), fault); err != nil {
		return symbols, fmt.Errorf("%s: symbols: %w", f.name, err)
	}
	return symbols, nil
}

type finder struct {
	*File
	queries  []query
	symbols  []Symbol
	tables   []named
	problems problems
	starts   starts
	names    int // bytes that names may still take
	work     int
}

func (s *finder) search() {
	open := len(s.queries)
	s.File.tables(func(in *File, t symbolTable, err error) bool {
		s.problems.add(err)
		if len(t.entries) == 0 {
			return true
		}
		s.tables = append(s.tables, named{in, t})
		open -= s.pass()
		return open > 0
	})
	if open > 0 {
		open -= s.findGo()
	}
	if open > 0 {
		s.findStubs()
	}
	s.settle()
}

// pass searches the last table for the queries that are not done, and returns how many are
// done then.
func (s *finder) pass() (done int) {
	table := len(s.tables)
	in, t := s.tables[table-1].file, s.tables[table-1].symbolTable
	q := s.queries
	highest := q[len(q)-1].addr
	// The work would be the product if all symbols covered all addresses.
	s.work = 64<<20 + 64*len(t.entries)/in.symbolSize()
	var span codeSpan
	// Most symbols neither cover an address nor are the nearest one before it.
	near := func(value, size uint64) bool {
		if value > highest {
			return false
		}
		next := &q[s.starts.search(value)]
		return next.addr-value < size || next.preceder.table != table || value >= next.preceder.value
	}
	in.scanNear(t, code, near, func(sym *rawSymbol) bool {
		end := sym.value + sym.size
		if sym.value > highest || end < sym.value || !span.holds(in, sym) {
			return true
		}
		c := candidate{
			table: table, name: sym.name, info: sym.info, value: sym.value, size: sym.size,
			limit: span.end, isCode: isFunction(sym),
		}
		i := s.starts.search(sym.value)
		if p := &q[i].preceder; p.table != table || c.value > p.value || c.value == p.value && s.better(&c, p) {
			*p = c
		}
		for ; i < len(q) && q[i].addr < end; i++ {
			if s.work--; s.work < 0 {
				return false
			}
			if p := &q[i].cover; !q[i].done && (p.table == 0 || c.value > p.value || c.value == p.value && s.better(&c, p)) {
				*p = c
			}
		}
		return true
	})
	if s.work < 0 {
		s.problems.add(fmt.Errorf("too many symbols overlap"))
	}
	// A symbol that precedes one query precedes the next ones, too.
	var last candidate
	for i := range q {
		p := &q[i].preceder
		if p.table == table && p.value >= last.value {
			last = *p
		}
		if q[i].done {
			continue
		}
		if q[i].cover.table != 0 {
			q[i].done = true
			done++
			continue
		}
		// The first table with a symbol without size that fits has precedence.
		fits := last.table == table && last.size == 0 && q[i].addr < last.limit
		if symbol := &s.symbols[q[i].index]; fits && symbol.Source == NoSymbols {
			*symbol = s.symbol(&last)
		}
	}
	return done
}

// settle writes the covering symbols into the result.
func (s *finder) settle() {
	var last candidate
	var lastSymbol Symbol
	for i := range s.queries {
		c := &s.queries[i].cover
		if c.table == 0 {
			continue
		}
		if *c != last {
			last, lastSymbol = *c, s.symbol(c)
		}
		s.symbols[s.queries[i].index] = lastSymbol
	}
}

func (s *finder) symbol(c *candidate) Symbol {
	t := &s.tables[c.table-1]
	name := cString(t.names, uint64(c.name))
	if s.names -= len(name); s.names < 0 {
		s.problems.add(fmt.Errorf("the names take more than %d bytes", maxNames))
		name = nil
	}
	return Symbol{
		Name: string(name), Address: c.value, Size: c.size,
		Type: elf.ST_TYPE(c.info), Binding: elf.ST_BIND(c.info), Source: t.source,
	}
}

// better reports whether a is preferred to b, which starts at the same address.
func (s *finder) better(a, b *candidate) bool {
	if b.table != a.table {
		return false
	}
	if (a.size > 0) != (b.size > 0) {
		return a.size > 0
	}
	if ra, rb := rankOf(a.info), rankOf(b.info); ra != rb {
		return ra > rb
	}
	names := s.tables[a.table-1].names
	return underscores(names, a.name) < underscores(names, b.name)
}

// rank orders the symbols with one name: default versions first, then by rankOf.
func rank(s *rawSymbol) int {
	if s.hidden {
		return rankOf(s.info)
	}
	return 8 + rankOf(s.info)
}

// rankOf orders the symbols at one address: functions first, then by binding.
func rankOf(info byte) (r int) {
	switch elf.ST_TYPE(info) {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		r = 4
	}
	switch elf.ST_BIND(info) {
	case elf.STB_GLOBAL:
		r += 2
	case elf.STB_WEAK:
		r++
	}
	return r
}

func underscores(names []byte, name uint32) int {
	b := names[min(uint64(name), uint64(len(names))):]
	return len(b) - len(bytes.TrimLeft(b[:min(len(b), 8)], "_")) - max(0, len(b)-8)
}

// codeSpan holds the section of the last symbol, because neighbours in a table mostly share
// it.
type codeSpan struct {
	shndx elf.SectionIndex
	known bool
	ok    bool
	start uint64
	end   uint64
}

// holds reports whether a symbol is in code, and sets the end of its section or segment.
func (c *codeSpan) holds(f *File, s *rawSymbol) bool {
	if s.shndx != elf.SHN_ABS && uint64(s.shndx) < f.shnum {
		if !c.known || c.shndx != s.shndx {
			h := f.section(int(s.shndx))
			*c = codeSpan{s.shndx, true, h.flags&elf.SHF_EXECINSTR != 0, h.addr, h.addr + h.size}
		}
		return c.ok && s.value >= c.start
	}
	c.known = false
	p, ok := f.segmentAt(s.value)
	switch {
	case !ok:
		// A registered file of a JIT may hold addresses outside of itself.
		c.end = s.value + s.size
		return isFunction(s) && s.size > 0
	case p.Flags&elf.PF_X == 0:
		return false
	}
	c.end = p.Vaddr + p.Memsz
	return true
}

// starts finds the first query at or after an address, for every symbol: by buckets of
// equal width, then by binary search.
type starts struct {
	addrs   []uint64
	buckets []int32 // index of the first address in the bucket or after it; one more at the end
	shift   uint
}

func newStarts(queries []query) (s starts) {
	s.addrs = make([]uint64, len(queries))
	for i := range queries {
		s.addrs[i] = queries[i].addr
	}
	span := s.addrs[len(s.addrs)-1] - s.addrs[0]
	for span>>s.shift >= 4*uint64(len(s.addrs)) {
		s.shift++
	}
	s.buckets = make([]int32, span>>s.shift+2)
	k := 0
	for i, a := range s.addrs {
		for b := int((a - s.addrs[0]) >> s.shift); k <= b; k++ {
			s.buckets[k] = int32(i)
		}
	}
	for ; k < len(s.buckets); k++ {
		s.buckets[k] = int32(len(s.addrs))
	}
	return s
}

// search returns the number of queries before addr. addr must not be after the last query.
func (s *starts) search(addr uint64) int {
	if addr <= s.addrs[0] {
		return 0
	}
	b := (addr - s.addrs[0]) >> s.shift
	lo, hi := int(s.buckets[b]), int(s.buckets[b+1])
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); s.addrs[mid] < addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// isGccgo reports whether gccgo compiled code of the file: it has a section with exports of
// Go packages, or it is gccgo's library or was linked with that.
func (f *File) isGccgo() bool {
	_, ok := f.find(".go_export")
	return ok || f.isWith("libgo.so.")
}

// isGNAT reports whether GNAT compiled Ada code of the file: it is a library of GNAT's
// run-time system or was linked with one.
func (f *File) isGNAT() bool { return f.isWith("libgnat-") || f.isWith("libgnarl-") }

// isWith reports whether the file is a library whose name has a prefix, or was linked with
// one.
func (f *File) isWith(library string) bool {
	names, ok := f.dynamicAddress(elf.DT_STRTAB)
	if !ok {
		return false
	}
	for tag, value := range f.dynamicEntries() {
		if tag != elf.DT_NEEDED && tag != elf.DT_SONAME {
			continue
		}
		if name, err := f.view(names+value, uint64(len(library))); err == nil && bytes.Equal(name, []byte(library)) {
			return true
		}
	}
	return false
}
