// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package gotable reads .gopclntab, the table of functions and lines that every Go
// program carries, stripped or not ("Go 1.2 Runtime Symbol Information" and
// runtime/symtab.go), and the list of modules that the Go runtime keeps in memory
// (runtime/symtab.go, moduledata).
//
// debug/gosym reads the table too, but only into a slice with every function and a
// copy of every name. A [Table] decodes only the functions that its callers need.
//
// The package opens no file. Every byte is hostile: a damaged function costs that
// function.
package gotable

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
)

// Table is a .gopclntab. Its methods may be called concurrently, SetCode excepted.
type Table struct {
	order   binary.ByteOrder
	magic   uint32
	word    int    // bytes of a pointer
	quantum uint64 // smallest step of the program counter, bytes
	text    uint64 // base address of function offsets; 0 if the table holds addresses
	field   int    // bytes of a number in the list of functions
	count   int
	first   uint64 // offset of the first function from text
	namesAt uint64 // offset of the names in the table
	funcs   []byte // pairs of start and offset in data; the last has a start only
	data    []byte // function records
	names   []byte
	units   []byte // file number of a unit to offset in files; nil before Go 1.16
	files   []byte
	pcs     []byte // lists of steps
	calls   []byte // trees of inlined calls and other data of functions; nil if unknown
	gaps    bool   // addresses between functions have a record of another entry
}

// Record is the record of a function.
type Record struct {
	Entry, End uint64 // its code: [Entry, End)
	numbers    []byte // after the entry: 32-bit numbers
}

// The magic numbers of the table's versions: the first release of Go that wrote each.
const (
	magic12  = 0xfffffffb
	magic116 = 0xfffffffa
	magic118 = 0xfffffff0
	magic120 = 0xfffffff1
)

// Search returns the offset in data of the first plausible table. Linkers other than
// Go's put the table into a section with other data.
func Search(data []byte) (offset int, ok bool) {
	const align = 32 // of a table in its section
	for at := 0; at+align <= len(data); at += align {
		// The magic, two bytes of zero, the machine's step, the size of a pointer.
		if data[at+1] != 0xff || data[at+2] != 0xff || data[at+4] != 0 || data[at+5] != 0 {
			continue
		}
		if t, err := New(data[at:]); err == nil && t.count > 0 && t.namesAt > 0 && t.namesAt < uint64(len(data)-at) {
			return at, true
		}
	}
	return 0, false
}

// isGarbled reports whether b is a table of Go 1.20 or later in which garble
// (mvdan.cc/garble) has replaced the magic by a random number. The parts of such a table
// follow the header of eight words, in their order.
func isGarbled(b []byte, magic uint32) bool {
	const header = 8 + 8*8
	if len(b) < header || magic >= magic118 && magic <= magic12 || b[4] != 0 || b[5] != 0 || b[7] != 8 {
		return false
	}
	words := b[8:header]
	last := uint64(header)
	for word := 3; word < 8; word++ {
		at := binary.LittleEndian.Uint64(words[8*word:])
		if at < last || at >= uint64(len(b)) || word == 3 && at != header {
			return false
		}
		last = at
	}
	return true
}

// New reads the header of the table at the start of b, which the Table refers to. A table
// for which [Table.IsRelative] is true is used after [Table.SetCode] only.
func New(b []byte) (*Table, error) {
	if len(b) < 16 {
		return nil, fmt.Errorf(".gopclntab: %d bytes", len(b))
	}
	t := &Table{order: binary.LittleEndian, quantum: uint64(b[6]), word: int(b[7])}
	magic := t.order.Uint32(b)
	if b[0] == 0xff {
		t.order = binary.BigEndian
		magic = t.order.Uint32(b)
	}
	if isGarbled(b, magic) {
		magic = magic120
	}
	if t.word != 4 && t.word != 8 {
		return nil, fmt.Errorf(".gopclntab: pointers of %d bytes", t.word)
	}
	at := func(word int) uint64 {
		if i := 8 + word*t.word; i+t.word <= len(b) {
			return t.uint(b[i:], t.word)
		}
		return 0
	}
	part := func(word int) []byte {
		return b[min(at(word), uint64(len(b))):]
	}
	t.field, t.magic = t.word, magic
	switch magic {
	case magic118, magic120:
		t.text, t.field, t.namesAt = 1, 4, at(3)
		t.names, t.units, t.files, t.pcs, t.data = part(3), part(4), part(5), part(6), part(7)
		t.funcs = t.data
	case magic116:
		t.names, t.units, t.files, t.pcs, t.data = part(2), part(3), part(4), part(5), part(6)
		t.funcs = t.data
	case magic12:
		t.names, t.files, t.pcs, t.data = b, b, b, b
		t.funcs = b[min(8+t.word, len(b)):]
	default:
		return nil, fmt.Errorf(".gopclntab: magic %#x is not known", magic)
	}
	most := uint64(len(t.funcs)/t.field-1) / 2
	if len(t.funcs) < t.field || at(0) > most {
		return nil, fmt.Errorf(".gopclntab: %d functions in %d bytes", at(0), len(t.funcs))
	}
	t.count = int(at(0))
	t.first = t.uint(t.funcs, t.field)
	return t, nil
}

// IsRelative reports whether the table holds offsets of functions, as since Go 1.18, and
// not their addresses.
func (t *Table) IsRelative() bool { return t.text != 0 }

