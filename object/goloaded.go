// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/clewdev/clew/cfi"
)

// GoModule is an entry of the list of modules that the runtime of a Go program
// keeps (runtime/symtab.go, moduledata). The first one is the program itself.
// Plugins follow, and code that the program loaded while it ran. All addresses are
// those of the running program. The tables of the module are read when they are
// first needed. Its methods may be called from several goroutines where those of the
// memory may.
type GoModule struct {
	Address    uint64 // of the moduledata
	Start, End uint64 // its code, from the first function to the end of the last: [Start, End)

	words [goLoadedWords]uint64
	read  func() (*goTable, error)
}

// The words of a moduledata from Go 1.16 on, of which GoModules needs more than
// goModule does. Where the word lies that leads to the next module depends on the
// version of Go: it is word 65 in Go 1.16, 73 in Go 1.26.
const (
	goWordUnits     = 4
	goWordFiles     = 7
	goWordSteps     = 10
	goWordRecords   = 13
	goWordFunctions = 16
	goWordEnd       = 21 // maxpc
	goWordText      = 22
	goLoadedWords   = goWordText + 1

	goWordNextFirst = goWordData118 + 1
	goWordNextLast  = 96
)

// Bounds of what is read of a list of modules, which is another program's and may be
// damaged or hostile.
const (
	maxLoadedGoModules = 1 << 16
	maxLoadedGoTables  = 64 << 20 // bytes of tables
)

// GoModuleBudget bounds what is read of the modules of one target: 65,536 modules, and 64
// MiB of their tables. Each of its objects can have a list. The zero value is a whole
// budget. It may be used from several goroutines.
type GoModuleBudget struct {
	mu      sync.Mutex
	modules int    // that were read
	tables  uint64 // bytes that were read
}

// take takes some bytes for a table of elements of a size, and returns how many are left
// where these are too few.
func (b *GoModuleBudget) take(length, size uint64) (left uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left = maxLoadedGoTables - b.tables
	if ok = length <= left/size; ok {
		b.tables += length * size
	}
	return left, ok
}

// takeModule takes a module, and reports whether there was one left.
func (b *GoModuleBudget) takeModule() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.modules == maxLoadedGoModules {
		return false
	}
	b.modules++
	return true
}

// ErrGoModule is wrapped by errors of modules that contradict themselves.
var ErrGoModule = errors.New("invalid Go module")

// GoModules returns the modules after the first one in the list that the Go runtime
// of the program (or of the Go library) f keeps, in the order of the list, and the
// address of the first one. Bias is what is added to the addresses of f, and memory
// is that of the process or core. Both are zero where f has no Go runtime, and no
// list where the program has loaded nothing. All objects of a target share a budget.
//
// The error says what ended the list early; the modules before are returned.
func (f *File) GoModules(memory cfi.Memory, bias uint64, budget *GoModuleBudget) (first uint64, list []*GoModule, err error) {
	var program goModule
	var table *goTable
	f.noteFault(func() {
		data, address, ok := f.pclntab()
		if !ok {
			return
		}
		t, err := newGoTable(data)
		if err != nil || t.magic == goMagic12 {
			return // Go 1.16 was the first with these words
		}
		if program, ok = f.goModule(t, address); ok {
			table = t
		}
	})
	if table == nil {
		return 0, nil, nil
	}
	r := goModuleReader{memory: memory, like: table, budget: budget}
	first = program.address + bias
	list, err = r.list(first)
	return first, list, err
}

// goModuleReader reads a list of modules.
type goModuleReader struct {
	memory cfi.Memory
	like   *goTable // the program's own: magic, order, size of a pointer
	budget *GoModuleBudget
}

