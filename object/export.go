// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

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
	// Linkers make less than one bucket a symbol.
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
