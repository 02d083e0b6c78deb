// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/internal/leb128"
)

// relocationsOf returns the index of the section that holds the relocations of
// section i. Section groups bring several sections of one name; each has its own.
func (f *File) relocationsOf(i int) (index int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.relocated == nil {
		f.relocated = make(map[uint32]int)
		for k := range f.sectionCount() {
			s := f.section(k)
			if s.typ == elf.SHT_REL || s.typ == elf.SHT_RELA {
				if _, again := f.relocated[s.info]; !again {
					f.relocated[s.info] = k
				}
			}
		}
	}
	index, ok = f.relocated[uint32(i)]
	return index, ok
}

// relocate applies the relocations in section number index to data, the
// content of s. What it cannot apply it leaves as it is, reports, and returns the
// offsets of, ascending.
func (f *File) relocate(data []byte, s sectionHeader, index int) (left []uint64, err error) {
	table := f.section(index)
	entries, err := f.raw(table)
	if err != nil {
		return nil, err
	}
	size := f.relocationSize(table.typ)
	var problems problems
	leave := func(r relocation, err error) {
		problems.addAll(err)
		if r.offset < uint64(len(data)) && len(left) < len(data) { // as many as there are offsets
			left = append(left, r.offset)
		}
	}
	defer func() {
		slices.Sort(left)
		left = slices.Compact(left)
	}()
	symbols, known, err := f.relocationSymbols(table)
	if err != nil {
		for ; len(entries) >= size; entries = entries[size:] {
			leave(f.decodeRelocation(entries, table.typ), nil)
		}
		return left, err
	}
	symbolSize := f.symbolSize()
	for ; len(entries) >= size; entries = entries[size:] {
		r := f.decodeRelocation(entries, table.typ)
		op := known[r.typ]
		switch {
		case op.act == unknown && s.flags&elf.SHF_EXECINSTR != 0:
			continue // of an instruction
		case op.act == unknown:
			leave(r, fmt.Errorf("relocation at %#x: type %d of %s is not one of data", r.offset, r.typ, f.arch.Name))
			continue
		case op.act == none:
			continue
		case r.offset > uint64(len(data)) || uint64(len(data))-r.offset < uint64(op.size):
			leave(r, fmt.Errorf("relocation at %#x: the section has %#x bytes", r.offset, len(data)))
			continue
		}
		value := uint64(r.addend)
		if r.symbol != 0 {
			if uint64(r.symbol) >= uint64(len(symbols)/symbolSize) {
				leave(r, fmt.Errorf("relocation at %#x: symbol %d of %d", r.offset, r.symbol, len(symbols)/symbolSize))
				continue
			}
			sym := f.decodeSymbol(symbols[int(r.symbol)*symbolSize:])
			value += sym.value
			if i := int(sym.shndx); i < f.sectionCount() && sym.shndx < elf.SHN_LORESERVE {
				value += f.section(i).addr
			}
		}
		f.apply(data, r.offset, s.addr+r.offset, op, value, table.typ == elf.SHT_REL || f.machine == elf.EM_SH)
	}
	return left, problems.err()
}

// relocationSymbols returns the symbol table of a section of relocations, and the
// operations of the machine's.
func (f *File) relocationSymbols(table sectionHeader) (symbols []byte, known map[uint32]operation, err error) {
	if int64(table.link) >= int64(f.shnum) {
		return nil, nil, fmt.Errorf("%s: symbol table is section %d of %d", f.sectionName(table), table.link, f.shnum)
	}
	if symbols, err = f.raw(f.section(int(table.link))); err != nil {
		return nil, nil, err
	}
	known, ok := relocations()[f.machine]
	if !ok {
		return nil, nil, fmt.Errorf("%s: relocations of %s are not known", f.sectionName(table), f.arch.Name)
	}
	return symbols, known, nil
}