func (r *goModuleReader) list(first uint64) (list []*GoModule, err error) {
	next, at, ok := r.findNext(first)
	if !ok {
		return nil, nil
	}
	seen := map[uint64]struct{}{first: {}}
	for n := 1; at != 0; n++ {
		if _, ok := seen[at]; ok {
			return list, fmt.Errorf("module %d at %#x: %w: the list leads back to it", n, at, ErrGoModule)
		}
		if !r.budget.takeModule() {
			return list, fmt.Errorf("the list of Go's modules was cut after %d", maxLoadedGoModules)
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

// findNext finds out where in a moduledata the address of the next one is, in bytes:
// the first word from the place of Go 1.18 on that leads to another module. Where
// none does the program has no other. (The word after the last can be
// runtime.lastmoduledatap, which leads to the same list.)
func (r *goModuleReader) findNext(first uint64) (offset, next uint64, ok bool) {
	size := uint64(r.like.word)
	for i := uint64(goWordNextFirst); i < goWordNextLast; i++ {
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
func (r *goModuleReader) words(words []uint64, address uint64) error {
	size := r.like.word
	var buffer [8 * goLoadedWords]byte
	b := buffer[:len(words)*size]
	if err := r.memory.ReadMemory(b, address); err != nil {
		return err
	}
	for i := range words {
		words[i] = getUint(b[i*size:], r.like.order, size)
	}
	return nil
}

// module reads the head of a module, and checks what the runtime does
// (moduledataverify1).
func (r *goModuleReader) module(address uint64) (*GoModule, error) {
	m := &GoModule{Address: address}
	if err := r.words(m.words[:], address); err != nil {
		return nil, err
	}
	w := &m.words
	var header [8]byte
	if err := r.memory.ReadMemory(header[:], w[0]); err != nil {
		return nil, fmt.Errorf("%w: its header: %w", ErrGoModule, err)
	}
	magic := r.like.order.Uint32(header[:])
	switch {
	case magic != r.like.magic && magic != goMagic120 || header[4] != 0 || header[5] != 0 || int(header[7]) != r.like.word:
		return nil, fmt.Errorf("%w: its header is % x, expected one of a table with the magic %#x", ErrGoModule, header, r.like.magic)
	case w[goWordFirst] >= w[goWordEnd]:
		return nil, fmt.Errorf("%w: its code is [%#x, %#x)", ErrGoModule, w[goWordFirst], w[goWordEnd])
	case r.like.text != 0 && w[goWordText] > w[goWordFirst]:
		return nil, fmt.Errorf("%w: its first function, at %#x, is before its code, at %#x", ErrGoModule, w[goWordFirst], w[goWordText])
	case w[goWordFunctions+1] < 2 || w[goWordFunctions+1] > w[goWordEnd]-w[goWordFirst]+1:
		return nil, fmt.Errorf("%w: %d functions in %d bytes of code", ErrGoModule, int64(w[goWordFunctions+1])-1, w[goWordEnd]-w[goWordFirst])
	}
	m.Start, m.End = w[goWordFirst], w[goWordEnd]
	m.read = sync.OnceValues(func() (*goTable, error) {
		t, err := r.table(m, magic, uint64(header[6]))
		if err != nil {
			err = fmt.Errorf("module at %#x: %w", address, err)
		}
		return t, err
	})
	return m, nil
}

// table reads the tables of a module by the slices in its moduledata. The offsets in
// the header are not used: loaders leave them unset.
func (r *goModuleReader) table(m *GoModule, magic uint32, quantum uint64) (*goTable, error) {
	t := &goTable{order: r.like.order, magic: magic, word: r.like.word, quantum: quantum, field: r.like.word}
	if magic != goMagic116 {
		t.text, t.field = m.words[goWordText], 4
	}
	for _, part := range []struct {
		name string
		to   *[]byte
		word int
		size uint64 // of an element
	}{
		{"names", &t.names, goWordNames, 1},
		{"units", &t.units, goWordUnits, 4},
		{"files", &t.files, goWordFiles, 1},
		{"steps", &t.pcs, goWordSteps, 1},
		{"records", &t.data, goWordRecords, 1},
		{"functions", &t.funcs, goWordFunctions, 2 * uint64(t.field)},
	} {
		b, err := r.slice(m.words[part.word], m.words[part.word+1], part.size)
		if err != nil {
			return nil, fmt.Errorf("its table of %s: %w", part.name, err)
		}
		*part.to = b
	}
	t.count = len(t.funcs)/(2*t.field) - 1
	t.first = getUint(t.funcs, t.order, t.field)
	return t, nil
}

// slice reads a slice of elements of a size. It takes memory only for what can be read.
func (r *goModuleReader) slice(address, length, size uint64) ([]byte, error) {
	if left, ok := r.budget.take(length, size); !ok {
		return nil, fmt.Errorf("%w: %d elements of %d bytes, and %d bytes may be read", ErrGoModule, length, size, left)
	}
	b, n := []byte{}, length*size
	for step := uint64(64 << 10); uint64(len(b)) < n; step *= 2 {
		at := uint64(len(b))
		b = slices.Grow(b, int(min(step, n-at)))[:at+min(step, n-at)]
		if err := r.memory.ReadMemory(b[at:], address+at); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// FunctionAt returns the function at an address. The error is that of the module's
// tables, which cannot be read.
func (m *GoModule) FunctionAt(address uint64) (g GoFunction, ok bool, err error) {
	t, fn, ok, err := m.find(address)
	if ok {
		g = t.describe(&fn, address)
	}
	return g, ok, err
}

func (m *GoModule) find(address uint64) (t *goTable, fn goFunction, ok bool, err error) {
	if t, err = m.read(); err != nil || address < m.Start || address >= m.End {
		return t, fn, false, err
	}
	fn, ok = t.find(address)
	return t, fn, ok, nil
}

// Functions yields the functions of the module, each as at its entry, as far as
// the module's tables can be read.
func (m *GoModule) Functions() iter.Seq[GoFunction] {
	return func(yield func(GoFunction) bool) {
		t, err := m.read()
		if err != nil {
			return
		}
		for i := range t.count {
			fn, ok := t.find(t.start(i))
			if ok && fn.entry >= m.Start && fn.end <= m.End && !yield(t.describe(&fn, fn.entry)) {
				return
			}
		}
	}
}

// Locate returns where in the source an address is, as [File.Locate] does; nil where
// the module does not say. It knows no inlined calls.
func (m *GoModule) Locate(address uint64) ([]Location, error) {
	t, fn, ok, err := m.find(address)
	if !ok {
		return nil, err
	}
	file, line := t.position(&fn, address)
	if file == "" {
		return nil, nil
	}
	return []Location{{Function: t.name(&fn), File: file, Line: line}}, nil
}

// Depths yields the addresses in the function at an address where its stack depth
// (see GoFunction.Depth) changes, and the depth from there on, in ascending order, as
// far as the module says.
func (m *GoModule) Depths(address uint64) iter.Seq2[uint64, int] {
	return func(yield func(uint64, int) bool) {
		t, fn, ok, _ := m.find(address)
		if !ok {
			return
		}
		b, depth, end := t.steps(t.number(&fn, goPCSP)), int32(-1), fn.entry
		for end < fn.end {
			at := end
			if b, depth, end, ok = t.seek(b, depth, end, at); !ok || depth < 0 || !yield(at, int(depth)) {
				return
			}
		}
	}
}
