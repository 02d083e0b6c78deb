// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"fmt"
	"iter"
)

// dynamicTable returns the dynamic section: by PT_DYNAMIC, else by its type.
func (f *File) dynamicTable() ([]byte, error) {
	if p, ok := f.segmentOf(elf.PT_DYNAMIC); ok && p.Filesz > 0 {
		if f.memory != nil {
			return f.view(p.Vaddr, min(p.Memsz, 64<<10))
		}
		if p.Off <= uint64(len(f.data)) {
			return f.bytesAt(p.Off, p.Filesz), nil
		}
	}
	for i := range f.sectionCount() {
		if s := f.section(i); s.typ == elf.SHT_DYNAMIC {
			return f.raw(s)
		}
	}
	return nil, nil
}

// dynamicEntries visits the entries of the dynamic section.
func (f *File) dynamicEntries() iter.Seq2[elf.DynTag, uint64] {
	return func(yield func(elf.DynTag, uint64) bool) {
		table, _ := f.dynamicTable()
		word := f.wordSize()
		for ; len(table) >= 2*word; table = table[2*word:] {
			tag := elf.DynTag(getUint(table, f.order, word))
			if tag == elf.DT_NULL || !yield(tag, getUint(table[word:], f.order, word)) {
				return
			}
		}
	}
}

// dynamic returns the value of the first entry with a tag.
func (f *File) dynamic(tag elf.DynTag) (value uint64, ok bool) {
	for t, value := range f.dynamicEntries() {
		if t == tag {
			return value, true
		}
	}
	return 0, false
}

// dynamicAddress is dynamic for an entry that holds an address. The dynamic
// linker relocates most of these in memory, but not on every machine and not in the
// vDSO: see withoutBias.
func (f *File) dynamicAddress(tag elf.DynTag) (addr uint64, ok bool) {
	addr, ok = f.dynamic(tag)
	return f.withoutBias(addr), ok
}

// withoutBias subtracts the bias from an address that was read from memory, if the
// dynamic linker has added it: if the address is in a segment only without the bias.
func (f *File) withoutBias(addr uint64) uint64 {
	if f.memory == nil || f.bias == 0 {
		return addr
	}
	if _, as := f.segmentAt(addr - f.bias); as {
		if _, is := f.segmentAt(addr); !is {
			return addr - f.bias
		}
	}
	return addr
}

// dynamicSymbols finds the dynamic symbol table without section headers. Only the hash
// tables show its length.
func (f *File) dynamicSymbols() (t symbolTable, err error) {
	symbols, ok := f.dynamicAddress(elf.DT_SYMTAB)
	if !ok {
		_, err := f.dynamicTable()
		return t, err
	}
	names, ok := f.dynamicAddress(elf.DT_STRTAB)
	if !ok {
		return t, nil
	}
	count, err := f.dynamicSymbolCount()
	if err != nil {
		return t, err
	}
	t.entries, err = f.view(symbols, count*uint64(f.symbolSize()))
	if err != nil {
		return t, fmt.Errorf("dynamic symbol table: %w", err)
	}
	size, _ := f.dynamic(elf.DT_STRSZ)
	t.names, err = f.view(names, size)
	if err != nil {
		return t, fmt.Errorf("dynamic string table: %w", err)
	}
	if versions, ok := f.dynamicAddress(elf.DT_VERSYM); ok {
		if t.versions, err = f.view(versions, 2*count); err != nil {
			f.note(fmt.Errorf("versions of the dynamic symbols: %w", err)) // few callers need them
		}
	}
	t.source = DynamicSymbols
	return t, nil
}

func (f *File) dynamicSymbolCount() (uint64, error) {
	if addr, ok := f.dynamicAddress(elf.DT_HASH); ok {
		word := 4
		if f.arch.LongHash {
			word = 8
		}
		head, err := f.view(addr, uint64(2*word))
		if err != nil {
			return 0, fmt.Errorf("DT_HASH: %w", err)
		}
		return getUint(head[word:], f.order, word), nil
	}
	hash, ok, err := f.gnuHash()
	if !ok || err != nil {
		return 0, err
	}
	table, err := f.view(hash.at, 4*hash.buckets)
	if err != nil {
		return 0, fmt.Errorf("DT_GNU_HASH: %w", err)
	}
	last := uint64(0)
	for ; len(table) >= 4; table = table[4:] {
		last = max(last, uint64(f.order.Uint32(table)))
	}
	if last < hash.first {
		return hash.first, nil
	}
	// The chain of the last bucket ends at a value with the low bit set.
	chain := hash.at + 4*hash.buckets + 4*(last-hash.first)
	for window := uint64(1 << 10); ; window *= 4 {
		values, err := f.view(chain, window)
		for i := 0; i+4 <= len(values); i += 4 {
			if f.order.Uint32(values[i:])&1 != 0 {
				return last + uint64(i)/4 + 1, nil
			}
		}
		if err != nil {
			return 0, fmt.Errorf("DT_GNU_HASH: chain of symbol %d: %w", last, err)
		}
	}
}

