// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// row describes one machine. The table contains a Machine for each class and byte order that a
// header can have, so that files with unusual ones (big-endian i386) can be read.
type row struct {
	name    string // in the natural byte order
	machine elf.Machine
	class   elf.Class
	data    elf.Data // the natural byte order
	flags   bool     // selected by e_flags only, see LookupFlags

	registerSize int // 0 means the size of an address
	code         uint64
	factor       int64 // data alignment
	sp, fp, ra   int
	pc           int // or 0
	cfaOffset    int64
	returnOffset int64
	modeBits     uint64 // bits of a code pointer that are not the address

	description  *Description  // or nil
	instructions *instructions // or nil

	names   []run // other than those of readelf
	aliases []run
	saved   []span

	readelf      []run
	readelfLimit uint64 // 0 if readelf has no names
	csr          bool
}

// run is the names of consecutive columns, separated by spaces. "xmm[0-15]" is sixteen names.
type run struct {
	first int
	names string
}

// span is an inclusive range of columns.
type span struct{ first, last int }

// efMIPSABI2 is EF_MIPS_ABI2: the file follows the n32 ABI.
const efMIPSABI2 = 0x20

// family contains the machines of the table for one e_machine.
type family struct {
	natural  *Machine       // for a header without a valid class or byte order
	variants [3][2]*Machine // by slot and byte order
}

// slots of family.variants
const (
	slot32 = iota
	slot64
	slotFlags // selected by e_flags
)

// families caches the *family of each requested e_machine. A program needs one or two.
var families sync.Map

// rows yields the rows of the table.
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

// familyOf returns the machines of the table for an e_machine, or nil if it is unknown.
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

// newFamily makes the machines of one e_machine. A row is used for its own class and, if there
// is no row of the other class, for that class too; each in both byte orders. The first row is
// the usual machine.
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

// describe returns the row's description for a class. It omits layouts for the other class.
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

// newMachine returns a machine with only the facts in the header of its files.
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

// Lookup returns the machine of an ELF header. For MIPS with 32-bit addresses it returns the o32
// ABI. It never returns nil: an unknown machine has the header's width and byte order, the name
// that ELFName returns ("EM_AVR"), no special columns, and registers named by their number. For
// a class or byte order that ELF does not define, Lookup uses the machine's usual one (for an
// unknown machine: 64 bits, little-endian). A result from the table is shared. Concurrent calls
// are allowed.
func Lookup(machine elf.Machine, class elf.Class, data elf.Data) *Machine {
	return LookupFlags(machine, class, data, 0)
}

// LookupFlags is like Lookup, with the header's e_flags, which distinguish MIPS n32 from o32.
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
	// Plain names come before patterns: "arm64" must not match "arm*".
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
						class = elf.ELFCLASS64 // even if the row has 32 bits
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

// expand returns the names of runs by column.
func expand(lists ...[]run) []string {
	var out []string
	for _, a := range expandAliases(slices.Concat(lists...)) {
		if missing := int(a.column) + 1 - len(out); missing > 0 {
			out = append(out, make([]string, missing)...)
		}
		out[a.column] = a.name
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
