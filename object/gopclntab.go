// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// goTable reads .gopclntab, the table of functions and lines that every Go
// program carries, stripped or not ("Go 1.2 Runtime Symbol Information" and
// runtime/symtab.go). debug/gosym reads it too, but only into a slice with
// every function and a copy of every name.
type goTable struct {
	order   binary.ByteOrder
	magic   uint32
	word    int    // bytes of a pointer
	quantum uint64 // smallest step of the program counter, bytes
	text    uint64 // what functions' offsets are relative to; 0 where they are addresses
	field   int    // bytes of a number in the list of functions
	count   int
	first   uint64 // offset of the first function from text
	namesAt uint64 // where in the table names starts
	funcs   []byte // pairs of start and offset in data; the last has a start only
	data    []byte // function records
	names   []byte
	units   []byte // file number of a unit to offset in files; nil before Go 1.16
	files   []byte
	pcs     []byte // lists of steps
	calls   []byte // trees of inlined calls and other data of functions; nil where not found
}

// goFunction is one record.
type goFunction struct {
	entry, end uint64
	record     []byte // after the entry: 32-bit numbers
}

const (
	goMagic12  = 0xfffffffb
	goMagic116 = 0xfffffffa
	goMagic118 = 0xfffffff0
	goMagic120 = 0xfffffff1
)

func (f *File) openGoTable() (t *goTable, err error) {
	fault := Guard(func() error {
		data, address, ok := f.pclntab()
		if !ok {
			return nil
		}
		if t, err = newGoTable(data); err != nil || t.text == 0 {
			return nil
		}
		m, ok := f.goModule(t, address)
		if !ok {
			m.text, ok = f.goText(t)
		}
		if !ok {
			t, err = nil, errors.New(".gopclntab: the start of the Go code is not known")
			return nil
		}
		t.text = m.text
		if p, ok := f.segmentAt(m.data); ok && m.data != 0 {
			t.calls, _ = f.view(m.data, p.Vaddr+p.Memsz-m.data)
		}
		return nil
	})
	if fault != nil {
		return nil, fault
	}
	return t, err
}

// goText returns the address of runtime.text where there is no module to tell it.
// Without symbols it is the start of .text, which is right if the entry point
// is then in the table, as it is where Go's own linker linked the program.
func (f *File) goText(t *goTable) (addr uint64, ok bool) {
	if s, ok := f.Symbol("runtime.text"); ok {
		return s.Address, true
	}
	for i := range f.sectionCount() {
		if s := f.section(i); s.typ == elf.SHT_PROGBITS && hasName(f.names, uint64(s.name), ".text") {
			t.text = s.addr
			fn, ok := t.find(f.entry)
			return s.addr, ok && fn.entry == f.entry
		}
	}
	return 0, false
}

