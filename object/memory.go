// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// imageBudget bounds what is copied of one image in memory.
const imageBudget = 128 << 20

// FromMemory reads the image of a file as it is loaded in mem, for a file that
// was replaced or deleted, or that never was one (the vDSO). Base is the
// address in mem of the file's first byte, where its ELF header is mapped. It
// uses the program headers only, since the section table is not loaded; parts
// are read when they are needed. Mem must stay readable as long as the File is
// used, and be safe for concurrent calls if the File is used so.
//
// The addresses of the result are those of the file; [File.ImageBias] is what to add.
func FromMemory(mem cfi.Memory, base uint64, name string) (*File, error) {
	f := &File{name: name, memory: mem, bias: base}
	if err := f.readImage(base); err != nil {
		return nil, fmt.Errorf("%s: image at %#x: %w", name, base, err)
	}
	f.start(f.budget)
	return f, nil
}

// ImageBias returns the address in memory minus the address in the file of an
// image opened by [FromMemory], 0 for a file.
func (f *File) ImageBias() uint64 { return f.bias }

func (f *File) readImage(base uint64) (err error) {
	f.budget = imageBudget
	head := make([]byte, ehdr64)
	if n, err := f.readPrefix(head, 0); n < ehdr32 {
		return errors.Join(err, fmt.Errorf("ELF header: %d bytes can be read", n))
	}
	if f.header, err = decodeHeader(head); err != nil {
		return err
	}
	h := &f.header
	h.shnum, h.shoff = 0, 0
	size, _ := h.sizes()
	if h.phentsize != size || h.phnum == 0 { // as the kernel and ld.so want it
		return fmt.Errorf("%d program headers of %d bytes", h.phnum, h.phentsize)
	}
	table := make([]byte, h.phnum*h.phentsize) // both have 16 bits; PN_XNUM needs the section table
	if err := f.memory.ReadMemory(table, base+h.phoff); err != nil {
		return fmt.Errorf("program headers: %w", err)
	}
	f.segments = make([]elf.ProgHeader, h.phnum)
	var first *elf.ProgHeader // the one that maps offset 0
	for i := range f.segments {
		p := &f.segments[i]
		*p = h.decodeSegment(table[uint64(i)*h.phentsize:])
		if p.Type == elf.PT_LOAD && (first == nil || p.Off < first.Off) {
			first = p
		}
	}
	if first == nil {
		return errors.New("no PT_LOAD among the program headers")
	}
	// Only the segment of the header is known to lie at base.
	f.bias = base - (first.Vaddr - first.Off)
	return nil
}
