// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// ErrVersion means that a serialised description is of another version of this package, or for
// another machine. A code cache then drops its entry.
var ErrVersion = errors.New("description of another version")

// The serialised form: binaryMagic, binaryVersion, the machine, tables of strings, CIEs, unwind
// tables and inlined calls, the functions, and a CRC-32 of all that. Numbers are varints as in
// encoding/binary. An index into a table is 0 for none, or counts from 1. Strings are tables of
// bytes with their lengths.
const (
	binaryMagic   = "clew-jit"
	binaryVersion = 1
)

// AppendBinary appends the description in a form for code caches: everything except the addresses
// and the bytes of the machine code. It calls NameOf and LinesOf. The error wraps ErrCode for an
// invalid description, or for an unwind table with a personality or an LSDA, which are addresses.
func (c *Code) AppendBinary(b []byte) ([]byte, error) {
	if err := c.Check(); err != nil {
		return b, err
	}
	c, err := c.Resolve(true)
	if err != nil {
		return b, err
	}
	m := c.Machine
	if m == nil {
		m = Host()
	}
	w := descriptionWriter{strings: newTable[string](), cies: newTable[*cfi.CIE](), programs: newTable[*cfi.Program](), calls: newTable[*Call]()}
	w.functions(c)
	if w.err != nil {
		return b, w.err
	}
	base := len(b)
	b = append(b, binaryMagic...)
	b = binary.AppendUvarint(b, binaryVersion)
	b = binary.AppendUvarint(b, uint64(m.ELF))
	b = append(b, byte(m.Class), byte(dataOf(m)))
	for _, t := range []struct {
		count int
		data  []byte
	}{{len(w.strings.index), w.strings.data}, {len(w.cies.index), w.cies.data}, {len(w.programs.index), w.programs.data},
		{len(w.calls.index), w.calls.data}, {len(c.Functions), w.data}} {
		b = binary.AppendUvarint(b, uint64(t.count))
		b = append(b, t.data...)
	}
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[base:])), nil
}

func dataOf(m *arch.Machine) elf.Data {
	if m.Order == binary.BigEndian {
		return elf.ELFDATA2MSB
	}
	return elf.ELFDATA2LSB
}

// table numbers values from 1, and contains their serialised form.
type table[T comparable] struct {
	index map[T]uint64
	data  []byte
}

func newTable[T comparable]() table[T] { return table[T]{index: make(map[T]uint64)} }

type descriptionWriter struct {
	strings  table[string]
	cies     table[*cfi.CIE]
	programs table[*cfi.Program]
	calls    table[*Call]
	data     []byte // of the batch and its functions
	err      error
}

