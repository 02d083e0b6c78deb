// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
	"sort"
	"sync"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

// relocated is the memory of a file in which words that the dynamic linker writes have their
// addresses: tables of addresses are empty in the file of a position-independent program. Of
// the relocations it applies those that only add the load bias.
type relocated struct {
	*object.File
	memory cfi.Memory // the bytes of the file
	read   sync.Once
	words  []word // by address
}

// newRelocated returns the memory of a file, whose bytes are in memory unless that is nil.
func newRelocated(f *object.File, memory cfi.Memory) *relocated {
	if memory == nil {
		memory = f
	}
	return &relocated{File: f, memory: memory}
}

type word struct{ at, address uint64 }

// ReadMemory reads the file. A word is read whole, as code reads it from a table.
func (r *relocated) ReadMemory(p []byte, addr uint64) error {
	if err := r.memory.ReadMemory(p, addr); err != nil {
		return err
	}
	if len(p) != 8 || binary.LittleEndian.Uint64(p) != 0 {
		return nil
	}
	r.read.Do(r.readTables)
	n := sort.Search(len(r.words), func(i int) bool { return r.words[i].at >= addr })
	if n < len(r.words) && r.words[n].at == addr {
		binary.LittleEndian.PutUint64(p, r.words[n].address)
	}
	return nil
}

func (r *relocated) readTables() {
	relative := r.Machine().Relative
	for index, s := range r.Sections() {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 || relative == 0 {
			continue
		}
		table, _ := r.RelocationTable(index) // the part that can be read
		for i := range table.Len() {
			if e := table.At(i); e.Type == relative {
				r.words = append(r.words, word{e.Offset, uint64(e.Addend)})
			}
		}
	}
	slices.SortFunc(r.words, func(a, b word) int { return cmp.Compare(a.at, b.at) })
}
