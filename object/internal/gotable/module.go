// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package gotable

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/clewdev/clew/cfi"
)

// Module is an entry of the list of modules in the memory of a running program. All
// addresses are those of the program. The tables of the module are read when they are
// first needed. Its methods may be called concurrently if those of the memory may.
type Module struct {
	Address    uint64 // of the moduledata
	Start, End uint64 // its code, from the first function to the end of the last: [Start, End)

	words [headWords]uint64
	read  func() (*Table, error)
}

// The words of a moduledata since Go 1.16: a pointer to the table, five slices of its
// parts, one of its functions, then single addresses. Go 1.20 inserted two words before
// gofunc, and Go 1.27 three lengths and offsets, the first of them in the place of
// etypes. The word that leads to the next module is word 65 in Go 1.16, 73 in Go 1.26.
const (
	wordNames     = 1
	wordUnits     = 4
	wordFiles     = 7
	wordSteps     = 10
	wordRecords   = 13
	wordFunctions = 16
	wordBuckets   = 19 // findfunctab
	wordFirst     = 20 // minpc: the first function
	wordEnd       = 21 // maxpc
	wordText      = 22
	headWords     = wordText + 1

	wordTypes    = 37 // since Go 1.20
	wordTypesEnd = 38 // etypes; since Go 1.27 typedesclen, a length

	wordData118 = 38 // gofunc
	wordData120 = 40
	wordData127 = 43

	wordNextFirst = wordData118 + 1
	wordNextLast  = 96
)

// ModuleWords is the number of words that [Table.Code] needs of a moduledata.
const ModuleWords = wordData127 + 1

// Code is the part of a moduledata that its table lacks: addresses.
type Code struct {
	First uint64 // the first function
	Text  uint64 // runtime.text: base of function offsets
	Data  uint64 // go:func.*: base of the offsets of function data; 0 if unknown
}

// Code reads the words of a moduledata; false if they are not those of the module that
// has this table, which is at an address.
func (t *Table) Code(words *[ModuleWords]uint64, address uint64) (c Code, ok bool) {
	if words[0] != address || words[wordNames] != address+t.namesAt {
		return c, false
	}
	c = Code{First: words[wordFirst], Text: words[wordFirst] - t.first, Data: words[wordData118]}
	if t.magic == magic120 {
		c.Data = words[wordData120]
		if words[wordTypesEnd] < words[wordTypes] {
			c.Data = words[wordData127]
		}
	}
	return c, true
}

// Bounds of a list of modules, which another program wrote and may be hostile.
const (
	maxLoadedModules = 1 << 16
	maxLoadedTables  = 64 << 20 // bytes of tables
)

// Budget bounds the modules that are read of one target: 65,536, with 64 MiB of tables, of which
// those that modules share count once.
// The zero value is a whole budget. It may be used concurrently.
type Budget struct {
	mu      sync.Mutex
	modules int
	tables  uint64 // bytes
}

// take takes the bytes of a table of length elements, and returns how many are left if
// these are too few.
func (b *Budget) take(length, size uint64) (left uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left = maxLoadedTables - b.tables
	if ok = length <= left/size; ok {
		b.tables += length * size
	}
	return left, ok
}

// takeModule takes a module, and reports whether one was left.
func (b *Budget) takeModule() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.modules == maxLoadedModules {
		return false
	}
	b.modules++
	return true
}

// ErrModule is wrapped by errors of modules that contradict themselves.
var ErrModule = errors.New("invalid Go module")

// HasModules reports whether the moduledata of the program has the words that
// [Table.Modules] reads, which Go 1.16 introduced.
func (t *Table) HasModules() bool { return t.magic != magic12 }

// Modules returns the modules after the first one, in the order of the list. The first one
// has the table t, and its moduledata is at an address of the memory. With an error come the
// modules before it.
func (t *Table) Modules(memory cfi.Memory, first uint64, budget *Budget) ([]*Module, error) {
	r := moduleReader{memory: memory, like: t, budget: budget}
	return r.list(first)
}

// moduleReader reads a list of modules.
type moduleReader struct {
	memory cfi.Memory
	like   *Table // of the program: magic, order, size of a pointer
	budget *Budget

	mu     sync.Mutex
	slices map[sliceOf][]byte // read before, for modules that share them
}

// sliceOf is a slice in memory.
type sliceOf struct{ address, length, size uint64 }

func (r *moduleReader) list(first uint64) (list []*Module, err error) {
	next, at, ok := r.findNext(first)
	if !ok {
		return nil, nil
	}
	seen := map[uint64]struct{}{first: {}}
	for n := 1; at != 0; n++ {
		if _, ok := seen[at]; ok {
			return list, fmt.Errorf("module %d at %#x: %w: the list leads back to it", n, at, ErrModule)
		}
		if !r.budget.takeModule() {
			return list, fmt.Errorf("the list of Go's modules was cut after %d", maxLoadedModules)
		}
		seen[at] = struct{}{}
		m, err := r.module(at)
		if err != nil {
			return list, fmt.Errorf("module %d at %#x: %w", n, at, err)
		}
		list = append(list, m)
		var word [1]uint64
		if err := r.words(word[:], at+next); err != nil {
			return list, fmt.Errorf("module %d at %#x: %w", n, at, err)
		}
		at = word[0]
	}
	return list, nil
}