func appendNumbers(b []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func (w *descriptionWriter) functions(c *Code) {
	w.data = appendNumbers(nil, w.string(c.Name), uint64(len(c.Ranges)))
	for i := range c.Functions {
		f := &c.Functions[i]
		if f.Size == 0 {
			w.data = appendNumbers(w.data, 0)
			continue
		}
		w.data = appendNumbers(w.data, f.Size, w.string(f.Name), uint64(f.Range), f.Offset, flags(f))
		if len(f.Pointers) > 0 {
			w.pointers(f.Pointers)
		}
		w.data = appendNumbers(w.data, w.program(f.Unwind), uint64(len(f.Lines)))
		if w.err != nil {
			w.err = FunctionErrors{c.Fault(i, w.err)}
			return
		}
		offset := uint64(0)
		for k := range f.Lines {
			l := &f.Lines[k]
			w.data = appendNumbers(w.data, l.Offset-offset, w.string(l.File), uint64(l.Line), uint64(l.Column), w.call(l.Inlined))
			offset = l.Offset
		}
	}
}

// The flags of a function.
const (
	flagSwitches = 1 << iota
	flagPointers
)

func flags(f *Function) (n uint64) {
	if f.SwitchesStack {
		n |= flagSwitches
	}
	if len(f.Pointers) > 0 {
		n |= flagPointers
	}
	return n
}

// pointers writes offsets, which are negative.
func (w *descriptionWriter) pointers(offsets []int64) {
	w.data = appendNumbers(w.data, uint64(len(offsets)))
	for _, o := range offsets {
		if o >= 0 {
			w.err = fmt.Errorf("%w: a pointer at CFA+%d, outside of the frame", ErrCode, o)
		}
		w.data = appendNumbers(w.data, uint64(-o))
	}
}

func (w *descriptionWriter) string(s string) uint64 {
	n, ok := w.strings.index[s]
	if !ok && s != "" {
		n = uint64(len(w.strings.index) + 1)
		w.strings.index[s] = n
		w.strings.data = append(appendNumbers(w.strings.data, uint64(len(s))), s...)
	}
	return n
}

func (w *descriptionWriter) program(p *cfi.Program) uint64 {
	if p == nil {
		return 0
	}
	n, ok := w.programs.index[p]
	if !ok {
		if p.LSDA != (cfi.Pointer{}) {
			w.err = fmt.Errorf("%w: an unwind table with an LSDA cannot be serialised", ErrCode)
		}
		t := &w.programs
		t.data = appendNumbers(t.data, w.cie(p.CIE), p.End, uint64(len(p.Instructions)))
		t.data = append(t.data, p.Instructions...)
		n = uint64(len(t.index) + 1)
		t.index[p] = n
	}
	return n
}

func (w *descriptionWriter) cie(c *cfi.CIE) uint64 {
	n, ok := w.cies.index[c]
	if !ok {
		if c.PersonalityEnc != cfi.EncOmit || c.LSDAEncoding != cfi.EncOmit {
			w.err = fmt.Errorf("%w: an unwind table with a personality or an LSDA cannot be serialised", ErrCode)
		}
		flags := uint64(0)
		for i, f := range []bool{c.SignalFrame, c.BKey, c.MTETagged} {
			if f {
				flags |= 1 << i
			}
		}
		t := &w.cies
		t.data = appendNumbers(t.data, c.CodeAlign)
		t.data = binary.AppendVarint(t.data, c.DataAlign)
		t.data = appendNumbers(t.data, c.ReturnAddress, flags, uint64(len(c.Instructions)))
		t.data = append(t.data, c.Instructions...)
		n = uint64(len(t.index) + 1)
		t.index[c] = n
	}
	return n
}

func (w *descriptionWriter) call(c *Call) uint64 {
	if c == nil {
		return 0
	}
	n, ok := w.calls.index[c]
	if !ok {
		outer := w.call(c.Outer) // Check limits the depth
		t := &w.calls
		t.data = appendNumbers(t.data, w.string(c.Function), w.string(c.File), uint64(c.Line), uint64(c.Column), outer)
		n = uint64(len(t.index) + 1)
		t.index[c] = n
	}
	return n
}

// UnmarshalBinary sets c to a description that AppendBinary wrote. The caller then sets the
// addresses and the bytes of the machine code: Address and Text, and those of all Ranges, which
// may be other addresses than before. Nothing refers to data. The error wraps ErrVersion if the
// description is of another version or for another machine than that of this program, and
// ErrCode if it is damaged; c is then unchanged.
func (c *Code) UnmarshalBinary(data []byte) error {
	r := descriptionReader{rest: data}
	if string(r.bytes(uint64(len(binaryMagic)))) != binaryMagic {
		return fmt.Errorf("%w: %d bytes that do not start with %q", ErrCode, len(data), binaryMagic)
	}
	if version := r.number(math.MaxInt32); version != binaryVersion {
		return fmt.Errorf("%w: version %d, expected %d", ErrVersion, version, binaryVersion)
	}
	end := len(data) - crc32.Size
	if r.failed || end < 0 || crc32.ChecksumIEEE(data[:end]) != binary.BigEndian.Uint32(data[end:]) {
		return fmt.Errorf("%w: the checksum of %d bytes is wrong", ErrCode, len(data))
	}
	r.rest = r.rest[:len(r.rest)-crc32.Size]
	machine, kind := elf.Machine(r.number(math.MaxUint16)), r.bytes(2)
	if r.failed {
		return r.error()
	}
	r.machine = Host()
	if m := arch.Lookup(machine, elf.Class(kind[0]), elf.Data(kind[1])); m == nil || m != r.machine {
		return fmt.Errorf("%w: it is for %v, not for the machine of this program", ErrVersion, machine)
	}
	code := Code{Machine: r.machine}
	r.tables()
	r.functions(&code)
	if r.failed || len(r.rest) > 0 {
		return r.error()
	}
	*c = code
	return nil
}

type descriptionReader struct {
	rest     []byte
	failed   bool
	machine  *arch.Machine
	strings  []string
	cies     []*cfi.CIE
	programs []*cfi.Program
	calls    []*Call
}

func (r *descriptionReader) error() error {
	return fmt.Errorf("%w: damaged, %d bytes before its end", ErrCode, len(r.rest))
}

// number reads a number of at most limit.
func (r *descriptionReader) number(limit uint64) uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > limit || r.failed {
		r.failed = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// count reads the number of elements that follow, each of at least one byte.
func (r *descriptionReader) count() uint64 { return r.number(uint64(len(r.rest))) }

func (r *descriptionReader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) || r.failed {
		r.failed = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// element returns the element of a table that the next number refers to.
func element[T any](r *descriptionReader, table []T) (v T) {
	if n := r.number(uint64(len(table))); n > 0 {
		v = table[n-1]
	}
	return v
}

func (r *descriptionReader) tables() {
	for range r.count() {
		r.strings = append(r.strings, string(r.bytes(r.count())))
	}
	for range r.count() {
		cie := cfi.NewCIE(r.machine)
		cie.CodeAlign = r.number(math.MaxUint64)
		align, n := binary.Varint(r.rest)
		r.bytes(uint64(max(n, 0)))
		r.failed = r.failed || n <= 0
		cie.DataAlign = align
		cie.ReturnAddress = r.number(math.MaxUint64)
		flags := r.number(7)
		cie.SignalFrame, cie.BKey, cie.MTETagged = flags&1 != 0, flags&2 != 0, flags&4 != 0
		cie.Instructions = append([]byte(nil), r.bytes(r.count())...)
		r.cies = append(r.cies, cie)
	}
	for range r.count() {
		cie, end := element(r, r.cies), r.number(math.MaxUint64)
		instructions := append([]byte(nil), r.bytes(r.count())...)
		if r.failed || cie == nil {
			r.failed = true
			return
		}
		p, err := cfi.NewProgram(cie, instructions, end)
		if err != nil {
			r.failed = true
			return
		}
		r.programs = append(r.programs, p)
	}
	for range r.count() {
		r.calls = append(r.calls, &Call{Function: element(r, r.strings), File: element(r, r.strings),
			Line: int(r.number(math.MaxInt32)), Column: int(r.number(math.MaxInt32)), Outer: element(r, r.calls)})
		if r.failed {
			return
		}
	}
}

func (r *descriptionReader) functions(c *Code) {
	n := r.count()
	c.Name = element(r, r.strings)
	if ranges := r.count(); ranges > 0 {
		c.Ranges = make([]Range, ranges)
	}
	for i := uint64(0); i < n && !r.failed; i++ {
		f := Function{Size: r.number(math.MaxUint64)}
		if f.Size > 0 {
			f.Name, f.Range, f.Offset = element(r, r.strings), int(r.number(uint64(len(c.Ranges)))), r.number(math.MaxUint64)
			flags := r.number(flagSwitches | flagPointers)
			f.SwitchesStack = flags&flagSwitches > 0
			if flags&flagPointers > 0 {
				f.Pointers = r.pointers()
			}
			f.Unwind = element(r, r.programs)
			f.Lines = r.lines()
		}
		c.Functions = append(c.Functions, f)
	}
}

func (r *descriptionReader) pointers() (offsets []int64) {
	for range r.count() {
		below := r.number(math.MaxInt64)
		if r.failed = r.failed || below == 0; r.failed {
			return nil
		}
		offsets = append(offsets, -int64(below))
	}
	return offsets
}

func (r *descriptionReader) lines() (lines []Line) {
	offset := uint64(0)
	for range r.count() {
		offset += r.number(math.MaxUint64)
		lines = append(lines, Line{offset, element(r, r.strings), int(r.number(math.MaxInt32)), int(r.number(math.MaxInt32)), element(r, r.calls)})
		if r.failed {
			return nil
		}
	}
	return lines
}