// apply carries out one relocation at data[offset]; place is its address and
// value is S + A. With SHT_REL the addend stands in the place; SuperH adds what
// stands there to an entry's addend.
func (f *File) apply(data []byte, offset, place uint64, op operation, value uint64, inPlace bool) {
	b := data[offset:]
	switch op.act {
	case set6, subtract6:
		v := byte(value)
		if op.act == subtract6 {
			v = b[0] - v
		}
		b[0] = b[0]&0xc0 | v&0x3f
		return
	case setULEB, addULEB, subULEB:
		patchULEB(b, op.act, value)
		return
	}
	old := getUint(b, f.order, int(op.size))
	switch op.act {
	case absolute, relative:
		if inPlace {
			value += old
		}
		if op.act == relative {
			value -= place
			if f.machine == elf.EM_PARISC {
				value -= 8 // PA-RISC counts from the instruction after the delay slot
			}
		}
	case relative31:
		if inPlace {
			value += old
		}
		value = old&(1<<31) | (value-place)&(1<<31-1)
	case add:
		value = old + value
	case subtract:
		value = old - value
	}
	putUint(b, f.order, int(op.size), value)
}

// patchULEB replaces the ULEB128 at the start of b and keeps its length.
func patchULEB(b []byte, act action, value uint64) {
	old, _, err := leb128.Uint(b)
	if err != nil {
		return
	}
	switch act {
	case addULEB:
		value = old + value
	case subULEB:
		value = old - value
	}
	leb128.PutUint(b, value)
}

// getUint and putUint access size bytes, 1 to 8, in the order of the file.
func getUint(b []byte, order binary.ByteOrder, size int) (v uint64) {
	for i := range size {
		if order == binary.ByteOrder(binary.LittleEndian) {
			v |= uint64(b[i]) << (8 * i)
		} else {
			v = v<<8 | uint64(b[i])
		}
	}
	return v
}

func putUint(b []byte, order binary.ByteOrder, size int, v uint64) {
	for i := range size {
		if order == binary.ByteOrder(binary.LittleEndian) {
			b[i] = byte(v >> (8 * i))
		} else {
			b[i] = byte(v >> (8 * (size - 1 - i)))
		}
	}
}

// relocation is an entry of a relocation table; offset is an address in a
// linked file and an offset in the section in a relocatable one.
type relocation struct {
	offset uint64
	symbol uint32
	typ    uint32
	addend int64
}

func (f *File) relocationSize(t elf.SectionType) int {
	size := 8
	if f.class == elf.ELFCLASS64 {
		size = 16
	}
	if t == elf.SHT_RELA {
		size += size / 2
	}
	return size
}

func (f *File) decodeRelocation(b []byte, t elf.SectionType) (r relocation) {
	o := f.order
	if f.class != elf.ELFCLASS64 {
		info := o.Uint32(b[4:])
		r.offset, r.symbol, r.typ = uint64(o.Uint32(b)), info>>8, info&0xff
		if t == elf.SHT_RELA {
			r.addend = int64(int32(o.Uint32(b[8:])))
		}
		return r
	}
	r.offset = o.Uint64(b)
	switch info := o.Uint64(b[8:]); f.machine {
	case elf.EM_MIPS:
		// Three relocations in one (64-bit ELF Object File Specification 2.9):
		// symbol, special symbol, third, second and first type. Data needs the first.
		r.symbol, r.typ = o.Uint32(b[8:]), uint32(b[15])
	case elf.EM_SPARCV9:
		r.symbol, r.typ = uint32(info>>32), uint32(info)&0xff // above it, data of R_SPARC_OLO10
	default:
		r.symbol, r.typ = uint32(info>>32), uint32(info)
	}
	if t == elf.SHT_RELA {
		r.addend = int64(o.Uint64(b[16:]))
	}
	return r
}

// problems collects errors, the first few in full.
type problems struct {
	list []error
	more int
}

func (p *problems) add(err error) {
	if len(p.list) < 8 {
		p.list = append(p.list, err)
	} else {
		p.more++
	}
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.list, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.list...)
}

// addAll adds err unless it is nil.
func (p *problems) addAll(err error) {
	if err != nil {
		p.add(err)
	}
}