// isGarbled reports whether a table has another number for its magic, which garble
// (mvdan.cc/garble) makes one up for, and is one of Go 1.20 on in all else: then its
// parts follow its header, of eight words, one after the other.
func isGarbled(b []byte, magic uint32) bool {
	const header = 8 + 8*8
	if len(b) < header || magic >= goMagic118 && magic <= goMagic12 || b[4] != 0 || b[5] != 0 || b[7] != 8 {
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

func newGoTable(b []byte) (*goTable, error) {
	if len(b) < 16 {
		return nil, fmt.Errorf(".gopclntab: %d bytes", len(b))
	}
	t := &goTable{order: binary.LittleEndian, quantum: uint64(b[6]), word: int(b[7])}
	magic := t.order.Uint32(b)
	if b[0] == 0xff {
		t.order = binary.BigEndian
		magic = t.order.Uint32(b)
	}
	if isGarbled(b, magic) {
		magic = goMagic120
	}
	if t.word != 4 && t.word != 8 {
		return nil, fmt.Errorf(".gopclntab: pointers of %d bytes", t.word)
	}
	at := func(word int) uint64 {
		if i := 8 + word*t.word; i+t.word <= len(b) {
			return getUint(b[i:], t.order, t.word)
		}
		return 0
	}
	part := func(word int) []byte {
		return b[min(at(word), uint64(len(b))):]
	}
	t.field, t.magic = t.word, magic
	switch magic {
	case goMagic118, goMagic120:
		t.text, t.field, t.namesAt = 1, 4, at(3)
		t.names, t.units, t.files, t.pcs, t.data = part(3), part(4), part(5), part(6), part(7)
		t.funcs = t.data
	case goMagic116:
		t.names, t.units, t.files, t.pcs, t.data = part(2), part(3), part(4), part(5), part(6)
		t.funcs = t.data
	case goMagic12:
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
	t.first = getUint(t.funcs, t.order, t.field)
	return t, nil
}

// start returns the address of function i; that of function count is the end.
func (t *goTable) start(i int) uint64 {
	v := getUint(t.funcs[2*i*t.field:], t.order, t.field)
	return v + t.text
}

// find returns the function that holds addr.
func (t *goTable) find(addr uint64) (fn goFunction, ok bool) {
	i := sort.Search(t.count, func(i int) bool { return t.start(i) > addr }) - 1
	if i < 0 || addr >= t.start(i+1) {
		return fn, false
	}
	offset := getUint(t.funcs[(2*i+1)*t.field:], t.order, t.field)
	entry := t.word
	if t.text != 0 {
		entry = 4
	}
	if offset > uint64(len(t.data)) || uint64(len(t.data))-offset < uint64(entry)+32 {
		return fn, false
	}
	return goFunction{t.start(i), t.start(i + 1), t.data[offset+uint64(entry):]}, true
}

func (t *goTable) number(fn *goFunction, i int) uint32 { return t.order.Uint32(fn.record[4*i:]) }

func (t *goTable) name(fn *goFunction) string { return t.nameAt(t.number(fn, 0)) }

func (t *goTable) nameAt(offset uint32) string {
	return string(prefix(cString(t.names, uint64(offset)), maxGoName))
}

// maxGoName bounds a name; generic functions have long ones.
const maxGoName = 1 << 16

// position returns the file and line of addr in fn: where calls were inlined, of
// the innermost one.
func (t *goTable) position(fn *goFunction, addr uint64) (file string, line int) {
	number, ok := t.value(t.number(fn, goFile), fn.entry, addr)
	if ok && number >= 0 {
		offset := uint64(number) * 4
		if t.units == nil {
			// Go 1.2: the list of files follows that of functions, and counts itself.
			if list := (2*t.count + 1) * t.field; list+4 <= len(t.funcs) {
				table := uint64(t.order.Uint32(t.funcs[list:]))
				if at := table + offset; at+4 <= uint64(len(t.files)) {
					file = string(prefix(cString(t.files, uint64(t.order.Uint32(t.files[at:]))), maxGoName))
				}
			}
		} else if at := (uint64(t.number(fn, goUnit)) * 4) + offset; at+4 <= uint64(len(t.units)) {
			file = string(prefix(cString(t.files, uint64(t.order.Uint32(t.units[at:]))), maxGoName))
		}
	}
	if n, ok := t.value(t.number(fn, goLine), fn.entry, addr); ok {
		line = int(n)
	}
	if line < 0 { // garble -tiny leaves such ones, of no file
		return "", 0
	}
	return file, line
}

// value walks the list of steps at offset in pcs, of a function at pc, to the one that
// holds addr.
func (t *goTable) value(offset uint32, pc, addr uint64) (value int32, ok bool) {
	_, value, _, ok = t.seek(t.steps(offset), -1, pc, addr)
	return value, ok
}

// steps returns the list of steps at offset in pcs. No list is at 0
// (runtime/symtab.go, pcvalue).
func (t *goTable) steps(offset uint32) []byte {
	if offset == 0 || uint64(offset) >= uint64(len(t.pcs)) {
		return nil
	}
	return t.pcs[offset:]
}

// seek walks on in a list of steps, from a value that holds up to pc, to the step that
// holds addr: its value holds up to end, and rest follows it. A list starts from the
// value -1; the walk cannot go on from a later step that has it.
func (t *goTable) seek(b []byte, value int32, pc, addr uint64) (rest []byte, at int32, end uint64, ok bool) {
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

// findGo names what is not done through .gopclntab.
func (s *finder) findGo() (done int) {
	t, err := s.goTable()
	s.problems.addAll(err)
	if t == nil {
		return 0
	}
	for i := range s.queries {
		q := &s.queries[i]
		if q.done {
			continue
		}
		fn, ok := t.find(q.addr)
		if !ok {
			continue
		}
		name := t.name(&fn)
		if s.names -= len(name); name == "" || s.names < 0 {
			continue
		}
		s.symbols[q.index] = Symbol{
			Name: name, Address: fn.entry, Size: fn.end - fn.entry,
			Type: elf.STT_FUNC, Source: GoSymbols,
		}
		q.done = true
		done++
	}
	return done
}