// findNext returns the offset in a moduledata of the address of the next one: the first
// word, from its place in Go 1.18 on, that leads to another module. Without one the
// program has no other module. (The word after the last can be runtime.lastmoduledatap,
// which leads to the same list.)
func (r *moduleReader) findNext(first uint64) (offset, next uint64, ok bool) {
	size := uint64(r.like.word)
	for i := uint64(wordNextFirst); i < wordNextLast; i++ {
		var word [1]uint64
		if r.words(word[:], first+i*size) != nil {
			return 0, 0, false
		}
		if word[0] == 0 || word[0] == first || word[0]%size != 0 {
			continue
		}
		if _, err := r.module(word[0]); err == nil {
			return i * size, word[0], true
		}
	}
	return 0, 0, false
}

// words reads words of the target's memory.
func (r *moduleReader) words(words []uint64, address uint64) error {
	size := r.like.word
	var buffer [8 * headWords]byte
	b := buffer[:len(words)*size]
	if err := r.memory.ReadMemory(b, address); err != nil {
		return err
	}
	for i := range words {
		words[i] = r.like.uint(b[i*size:], size)
	}
	return nil
}

// module reads the head of a module, and makes the checks of the runtime
// (moduledataverify1).
func (r *moduleReader) module(address uint64) (*Module, error) {
	m := &Module{Address: address}
	if err := r.words(m.words[:], address); err != nil {
		return nil, err
	}
	w := &m.words
	var header [8]byte
	if err := r.memory.ReadMemory(header[:], w[0]); err != nil {
		return nil, fmt.Errorf("%w: its header: %w", ErrModule, err)
	}
	magic := r.like.order.Uint32(header[:])
	switch {
	case magic != r.like.magic && magic != magic120 || header[4] != 0 || header[5] != 0 || int(header[7]) != r.like.word:
		return nil, fmt.Errorf("%w: its header is % x, expected one of a table with the magic %#x", ErrModule, header, r.like.magic)
	case w[wordFirst] > w[wordEnd]:
		return nil, fmt.Errorf("%w: its code is [%#x, %#x)", ErrModule, w[wordFirst], w[wordEnd])
	case r.like.text != 0 && w[wordText] > w[wordFirst]:
		return nil, fmt.Errorf("%w: its first function, at %#x, is before its code, at %#x", ErrModule, w[wordFirst], w[wordText])
	}
	m.Start, m.End = w[wordFirst], w[wordEnd]
	if m.Start == m.End { // it has no code
		m.read = func() (*Table, error) {
			return &Table{order: r.like.order, word: r.like.word, quantum: 1, field: 4}, nil
		}
		return m, nil
	}
	if n := w[wordFunctions+1]; n < 2 || n > m.End-m.Start+1 && w[wordBuckets] == 0 {
		return nil, fmt.Errorf("%w: %d functions in %d bytes of code", ErrModule, int64(n)-1, m.End-m.Start)
	}
	m.read = sync.OnceValues(func() (*Table, error) {
		t, err := r.table(m, magic, uint64(header[6]))
		if err != nil {
			err = fmt.Errorf("module at %#x: %w", address, err)
		}
		return t, err
	})
	return m, nil
}

// table reads the tables of a module by the slices in its moduledata. Loaders leave the
// offsets in the header unset.
func (r *moduleReader) table(m *Module, magic uint32, quantum uint64) (*Table, error) {
	t := &Table{order: r.like.order, magic: magic, word: r.like.word, quantum: quantum, field: r.like.word}
	if magic != magic116 {
		t.text, t.field = m.words[wordText], 4
	}
	for _, part := range []struct {
		name string
		to   *[]byte
		word int
		size uint64 // of an element
	}{
		{"names", &t.names, wordNames, 1},
		{"units", &t.units, wordUnits, 4},
		{"files", &t.files, wordFiles, 1},
		{"steps", &t.pcs, wordSteps, 1},
		{"records", &t.data, wordRecords, 1},
		{"functions", &t.funcs, wordFunctions, 2 * uint64(t.field)},
	} {
		b, err := r.slice(m.words[part.word], m.words[part.word+1], part.size)
		if err != nil {
			return nil, fmt.Errorf("its table of %s: %w", part.name, err)
		}
		*part.to = b
	}
	t.count = len(t.funcs)/(2*t.field) - 1
	t.first = t.uint(t.funcs, t.field)
	if t.text+t.first != m.Start && m.words[wordBuckets] != 0 && t.field == 4 {
		if err := r.follow(t, m); err != nil {
			return nil, fmt.Errorf("its table of functions: %w", err)
		}
	}
	return t, nil
}

// The runtime's index of functions (runtime.findfuncbucket).
const (
	bucketCode = 4096
	bucketSize = 20
)

