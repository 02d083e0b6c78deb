// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
	"math"
	"path"
	"strconv"
	"strings"
	"sync"
)

// row is one machine as its file states it. The table holds a Machine for each
// class and byte order a header can claim, so that a file with an unusual one
// (big-endian i386) still reads.
type row struct {
	name    string // of the natural byte order
	machine elf.Machine
	class   elf.Class
	data    elf.Data // the natural byte order: the one that name stands for
	flags   bool     // chosen by e_flags only, see LookupFlags

	registerSize int // 0: the size of an address
	code         uint64
	factor       int64 // data alignment
	sp, fp, ra   int
	pc           int // 0: none
	cfaOffset    int64
	returnOffset int64
	modeBits     uint64 // of a code pointer: those that are not the address

	description  *Description  // nil where nothing is known
	instructions *instructions // nil where none are known

	names   []run // besides those of readelf
	aliases []run
	saved   []span

	readelf      []run
	readelfLimit uint64 // 0: readelf has no names
	csr          bool
}

// run names consecutive columns: names are separated by spaces, and
// "xmm[0-15]" stands for sixteen of them.
type run struct {
	first int
	names string
}

// span is an inclusive range of columns.
type span struct{ first, last int }

// efMIPSABI2 is EF_MIPS_ABI2: the file follows the n32 ABI.
const efMIPSABI2 = 0x20

// family is what the table holds for one e_machine.
type family struct {
	natural  *Machine       // what a header without a valid class or byte order means
	variants [3][2]*Machine // by slot and byte order
}

// slots of family.variants
const (
	slot32 = iota
	slot64
	slotFlags // chosen by e_flags
)

// families holds the *family of each e_machine that was asked for: a program
// meets one or two.
var families sync.Map

// rows visits the table.
func rows(visit func(r *row) bool) {
	for _, file := range [...][]row{
		x86Rows, armRows, riscvRows, powerRows, s390Rows, loongRows,
		mipsRows, sparcRows, otherRows,
	} {
		for i := range file {
			if !visit(&file[i]) {
				return
			}
		}
	}
}

// familyOf returns what the table holds for an e_machine, nil for an unknown one.
func familyOf(machine elf.Machine) *family {
	if f, ok := families.Load(machine); ok {
		return f.(*family)
	}
	var list []*row
	for r := range rows {
		if r.machine == machine {
			list = append(list, r)
		}
	}
	if list == nil {
		return nil
	}
	f, _ := families.LoadOrStore(machine, newFamily(list))
	return f.(*family)
}

// newFamily lays out the rows of one e_machine. A row stands under its own
// class and, unless there is a row of that class, under the other one; each in
// both byte orders. The first row is the usual one.
func newFamily(rows []*row) *family {
	f := new(family)
	for i, r := range rows {
		names, readelf, aliases := expand(r.readelf, r.names), expand(r.readelf), expandAliases(r.aliases)
		for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
			slot := classSlot(class)
			if r.flags {
				slot = slotFlags
			}
			if class != r.class && (r.flags || f.variants[slot][0] != nil) {
				continue
			}
			for o, data := range []elf.Data{elf.ELFDATA2LSB, elf.ELFDATA2MSB} {
				m := newMachine(r.machine, class, data)
				m.Name = r.name
				if data != r.data {
					m.Name += [...]string{"le", "be"}[o]
				}
				if r.registerSize != 0 {
					m.RegisterSize = r.registerSize
				}
				m.CodeAlign, m.DataAlign = r.code, r.factor
				m.StackPointer, m.FramePointer, m.ReturnAddress = r.sp, r.fp, r.ra
				m.ReturnOffset = r.returnOffset
				m.CodeMask &^= r.modeBits
				if m.CFAOffset = r.cfaOffset; r.pc != 0 {
					m.ProgramCounter = r.pc
				}
				m.names, m.readelf, m.aliases, m.csr = names, readelf, aliases, r.csr
				m.Description = r.describe(class)
				if r.instructions != nil {
					m.code = *r.instructions
				}
				if r.readelfLimit != 0 {
					m.readelfLimit = r.readelfLimit
				}
				for _, s := range r.saved {
					m.saved.add(s.first, s.last)
				}
				f.variants[slot][o] = m
				if i == 0 && class == r.class && data == r.data {
					f.natural = m
				}
			}
		}
	}
	return f
}

// describe returns the row's description for a class. Layouts are those of its own class.
func (r *row) describe(class elf.Class) Description {
	if r.description == nil {
		return Description{}
	}
	d := *r.description
	if class != r.class {
		d.General, d.Floats, d.SignalFrames = nil, nil, nil
	}
	return d
}

func classSlot(class elf.Class) int {
	if class == elf.ELFCLASS64 {
		return slot64
	}
	return slot32
}