// SetCode sets the address that the offsets of functions are relative to (runtime.text),
// and the data from go:func.* on, which are nil if unknown.
func (t *Table) SetCode(text uint64, functionData []byte) { t.text, t.calls = text, functionData }

// WordSize returns the size of a pointer in bytes.
func (t *Table) WordSize() int { return t.word }

// uint reads a number of 4 or 8 bytes.
func (t *Table) uint(b []byte, size int) uint64 {
	if size == 4 {
		return uint64(t.order.Uint32(b))
	}
	return t.order.Uint64(b)
}

// Count returns the number of functions.
func (t *Table) Count() int { return t.count }

// Start returns the address of function i, in ascending order; that of function Count is
// the end of the code.
func (t *Table) Start(i int) uint64 {
	return t.uint(t.funcs[2*i*t.field:], t.field) + t.text
}

// Find returns the function that contains addr.
func (t *Table) Find(addr uint64) (fn Record, ok bool) {
	i := sort.Search(t.count, func(i int) bool { return t.Start(i) > addr }) - 1
	if i < 0 || addr >= t.Start(i+1) {
		return fn, false
	}
	offset := t.uint(t.funcs[(2*i+1)*t.field:], t.field)
	entry := t.word
	if t.text != 0 || t.gaps {
		entry = 4
	}
	if offset > uint64(len(t.data)) || uint64(len(t.data))-offset < uint64(entry)+32 {
		return fn, false
	}
	if t.gaps && uint64(t.order.Uint32(t.data[offset:]))+t.text != t.Start(i) {
		return fn, false
	}
	return Record{t.Start(i), t.Start(i + 1), t.data[offset+uint64(entry):]}, true
}

// number returns a number of a record: see numberStack.
func (t *Table) number(fn *Record, i int) uint32 { return t.order.Uint32(fn.numbers[4*i:]) }

// Name returns the name of a function, at most 64 KiB of it.
func (t *Table) Name(fn *Record) string { return stringAt(t.names, uint64(t.number(fn, 0))) }

// HasName reports whether a function is called name.
func (t *Table) HasName(fn *Record, name string) bool {
	at := uint64(t.number(fn, 0))
	end := at + uint64(len(name))
	return end < uint64(len(t.names)) && t.names[end] == 0 && string(t.names[at:end]) == name
}

// maxName bounds a name; generic functions have long ones.
const maxName = 1 << 16

// stringAt returns the string at an offset of b, up to a NUL or the end.
func stringAt(b []byte, offset uint64) string {
	if offset >= uint64(len(b)) {
		return ""
	}
	b = b[offset:]
	b = b[:min(len(b), maxName)]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// Position returns the file and line of addr in fn: with inlined calls, those of the
// innermost one.
func (t *Table) Position(fn *Record, addr uint64) (file string, line int) {
	number, ok := t.value(t.number(fn, numberFile), fn.Entry, addr)
	if ok && number >= 0 {
		offset := uint64(number) * 4
		if t.units == nil {
			// Go 1.2: the list of files follows that of functions, and counts itself.
			if list := (2*t.count + 1) * t.field; list+4 <= len(t.funcs) {
				table := uint64(t.order.Uint32(t.funcs[list:]))
				if at := table + offset; at+4 <= uint64(len(t.files)) {
					file = stringAt(t.files, uint64(t.order.Uint32(t.files[at:])))
				}
			}
		} else if at := (uint64(t.number(fn, numberUnit)) * 4) + offset; at+4 <= uint64(len(t.units)) {
			file = stringAt(t.files, uint64(t.order.Uint32(t.units[at:])))
		}
	}
	if n, ok := t.value(t.number(fn, numberLine), fn.Entry, addr); ok {
		line = int(n)
	}
	if line < 0 { // garble -tiny writes such lines, without a file
		return "", 0
	}
	return file, line
}

// value returns the value at addr in the list of steps at an offset of pcs. The function
// starts at pc.
func (t *Table) value(offset uint32, pc, addr uint64) (value int32, ok bool) {
	_, value, _, ok = t.seek(t.steps(offset), -1, pc, addr)
	return value, ok
}

// steps returns the list of steps at offset in pcs. No list is at 0
// (runtime/symtab.go, pcvalue).
func (t *Table) steps(offset uint32) []byte {
	if offset == 0 || uint64(offset) >= uint64(len(t.pcs)) {
		return nil
	}
	return t.pcs[offset:]
}

// seek continues in a list of steps, with the value that applies up to pc, to the step
// that contains addr. The value at addr applies up to end; rest is the list after it.
// A list starts with the value -1; seek cannot continue from a later step with it.
func (t *Table) seek(b []byte, value int32, pc, addr uint64) (rest []byte, at int32, end uint64, ok bool) {
	for first := value == -1; ; first = false {
		delta, n := binary.Uvarint(b)
		if n <= 0 || delta == 0 && !first {
			return nil, 0, 0, false
		}
		value += int32(uint32(delta)>>1) ^ -int32(delta&1)
		step, k := binary.Uvarint(b[n:])
		if k <= 0 {
			return nil, 0, 0, false
		}
		b = b[n+k:]
		pc += step * t.quantum
		if addr < pc {
			return b, value, pc, true
		}
	}
}
