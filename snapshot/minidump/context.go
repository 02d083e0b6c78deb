// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package minidump

import (
	"debug/elf"
	"fmt"
	"slices"

	"github.com/clewdev/clew/snapshot"
)

// processor describes the thread contexts of a processor architecture: the structures
// CONTEXT and MDRawContext of Breakpad's minidump_cpu_*.h.
type processor struct {
	architecture uint16 // MINIDUMP_SYSTEM_INFO.ProcessorArchitecture
	machine      elf.Machine
	class        elf.Class

	size  uint64 // of the part that is read, bytes
	flags int    // offset of the flags
	// need has the flag of the processor and those of the general registers. A context can
	// have more flags.
	need uint32

	width     int             // of a general register, bytes
	registers []registerRange // in the context
	pc        int             // offset of the program counter

	floats    uint32   // the flag that says that the context has the vectors
	vectors   [][2]int // ranges of the context that make up NT_PRFPREG
	vectorLen int      // of NT_PRFPREG, bytes
}

// registerRange is a range of adjacent registers.
type registerRange struct {
	at      int     // offset of the first one
	columns []uint8 // their DWARF columns
}

var processors = []processor{
	{ // MDRawContextAMD64; psABI amd64, Figure 3.36
		architecture: 9, machine: elf.EM_X86_64, class: elf.ELFCLASS64, size: 768, flags: 48, need: 0x100003, width: 8,
		registers: []registerRange{{120, []uint8{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16}}}, pc: 248,
		floats: 8, vectors: [][2]int{{256, 768}}, vectorLen: 512,
	},
	{ // MDRawContextX86; psABI i386, Table 2.14
		architecture: 0, machine: elf.EM_386, class: elf.ELFCLASS32, size: 204, flags: 0, need: 0x10003, width: 4,
		registers: []registerRange{{156, []uint8{7, 6, 3, 2, 1, 0, 5, 8}}, {196, []uint8{4}}}, pc: 184,
	},
	{ // MDRawContextARM64; DWARF for the Arm 64-bit Architecture, §4.1
		architecture: 12, machine: elf.EM_AARCH64, class: elf.ELFCLASS64, size: 792, flags: 0, need: 0x400002, width: 8,
		registers: []registerRange{{8, firstColumns(33)}}, pc: 264,
		floats: 4, vectors: [][2]int{{272, 784}, {788, 792}, {784, 788}}, vectorLen: 528,
	},
	{ // MDRawContextARM64_Old, with flags of 64 bits
		architecture: 0x8003, machine: elf.EM_AARCH64, class: elf.ELFCLASS64, size: 796, flags: 0, need: 0x80000002, width: 8,
		registers: []registerRange{{8, firstColumns(33)}}, pc: 264,
		floats: 4, vectors: [][2]int{{284, 796}, {276, 284}}, vectorLen: 528,
	},
	{ // MDRawContextARM; DWARF for the Arm Architecture, §4.1
		architecture: 5, machine: elf.EM_ARM, class: elf.ELFCLASS32, size: 72, flags: 0, need: 0x40000002, width: 4,
		registers: []registerRange{{4, firstColumns(16)}}, pc: 64,
	},
}

func firstColumns(n uint8) (list []uint8) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// readContext sets the registers of a thread.
func (d *dump) readContext(t *snapshot.Thread, l location) error {
	p := d.cpu
	if i := slices.IndexFunc(processors, func(o processor) bool {
		return o.machine == p.machine && o.architecture != p.architecture
	}); i >= 0 && l.size >= processors[i].size {
		// Some writers name one of arm64's layouts and write the other.
		if b, err := d.head(l, 4); err == nil && le.Uint32(b)&processors[i].need == processors[i].need && le.Uint32(b)&p.need != p.need {
			p = &processors[i]
		}
	}
	b, err := d.head(l, min(max(l.size, uint64(p.flags)+4), p.size))
	if err != nil {
		return fmt.Errorf("context at offset %#x: %w", l.at, err)
	}
	flags := le.Uint32(b[p.flags:])
	if flags&p.need != p.need {
		return fmt.Errorf("context at offset %#x: flags %#x, expected %#x of %s", l.at, flags, p.need, d.Machine.Name)
	}
	value := func(at int) (uint64, error) {
		if at+p.width > len(b) {
			return 0, fmt.Errorf("context at offset %#x: %d bytes, expected %d", l.at, len(b), p.size)
		}
		if p.width == 4 {
			return uint64(le.Uint32(b[at:])), nil
		}
		return le.Uint64(b[at:]), nil
	}
	r := &t.Registers
	for _, list := range p.registers {
		for i, column := range list.columns {
			v, err := value(list.at + i*p.width)
			if err != nil {
				return err
			}
			r.Set(uint64(column), v)
		}
	}
	pc, err := value(p.pc)
	if err != nil {
		return err
	}
	r.PC = pc & d.Machine.CodeMask
	if flags&p.floats != 0 && uint64(len(b)) == p.size {
		t.Vectors = make([]byte, 0, p.vectorLen)
		for _, part := range p.vectors {
			t.Vectors = append(t.Vectors, b[part[0]:part[1]]...)
		}
		t.Vectors = t.Vectors[:p.vectorLen]
	}
	return nil
}
