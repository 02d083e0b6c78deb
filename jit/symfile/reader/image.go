// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package reader

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

// ErrNotELF means that a runtime registered data in another format. Erlang's JIT
// registers data for its debugger script.
var ErrNotELF = errors.New("not an ELF file")

// Image is a symbol file that a runtime registered. All addresses are those of the running
// program. Its methods may be called concurrently.
type Image struct {
	file     *object.File
	size     int
	sections []object.Section
	code     []Range

	functions func() ([]Function, error)
	frames    func() ([]*cfi.Section, error)
}

// Range is code at the addresses [Start, End).
type Range struct{ Start, End uint64 }

// Function is a function that an image describes.
type Function struct {
	Name  string // as in the image
	Start uint64 // address
	Size  uint64 // bytes; 0 if unknown

	// SwitchesStack says that the function changes stacks: see jit.Function.
	SwitchesStack bool
}

// Open reads an image. It neither copies nor changes the image, which must stay unchanged.
// The error wraps [ErrNotELF] if the image has another format. Open skips damaged parts:
// see [Image.Damage].
//
// The images of runtimes differ. LuaJIT and PHP write an ET_REL, and LLVM one with section
// addresses but unapplied relocations; others an ET_DYN or ET_EXEC, with values of symbols
// that are addresses or relative to their section. Open reads them all.
func Open(image []byte) (*Image, error) {
	if !bytes.HasPrefix(image, []byte(elf.ELFMAG)) {
		return nil, fmt.Errorf("symbol file: %w: it starts with %q", ErrNotELF, image[:min(len(image), 4)])
	}
	f, err := object.NewFile(image, "symbol file")
	if err != nil {
		return nil, err
	}
	i := &Image{file: f, size: len(image), sections: f.Sections()}
	for k := range i.sections {
		if s := &i.sections[k]; isCode(s) && s.Size > 0 && s.Address+s.Size > s.Address {
			i.code = append(i.code, Range{s.Address, s.Address + s.Size})
		}
	}
	slices.SortFunc(i.code, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	i.functions = sync.OnceValues(i.readFunctions)
	i.frames = sync.OnceValues(f.CFISections)
	return i, nil
}

func isCode(s *object.Section) bool {
	const flags = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	return s.Flags&flags == flags
}

// Machine returns the machine of the code.
func (i *Image) Machine() *arch.Machine { return i.file.Machine() }

// Code returns the ranges of code that the image describes, in ascending order. Ranges may
// touch, and overlap if sections of the image do. The caller must not change the slice.
func (i *Image) Code() []Range { return i.code }

// Frames returns the unwind tables, at run-time addresses, as
// [object.File.CFISections] does.
func (i *Image) Frames() ([]*cfi.Section, error) { return i.frames() }

// Functions returns the functions of the symbol table, in ascending order of their
// addresses. The longest of several functions with the same start comes last. The caller
// must not change the slice.
func (i *Image) Functions() ([]Function, error) { return i.functions() }

// Find returns the function that contains an address; of several, the one that starts last.
func (i *Image) Find(address uint64) (f Function, ok bool) {
	list, _ := i.functions()
	at := sort.Search(len(list), func(k int) bool { return list[k].Start > address })
	// A stub may be inside of a larger function.
	for tries := 0; at > 0 && tries < 64; tries++ {
		at--
		if address-list[at].Start < list[at].Size {
			return list[at], true
		}
	}
	return Function{}, false
}

// Locate returns the source location of the instruction at an address, as
// [object.File.Locate] does. If the lines name no function, the name is that of the symbol
// table.
func (i *Image) Locate(address uint64) ([]object.Location, error) {
	list, err := i.file.Locate(address)
	if n := len(list); n > 0 && list[n-1].Function == "" {
		f, _ := i.Find(address)
		list[n-1].Function = f.Name
	}
	return list, err
}

// Damage returns the errors of damaged parts that were skipped so far, joined as by
// [errors.Join], or nil.
func (i *Image) Damage() error { return i.file.Damage() }

func (i *Image) readFunctions() ([]Function, error) {
	var list []Function
	var err error
	spare := 1<<20 + 8*i.size // names can overlap: without a bound they could take the square of the image's size
	for s := range i.file.Symbols() {
		if s.Type == elf.STT_OBJECT {
			continue
		}
		var section *object.Section
		if s.Section > 0 && s.Section < len(i.sections) {
			section = &i.sections[s.Section]
		}
		if s.Type == elf.STT_NOTYPE && (section == nil || !isCode(section)) {
			continue
		}
		if spare -= len(s.Name); spare < 0 {
			err = fmt.Errorf("symbol file: the names of more than %d functions are longer than the %d bytes of the file allow", len(list), i.size)
			break
		}
		list = append(list, Function{Name: s.Name, Start: s.Address, Size: s.Size})
	}
	slices.SortStableFunc(list, func(a, b Function) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Size, b.Size))
	})
	list = withoutAliases(list)
	i.measure(list)
	return list, err
}

// withoutAliases removes the second symbols of functions that change stacks: see package
// symfile.
func withoutAliases(list []Function) []Function {
	kept := list[:0]
	for _, f := range list {
		if n := len(kept); n > 0 && f.Name == "__morestack" && kept[n-1].Start == f.Start && kept[n-1].Size == 0 {
			kept[n-1].Size, kept[n-1].SwitchesStack = f.Size, true
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

// measure extends functions without a size to the next function or the end of their
// range.
func (i *Image) measure(list []Function) {
	next := ^uint64(0) // start of the first function after those that start together
	for k := len(list) - 1; k >= 0; k-- {
		f := &list[k]
		if k+1 < len(list) && list[k+1].Start != f.Start {
			next = list[k+1].Start
		}
		if f.Size != 0 {
			continue
		}
		at := sort.Search(len(i.code), func(n int) bool { return i.code[n].Start > f.Start }) - 1
		if at >= 0 && f.Start < i.code[at].End {
			f.Size = min(next, i.code[at].End) - f.Start
		}
	}
}
