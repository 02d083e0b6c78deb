// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"debug/elf"
	"fmt"
	"sort"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session/link"
)

// Relocatable returns a relocatable file (.o) as a part. Its sections get addresses and its
// relocations are applied, as a linker does, in a copy of the file. The addresses of findings are
// those of the copy; [Part.Shown] returns those of the file. It returns an error if the file
// cannot be linked.
func Relocatable(f *object.File) (*Part, error) {
	program, err := link.Place(f)
	if err != nil {
		return nil, fmt.Errorf("%w (an executable or a library that contains the code can be checked)", err)
	}
	image, err := object.NewFile(program.Objects[0].ELF, f.Name())
	if err != nil {
		return nil, err
	}
	var moved moves
	original := f.Sections()
	for i, s := range image.Sections() {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Size > 0 && i < len(original) {
			moved = append(moved, move{s.Address, s.Address + s.Size, original[i].Address})
		}
	}
	sort.Slice(moved, func(i, k int) bool { return moved[i].start < moved[k].start })
	p := File(image)
	p.moved, p.imports = moved, make(map[uint64]string)
	for _, stubs := range program.Objects[1:] {
		if stub, err := object.NewFile(stubs.ELF, stubs.Name); err == nil {
			for s := range stub.Symbols() {
				p.imports[s.Address] = s.Name
			}
		}
	}
	p.check = func(options check.Options) (*check.Report, error) {
		options.Imports = p.imports
		return check.File(image, options)
	}
	return p, nil
}

// ELF returns a file as File or Relocatable does.
func ELF(f *object.File) (*Part, error) {
	if f.Type() == elf.ET_REL {
		return Relocatable(f)
	}
	return File(f), nil
}

// moves are the sections of a relocatable file by their addresses in the copy.
type moves []move

type move struct {
	start, end uint64 // in the copy
	original   uint64 // address in the file
}

// of returns what to add to an address of the copy, modulo 2^64.
func (m moves) of(address uint64) uint64 {
	i := sort.Search(len(m), func(i int) bool { return m[i].end > address })
	if i == len(m) || m[i].start > address {
		return 0
	}
	return m[i].original - m[i].start
}

// Shown returns the address of the file for an address of a finding. In a relocatable file it is
// the offset in its section.
func (p *Part) Shown(address uint64) uint64 { return address + p.moved.of(address) }

// Symbol returns the symbol for a target of the code at an address, both as Shown returns them.
// from is the address of the code in findings. It returns "" where the target needs no symbol.
func (p *Part) Symbol(from, target uint64) (name string, start uint64) {
	if len(p.moved) == 0 {
		return "", 0
	}
	address := target - p.moved.of(from)
	if name, ok := p.imports[address]; ok {
		return name, target
	}
	for _, s := range p.file.SymbolsAt(address) {
		if s.Name != "" {
			return s.Name, target - (address - s.Address)
		}
	}
	return "", 0
}