// gnuHash is the header of DT_GNU_HASH: the address and the number of the buckets, which the
// chains follow, and the first symbol with a chain.
type gnuHash struct{ at, buckets, first uint64 }

// gnuHash reads DT_GNU_HASH; ok is false if there is none.
func (f *File) gnuHash() (h gnuHash, ok bool, err error) {
	addr, ok := f.dynamicAddress(elf.DT_GNU_HASH)
	if !ok {
		return h, false, nil
	}
	head, err := f.view(addr, 16)
	if err != nil {
		return h, false, fmt.Errorf("DT_GNU_HASH: %w", err)
	}
	filter := uint64(f.order.Uint32(head[8:])) * uint64(f.wordSize())
	return gnuHash{at: addr + 16 + filter, buckets: uint64(f.order.Uint32(head)), first: uint64(f.order.Uint32(head[4:]))}, true, nil
}

// exports is the hash table in which a dynamic linker looks up the exported symbols of a
// file (DT_GNU_HASH).
type exports struct {
	symbolTable
	buckets []byte // words: the first symbol of each bucket, 0 for none
	chains  []byte // words: the hash of each symbol from first on; its low bit ends a bucket
	first   uint64
}

// openExports returns nil if the file has no usable table.
func (f *File) openExports() *exports {
	hash, ok, err := f.gnuHash()
	if !ok || err != nil {
		return nil
	}
	e := exports{first: hash.first}
	f.symbolTables(func(t symbolTable, _ error) bool {
		e.symbolTable = t
		return t.source != DynamicSymbols
	})
	count := uint64(len(e.entries) / f.symbolSize())
	// Linkers make fewer buckets than symbols.
	if e.source != DynamicSymbols || hash.buckets == 0 || hash.buckets > 2*count+64 || e.first >= count {
		return nil
	}
	if e.buckets, err = f.view(hash.at, 4*hash.buckets); err != nil {
		return nil
	}
	if e.chains, err = f.view(hash.at+4*hash.buckets, 4*(count-e.first)); err != nil {
		return nil
	}
	return &e
}

// exported finds an exported symbol by its name.
func (f *File) exported(name string) (symbol Symbol, ok bool) {
	fault := Guard(func() error {
		if e := f.exports(); e != nil {
			symbol, ok = f.hashed(e, name)
			return nil
		}
		f.symbolTables(func(t symbolTable, _ error) bool {
			if t.source == DynamicSymbols {
				symbol, ok = f.bestNamed(t, name)
			}
			return !ok
		})
		return nil
	})
	if fault != nil { // Symbol searches the tables then
		return Symbol{}, false
	}
	return symbol, ok
}

// hashed finds a symbol by the hash of its name.
func (f *File) hashed(e *exports, name string) (symbol Symbol, ok bool) {
	hash := hashOf(name)
	i := uint64(f.order.Uint32(e.buckets[4*(uint64(hash)%uint64(len(e.buckets)/4)):]))
	if i < e.first {
		return symbol, false
	}
	size, info := f.symbolSize(), f.symbolInfo()
	best := -1
	for ; 4*(i-e.first)+4 <= uint64(len(e.chains)); i++ {
		word := f.order.Uint32(e.chains[4*(i-e.first):])
		entry := e.entries[i*uint64(size):]
		var s rawSymbol
		if word|1 == hash|1 && (code|object)>>(entry[info]&0xf)&1 != 0 &&
			hasName(e.names, uint64(f.order.Uint32(entry)), name) && f.defined(e.symbolTable, int(i), entry, &s) {
			if r := rank(&s); r > best {
				best, symbol, ok = r, e.symbol(&s), true
			}
		}
		if word&1 != 0 {
			break
		}
	}
	return symbol, ok
}

// hashOf is the hash function of DT_GNU_HASH.
func hashOf(name string) uint32 {
	h := uint32(5381)
	for i := range len(name) {
		h = h*33 + uint32(name[i])
	}
	return h
}
