// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"iter"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object/internal/gotable"
)

// GoModule is an entry of the list of modules that the runtime of a Go program keeps in
// memory (runtime/symtab.go, moduledata). The first one is the program itself. Plugins
// follow, and code that the program loaded while it ran.
//
// All addresses are those of the running program. The tables of the module are read when
// they are first needed. Its methods may be called concurrently if those of the memory may.
type GoModule struct {
	Address    uint64 // of the moduledata
	Start, End uint64 // its code, from the first function to the end of the last: [Start, End)

	module *gotable.Module
}

// GoModuleBudget bounds the reading of the modules of one target: 65,536 modules, and 64 MiB
// of their tables. Several objects of a target can have a list each. The zero value
// is a whole budget. It may be used concurrently.
type GoModuleBudget struct{ budget gotable.Budget }

// GoModules returns the list of modules of the Go runtime of f (a program, or a Go library):
// the address of the first module, and the modules after it in the order of the list. Memory
// is the memory of the process or core, and bias is the load bias of f. All objects of a
// target share a budget.
//
// Without a Go runtime in f both results are zero; list is nil if the program has loaded
// nothing. If there is an error, list contains the modules before the fault.
func (f *File) GoModules(memory cfi.Memory, bias uint64, budget *GoModuleBudget) (first uint64, list []*GoModule, err error) {
	var table *gotable.Table
	f.noteFault(func() {
		data, address, ok := f.pclntab()
		if !ok {
			return
		}
		t, err := gotable.New(data)
		if err != nil || !t.HasModules() {
			return
		}
		if at, _, ok := f.goModule(t, address); ok {
			first, table = at+bias, t
		}
	})
	if table == nil {
		return 0, nil, nil
	}
	modules, err := table.Modules(memory, first, &budget.budget)
	for _, m := range modules {
		list = append(list, &GoModule{Address: m.Address, Start: m.Start, End: m.End, module: m})
	}
	return first, list, err
}

// FunctionAt returns the function that contains an address. An error means that the
// module's tables cannot be read.
func (m *GoModule) FunctionAt(address uint64) (g GoFunction, ok bool, err error) {
	found, ok, err := m.module.FunctionAt(address)
	return GoFunction(found), ok, err
}

// Functions yields the functions of the module, each as described at its entry. Functions
// that cannot be read are left out.
func (m *GoModule) Functions() iter.Seq[GoFunction] {
	return func(yield func(GoFunction) bool) {
		for g := range m.module.Functions() {
			if !yield(GoFunction(g)) {
				return
			}
		}
	}
}

// Locate returns the place in the source of an address as [File.Locate] does, but without
// inlined calls; nil if the module does not have it.
func (m *GoModule) Locate(address uint64) ([]Location, error) {
	found, err := m.module.Locate(address)
	return goLocations(found), err
}

// Depths yields the stack depths ([GoFunction].Depth) of the function that contains an
// address: each address where the depth changes, ascending, with the depth from there on.
// It ends at the first one that cannot be read.
func (m *GoModule) Depths(address uint64) iter.Seq2[uint64, int] { return m.module.Depths(address) }

// maxGoModules bounds the places that are tried: programs have one pointer to the table
// outside of a moduledata.
const maxGoModules = 16

// goModule finds the moduledata that belongs to a table at an address: by its symbol, its
// section (Go 1.26 on), else by its first word.
func (f *File) goModule(t *gotable.Table, table uint64) (address uint64, code gotable.Code, ok bool) {
	var words [gotable.ModuleWords]uint64
	tries := 0
	at := func(addr uint64) (isModule bool) {
		if tries++; tries > maxGoModules {
			return false
		}
		address = addr
		f.goWords(words[:], addr, t.WordSize())
		if code, isModule = t.Code(&words, table); isModule {
			_, isModule = f.segmentAt(code.First)
		}
		return isModule
	}
	if s, isNamed := f.Symbol("runtime.firstmoduledata"); isNamed {
		ok = at(s.Address)
	}
	if i, isSection := f.find(".go.module"); isSection && !ok {
		ok = at(f.section(i).addr)
	}
	if !ok {
		f.relatives(func(offset, addend uint64) bool {
			ok = addend == table && at(offset)
			return !ok && tries < maxGoModules
		})
	}
	if !ok {
		f.searchWord(table, t.WordSize(), func(addr uint64) bool {
			ok = at(addr)
			return ok || tries >= maxGoModules
		})
	}
	return address, code, ok
}

// goWords reads words of a module at an address, without load bias: relocated words from
// the relocations.
func (f *File) goWords(words []uint64, addr uint64, size int) {
	clear(words)
	b, _ := f.view(addr, uint64(len(words)*size))
	for i := range min(len(words), len(b)/size) {
		words[i] = f.withoutBias(getUint(b[i*size:], f.order, size))
	}
	f.relatives(func(offset, addend uint64) bool {
		if i := (offset - addr) / uint64(size); offset >= addr && i < uint64(len(words)) && (offset-addr)%uint64(size) == 0 {
			words[i] = addend
		}
		return true
	})
}

// relatives visits the places that the dynamic linker fills with addresses of the file,
// until visit returns false.
func (f *File) relatives(visit func(offset, addend uint64) bool) {
	typ := f.arch.Relative
	if typ == 0 || f.typ != elf.ET_DYN {
		return
	}
	size := f.relocationSize(elf.SHT_RELA)
	tables := 0
	for i := range f.sectionCount() {
		s := f.section(i)
		if s.typ != elf.SHT_RELA {
			continue
		}
		if tables++; tables > maxSymbolTables {
			return
		}
		for entries, _ := f.raw(s); len(entries) >= size; entries = entries[size:] {
			if r := f.decodeRelocation(entries, s.typ); r.Type == typ && !visit(r.Offset, uint64(r.Addend)) {
				return
			}
		}
	}
}

// searchWord calls try with the addresses in writable sections that hold a word,
// until that returns true.
func (f *File) searchWord(word uint64, size int, try func(addr uint64) bool) {
	left := f.portion()
	for i := range f.sectionCount() {
		s := f.section(i)
		if s.typ != elf.SHT_PROGBITS || s.flags&(elf.SHF_ALLOC|elf.SHF_WRITE) != elf.SHF_ALLOC|elf.SHF_WRITE || s.size > left {
			continue
		}
		left -= s.size
		data, _ := f.raw(s)
		for at := 0; at+size <= len(data); at += size {
			if getUint(data[at:], f.order, size) == word && try(s.addr+uint64(at)) {
				return
			}
		}
	}
}