// newMachine is a machine of which only the header of its files is known.
func newMachine(machine elf.Machine, class elf.Class, data elf.Data) *Machine {
	m := &Machine{
		Name:           ELFName(machine),
		ELF:            machine,
		Class:          class,
		Order:          binary.LittleEndian,
		AddressSize:    8,
		CodeMask:       math.MaxUint64,
		CodeAlign:      1,
		StackPointer:   -1,
		FramePointer:   -1,
		ReturnAddress:  -1,
		ProgramCounter: -1,
		readelfLimit:   readelfUnnamedLimit,
	}
	if class == elf.ELFCLASS32 {
		m.AddressSize, m.CodeMask = 4, math.MaxUint32
	}
	if data == elf.ELFDATA2MSB {
		m.Order = binary.BigEndian
	}
	m.RegisterSize = m.AddressSize
	m.DataAlign = -int64(m.AddressSize)
	return m
}

// Lookup returns the machine that an ELF header names. For MIPS with 32-bit addresses
// it returns the o32 ABI. It never returns nil: an unknown machine has the header's
// width and byte order, the name that ELFName returns ("EM_AVR"), no special columns,
// and registers named by their number. For a class or byte order that ELF does not
// define, Lookup uses the machine's usual one (for an unknown machine: 64 bits,
// little-endian). A result from the table is shared. Lookup may be called from several
// goroutines.
func Lookup(machine elf.Machine, class elf.Class, data elf.Data) *Machine {
	return LookupFlags(machine, class, data, 0)
}

// LookupFlags is like Lookup, with the header's e_flags, which distinguish MIPS n32
// from o32. They are ignored for other machines.
func LookupFlags(machine elf.Machine, class elf.Class, data elf.Data, flags uint32) *Machine {
	f := familyOf(machine)
	if class != elf.ELFCLASS32 && class != elf.ELFCLASS64 {
		class = elf.ELFCLASS64
		if f != nil {
			class = f.natural.Class
		}
	}
	big := data == elf.ELFDATA2MSB
	if !big && data != elf.ELFDATA2LSB {
		data = elf.ELFDATA2LSB
		big = f != nil && f.natural.Order == binary.BigEndian
	}
	if f == nil {
		m := newMachine(machine, class, data)
		m.Description = describeUnlisted(machine)
		return m
	}
	slot, order := classSlot(class), 0
	if machine == elf.EM_MIPS && class == elf.ELFCLASS32 && flags&efMIPSABI2 != 0 {
		slot = slotFlags
	}
	if big {
		order = 1
	}
	return f.variants[slot][order]
}

// LookupUname returns the machine for which uname -m prints name, or nil if the name is
// unknown.
func LookupUname(name string, data elf.Data) *Machine {
	// Plain names come before patterns: "arm64" is not a form of "arm*".
	for _, pattern := range []bool{false, true} {
		for r := range rows {
			if r.description == nil {
				continue
			}
			for uname := range strings.FieldsSeq(r.description.Uname) {
				found, _ := path.Match(uname, name)
				if found && pattern == strings.ContainsAny(uname, "*?") {
					class := r.class
					if strings.HasSuffix(uname, "64") {
						class = elf.ELFCLASS64 // also where the row is of 32 bits
					}
					return Lookup(r.machine, class, data)
				}
			}
		}
	}
	return nil
}

// LookupGo returns the machine of a GOARCH without its suffix "le", or nil if the
// GOARCH is unknown.
func LookupGo(goarch string, data elf.Data) *Machine {
	for r := range rows {
		if d := r.description; d != nil && d.Go != nil && d.Go.Arch == goarch && goarch != "" {
			return Lookup(r.machine, r.class, data)
		}
	}
	return nil
}

// CompatibleMachine returns the 32-bit machine whose programs a kernel of m can run, or
// nil if there is none.
func (m *Machine) CompatibleMachine() *Machine {
	if m.Compatible == elf.EM_NONE {
		return nil
	}
	data := elf.ELFDATA2LSB
	if m.Order == binary.BigEndian {
		data = elf.ELFDATA2MSB
	}
	return Lookup(m.Compatible, elf.ELFCLASS32, data)
}

// expand lays runs out by column.
func expand(lists ...[]run) []string {
	var out []string
	for _, runs := range lists {
		for _, r := range runs {
			for i, name := range expandNames(r.names) {
				for r.first+i >= len(out) {
					out = append(out, "")
				}
				out[r.first+i] = name
			}
		}
	}
	return out
}

func expandAliases(runs []run) []alias {
	var out []alias
	for _, r := range runs {
		for i, name := range expandNames(r.names) {
			out = append(out, alias{name, uint64(r.first + i)})
		}
	}
	return out
}

func expandNames(names string) []string {
	var out []string
	for name := range strings.FieldsSeq(names) {
		before, rest, found := strings.Cut(name, "[")
		if !found {
			out = append(out, name)
			continue
		}
		bounds, after, _ := strings.Cut(rest, "]")
		first, last, _ := strings.Cut(bounds, "-")
		lo, errLo := strconv.Atoi(first)
		hi, errHi := strconv.Atoi(last)
		if errLo != nil || errHi != nil {
			panic("arch: invalid range in the table of registers: " + name)
		}
		for n := lo; n <= hi; n++ {
			out = append(out, before+strconv.Itoa(n)+after)
		}
	}
	return out
}
