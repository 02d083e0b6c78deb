// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import "debug/elf"

// exports is the table by which a dynamic linker finds the symbols that a file defines
// for others (DT_GNU_HASH): by name, without looking at the rest.
type exports struct {
	symbolTable
	buckets []byte // words: the first symbol of each bucket, 0 for none
	chains  []byte // words: the hash of each symbol from first on; its low bit ends a bucket
	first   uint64
}

// openExports returns nil where the file has no such table, or none that can be used.
func (f *File) openExports() *exports {
	addr, ok := f.dynamicAddress(elf.DT_GNU_HASH)
	if !ok {
		return nil
	}
	var e exports
	f.symbolTables(func(t symbolTable, _ error) bool {
		e.symbolTable = t
		return t.source != DynamicSymbols
	})
	head, err := f.view(addr, 16)
	if err != nil || e.source != DynamicSymbols {
		return nil
	}
	word := uint64(4)
	if f.class == elf.ELFCLASS64 {
		word = 8
	}
	buckets, bloom := uint64(f.order.Uint32(head)), uint64(f.order.Uint32(head[8:]))
	e.first = uint64(f.order.Uint32(head[4:]))
	count := uint64(len(e.entries) / f.symbolSize())
	if buckets == 0 || buckets > 2*count+64 || e.first >= count { // linkers make less than one a symbol
		return nil
	}
	addr += 16 + bloom*word
	if e.buckets, err = f.view(addr, 4*buckets); err != nil {
		return nil
	}
	if e.chains, err = f.view(addr+4*buckets, 4*(count-e.first)); err != nil {
		return nil
	}
	return &e
}

// exported finds a symbol that the file defines for others.
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
	if fault != nil { // the tables themselves may be there
		return Symbol{}, false
	}
	return symbol, ok
}

// hashed finds a symbol by the hash of its name.
func (f *File) hashed(e *exports, name string) (symbol Symbol, ok bool) {
	hash := gnuHash(name)
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

// gnuHash is the hash function of DT_GNU_HASH.
func gnuHash(name string) uint32 {
	h := uint32(5381)
	for i := range len(name) {
		h = h*33 + uint32(name[i])
	}
	return h
}