// follow replaces the functions of a table by those of a module. Modules of Clew (jit/goruntime)
// share a table, in which the list of each 4096 bytes of code is elsewhere: the
// runtime reads it from the index in a bucket on, up to an offset that is greater. Addresses
// without a function have a record of another entry.
func (r *moduleReader) follow(t *Table, m *Module) error {
	buckets, err := r.slice(m.words[wordBuckets], (m.End-m.Start+bucketCode-1)/bucketCode, bucketSize)
	if err != nil {
		return err
	}
	all, order := t.funcs, r.like.order
	left := len(all) / 8 // lists have no entries in common
	var own []byte
	for i := 0; i < len(buckets); i += bucketSize {
		page := m.Start - t.text + uint64(i)/bucketSize*bucketCode
		end := min(page+bucketCode, m.End-t.text)
		last := uint64(0)
		for at, first := uint64(order.Uint32(buckets[i:]))*8, true; ; first = false {
			if at+8 > uint64(len(all)) {
				return fmt.Errorf("%w: the list of %#x is outside", ErrModule, t.text+page)
			}
			offset := uint64(order.Uint32(all[at:]))
			if !first && (offset >= end || offset <= last) {
				break
			}
			if left--; left < 0 || !first && offset < page {
				return fmt.Errorf("%w: the list of %#x has %#x", ErrModule, t.text+page, t.text+offset)
			}
			last = offset
			// What continues from the page before has an entry already.
			if n := len(own); n == 0 || order.Uint32(own[n-4:]) != order.Uint32(all[at+4:]) {
				own = append(own, all[at:at+8]...)
			}
			at += 8
		}
	}
	own = append(own, make([]byte, 8)...)
	order.PutUint32(own[len(own)-8:], uint32(m.End-t.text))
	t.funcs, t.count, t.gaps = own, len(own)/8-1, true
	t.first = t.uint(own, 4)
	return nil
}

// slice reads a slice of length elements. It allocates no more than twice the bytes that
// could be read.
func (r *moduleReader) slice(address, length, size uint64) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := sliceOf{address, length, size}
	if b, ok := r.slices[key]; ok {
		return b, nil
	}
	if left, ok := r.budget.take(length, size); !ok {
		return nil, fmt.Errorf("%w: %d elements of %d bytes, and %d bytes may be read", ErrModule, length, size, left)
	}
	b, n := []byte{}, length*size
	for step := uint64(64 << 10); uint64(len(b)) < n; step *= 2 {
		at := uint64(len(b))
		b = slices.Grow(b, int(min(step, n-at)))[:at+min(step, n-at)]
		if err := r.memory.ReadMemory(b[at:], address+at); err != nil {
			return nil, err
		}
	}
	if r.slices == nil {
		r.slices = make(map[sliceOf][]byte)
	}
	r.slices[key] = b
	return b, nil
}

// FunctionAt returns the function at an address. An error means that the module's tables
// cannot be read.
func (m *Module) FunctionAt(address uint64) (g Function, ok bool, err error) {
	t, fn, ok, err := m.find(address)
	if ok {
		g = t.Describe(&fn, address)
	}
	return g, ok, err
}

func (m *Module) find(address uint64) (t *Table, fn Record, ok bool, err error) {
	if t, err = m.read(); err != nil || address < m.Start || address >= m.End {
		return t, fn, false, err
	}
	fn, ok = t.Find(address)
	return t, fn, ok, nil
}

// Functions yields the functions of the module, each as described at its entry. Functions
// that cannot be read are left out.
func (m *Module) Functions() iter.Seq[Function] {
	return func(yield func(Function) bool) {
		t, err := m.read()
		if err != nil {
			return
		}
		for i := range t.count {
			fn, ok := t.Find(t.Start(i))
			if ok && fn.Entry >= m.Start && fn.End <= m.End && !yield(t.Describe(&fn, fn.Entry)) {
				return
			}
		}
	}
}

// Locate returns the place in the source of an address, without inlined calls; nil if the
// module does not have it.
func (m *Module) Locate(address uint64) ([]Location, error) {
	t, fn, ok, err := m.find(address)
	if !ok {
		return nil, err
	}
	file, line := t.Position(&fn, address)
	if file == "" {
		return nil, nil
	}
	return []Location{{Function: t.Name(&fn), File: file, Line: line}}, nil
}

// Depths yields the stack depths ([Function].Depth) of the function at an address: each
// address where the depth changes, ascending, with the depth from there on. It ends at
// the first one that cannot be read.
func (m *Module) Depths(address uint64) iter.Seq2[uint64, int] {
	return func(yield func(uint64, int) bool) {
		t, fn, ok, _ := m.find(address)
		if !ok {
			return
		}
		b, depth, end := t.steps(t.number(&fn, numberStack)), int32(-1), fn.Entry
		for end < fn.End {
			at := end
			if b, depth, end, ok = t.seek(b, depth, end, at); !ok || depth < 0 || !yield(at, int(depth)) {
				return
			}
		}
	}
}
