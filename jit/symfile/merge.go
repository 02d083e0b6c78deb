// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/internal/leb128"
)

// merged is a function that is copied from one image to another.
type merged struct {
	start, size uint64
	owned       textRange // the function and the memory around it that belongs to no other
	name        []byte
	source      int
	text        int // number of the section in the new image

	cie          *cfi.CIE // nil without an unwind table
	instructions []byte

	calls      []byte // with the end of the function's children, or nil
	rows       []byte // its sequence after the address, empty without lines
	file, line uint32 // of its entry, as in the source

	switches bool // it changes stacks: see morestack
}

// before reports whether data at an address belongs to a function after f, or, if f has such
// data already, to another function with the same start. Overlapping functions are an
// error of the publisher, but must not affect other functions.
func (f *merged) before(start uint64, has bool) bool {
	return f.start < start || f.start == start && has
}

// Merge appends to dst one image of the functions in several images, which Append or Merge
// made. Keep selects functions by their start, an address; a nil keep selects all. Merge
// keeps their names, unwind tables, lines and source files; the unit has the name of the
// first image. Without functions it appends nothing. The result does not refer to the
// images.
//
// On an error dst is returned unchanged. The error wraps [ErrImage] for an image that this
// package did not make or that was damaged, or [ErrTooLarge].
//
// Merge takes about as long as Append. It allocates if dst has to grow, and a little for
// each image and source file. It may be called concurrently. Ranges of code that were
// withdrawn are not part of the new image: other code may be placed there.
func Merge(dst []byte, images [][]byte, keep func(start uint64) bool) ([]byte, error) {
	e := encoders.Get().(*encoder)
	base := len(dst)
	e.dst = dst
	err := e.merge(images, keep)
	image := e.end()
	encoders.Put(e) // not if keep panics: the encoder is not empty then
	if err != nil {
		return image[:base], err
	}
	return image, nil
}

func (e *encoder) merge(images [][]byte, keep func(uint64) bool) error {
	e.images = slices.Grow(e.images, len(images))[:len(images)]
	e.numbers, e.bytes = e.numbers[:0], 0
	for i := range images {
		s := &e.images[i]
		*s = source{}
		if err := s.parse(images[i]); err != nil {
			return fmt.Errorf("image %d: %w", i, err)
		}
		e.bytes += len(images[i])
		if s.machine != e.images[0].machine {
			return fmt.Errorf("%w: image %d is for %s, image 0 for %s", ErrImage, i, s.machine.Name, e.images[0].machine.Name)
		}
	}
	if len(images) == 0 {
		return nil
	}
	e.machine = e.images[0].machine
	name := e.unitName()
	// If the images are already in the order of their code, nothing is sorted below.
	slices.SortStableFunc(e.images, func(a, b source) int { return cmp.Compare(a.first(), b.first()) })
	for i := range e.images {
		if err := e.take(i, keep); err != nil {
			return fmt.Errorf("image of the functions from %#x on: %w", e.images[i].first(), err)
		}
	}
	if len(e.functions) == 0 {
		return nil
	}
	byStart := func(a, b merged) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(e.functions, byStart) {
		slices.SortStableFunc(e.functions, byStart)
	}
	return e.write(name)
}

// unitName returns the name of the new image's unit.
func (e *encoder) unitName() []byte {
	for i := range e.images {
		if n := e.images[i].unitName; len(n) > 0 {
			return n
		}
	}
	return []byte(defaultName)
}

// first returns the address of the first function.
func (s *source) first() uint64 {
	if len(s.symbols) == 0 {
		return 0
	}
	return binary.LittleEndian.Uint64(s.symbols[8:])
}

// take adds the kept functions of an image.
//
// Each section of an image is in the order of the symbols, so that one pass finds the
// data of each function.
func (e *encoder) take(image int, keep func(uint64) bool) error {
	s := &e.images[image]
	base := len(e.functions)
	if err := e.takeSymbols(image, keep); err != nil {
		return err
	}
	functions := e.functions[base:]
	if len(s.frames) > 0 && len(functions) > 0 {
		i := 0
		for f := range s.section().FDEs() {
			for i < len(functions) && functions[i].before(f.Start, functions[i].cie != nil) {
				i++
			}
			if i < len(functions) && functions[i].start == f.Start && functions[i].size == f.End-f.Start {
				functions[i].cie, functions[i].instructions = f.CIE, f.Instructions
			}
		}
	}
	return e.takeLines(s, functions)
}

func (e *encoder) takeSymbols(image int, keep func(uint64) bool) error {
	s := &e.images[image]
	le := binary.LittleEndian
	number, kept := 0, false // of the previous symbol
	var text textRange
	var previousStart, previousEnd uint64
	e.functions = slices.Grow(e.functions, len(s.symbols)/symbolSize)
	for b, rest := s.symbols, []byte(nil); len(b) > 0; b = rest {
		var size uint64
		var switches bool
		start := le.Uint64(b[8:])
		size, switches, rest = s.size(b)
		name, ok := s.name(le.Uint32(b))
		if !ok || len(name) == 0 || size == 0 {
			return fmt.Errorf("%w: a symbol at %#x of %#x bytes, without a name or a size", ErrImage, start, size)
		}
		owned := textRange{start, start + size}
		if n := int(le.Uint16(b[6:])); n != number {
			if kept {
				// The rest of a range after its last function belongs to the image too.
				last := &e.functions[len(e.functions)-1]
				last.owned.end = max(last.owned.end, text.end)
			}
			if text, ok = s.text(n); !ok {
				return fmt.Errorf("%w: the symbol at %#x is in section %d", ErrImage, start, n)
			}
			owned.start = text.start
			number = n
		} else if kept {
			owned.start = min(previousEnd, start)
		}
		if start < previousStart {
			return fmt.Errorf("%w: the symbol at %#x follows one at %#x", ErrImage, start, previousStart)
		}
		if start < text.start || owned.end > text.end || owned.end < start {
			return fmt.Errorf("%w: the symbol at %#x of %#x bytes is outside of its section, [%#x, %#x)", ErrImage, start, size, text.start, text.end)
		}
		previousStart, previousEnd = start, owned.end
		if kept = keep == nil || keep(start); kept {
			e.functions = append(e.functions, merged{start: start, size: size, owned: owned, name: name, source: image, switches: switches})
		}
	}
	if kept {
		last := &e.functions[len(e.functions)-1]
		last.owned.end = max(last.owned.end, text.end)
	}
	return nil
}

// takeLines finds the entries and sequences of an image's functions.
func (e *encoder) takeLines(s *source, functions []merged) error {
	le := binary.LittleEndian
	s.firstFile = len(e.numbers)
	if len(functions) > 0 {
		e.numbers = slices.Grow(e.numbers, s.fileCount)[:s.firstFile+s.fileCount]
		clear(e.numbers[s.firstFile:])
	}
	program, i := s.program, 0
	for rest := s.units; len(rest) > 0; {
		unit, calls, ok := entry(rest)
		if !ok {
			return fmt.Errorf("%w: the entries of its functions are not Clew's", ErrImage)
		}
		rest = rest[len(unit)+len(calls):]
		start := le.Uint64(unit[5:])
		if len(program) < setAddressSize || string(program[:len(setAddress)]) != setAddress ||
			le.Uint64(program[len(setAddress):]) != start {
			return fmt.Errorf("%w: the function entry at %#x has no lines", ErrImage, start)
		}
		for i < len(functions) && functions[i].before(start, functions[i].rows != nil) {
			i++
		}
		kept := i < len(functions) && functions[i].start == start
		at := setAddressSize
		for {
			_, to, number, ok := nextFile(program, at)
			if !ok {
				return fmt.Errorf("%w: the lines of the function at %#x are not Clew's", ErrImage, start)
			}
			at = to
			if number == noFile {
				break
			}
			if kept && !e.takeFile(s, number) {
				return fmt.Errorf("%w: the lines of the function at %#x are of file %d, of %d", ErrImage, start, number, s.fileCount)
			}
		}
		if kept {
			f := &functions[i]
			f.rows, f.file, f.line = program[setAddressSize:at], le.Uint32(unit[17:]), le.Uint32(unit[21:])
			if !e.takeFile(s, f.file) {
				return fmt.Errorf("%w: the function at %#x is of file %d, of %d", ErrImage, start, f.file, s.fileCount)
			}
			f.calls = calls
			if err := e.takeCalls(s, start, calls); err != nil {
				return err
			}
			e.files.units++
		}
		program = program[at:]
	}
	return nil
}

// takeFile assigns a file of an image its number in the new one.
func (e *encoder) takeFile(s *source, number uint32) bool {
	if number >= uint32(s.fileCount) {
		return false
	}
	if e.numbers[s.firstFile+int(number)] == 0 {
		name, ok := s.file(number)
		if !ok {
			return false
		}
		e.numbers[s.firstFile+int(number)] = e.files.addBytes(name)
		// Each name is in its image once, unless the image is damaged.
		return e.files.bytes <= e.bytes
	}
	return true
}

// write appends the image of the functions, which are sorted by address.
func (e *encoder) write(name []byte) error {
	names, frames, rows, switches := 0, 0, 0, 0
	for i := range e.functions {
		f := &e.functions[i]
		if n := len(e.texts); n > 0 && f.owned.start <= e.texts[n-1].end {
			e.texts[n-1].end = max(e.texts[n-1].end, f.owned.end)
		} else {
			e.texts = append(e.texts, f.owned)
		}
		f.text = len(e.texts)
		names += len(f.name) + 1
		if f.switches {
			switches++
		}
		rows += len(f.rows) + 8 + len(f.calls)
		if f.cie != nil {
			frames += (25+len(f.instructions)+7)&^7 + 8
		}
	}
	size := longestHeader + len(name) + names + symbolSize*(len(e.functions)+switches) + frames +
		(sectionSize+12)*len(e.texts) + e.files.size(0) + e.calls.bytes + rows
	// Functions in a row share a name. In a damaged image each function could have
	// a name of the image's size.
	if size > 16*e.bytes+64<<20 {
		return fmt.Errorf("%w: %d bytes of %d", ErrTooLarge, size, e.bytes)
	}
	if err := e.begin(e.dst, e.machine, size); err != nil {
		return err
	}
	unit := uint32(e.strings)
	first := unit + uint32(len(name)) + 1
	next := first
	for i := range e.functions {
		if i == 0 || !bytes.Equal(e.functions[i].name, e.functions[i-1].name) {
			next += uint32(len(e.functions[i].name)) + 1
		}
	}
	alias := next + uint32(e.files.bytes+e.calls.bytes)
	next = first
	table := e.symbols(len(e.functions) + switches)
	for i := range e.functions {
		f := &e.functions[i]
		at := next
		if i > 0 && bytes.Equal(f.name, e.functions[i-1].name) {
			at -= uint32(len(f.name)) + 1
		} else {
			next += uint32(len(f.name)) + 1
		}
		table = putFunctionSymbols(table, at, alias, f.text, f.start, f.size, f.switches)
	}
	if err := e.writeFrames(uint64(frames)); err != nil {
		return err
	}
	if e.files.units > 0 {
		e.files.place(int(next))
		e.calls.place(int(next) + e.files.bytes)
		e.writeDebug(unit, first)
	}
	start := e.here()
	e.dst = append(e.dst, sectionNames...)
	e.dst = append(append(e.dst, name...), 0)
	for i := range e.functions {
		if f := &e.functions[i]; i == 0 || !bytes.Equal(f.name, e.functions[i-1].name) {
			e.dst = append(append(e.dst, f.name...), 0)
		}
	}
	e.dst = e.calls.appendNames(e.files.appendNames(e.dst))
	if switches > 0 {
		e.dst = append(e.dst, morestack+"\x00"...)
	}
	return e.finish(start)
}

func (e *encoder) writeFrames(size uint64) error {
	if size == 0 {
		return nil
	}
	e.beginFrames(size)
	var p cfi.Program
	for i := range e.functions {
		if f := &e.functions[i]; f.cie != nil {
			p.CIE, p.Instructions = f.cie, f.instructions
			if err := e.frame(&p, f.start, f.size); err != nil {
				return err
			}
		}
	}
	return e.endFrames()
}

func (e *encoder) writeDebug(unit, first uint32) {
	start := e.beginInfo(unit)
	name, next := first, first
	for i := range e.functions {
		f := &e.functions[i]
		if i == 0 || !bytes.Equal(f.name, e.functions[i-1].name) {
			name = next
			next += uint32(len(f.name)) + 1
		}
		if len(f.rows) > 0 {
			s := &e.images[f.source]
			e.putFunction(name, f.start, f.size, e.numbers[s.firstFile+int(f.file)], f.line, len(f.calls) > 0)
			e.copyCalls(s, f.calls)
		}
	}
	e.endInfo(start)
	start = e.beginLines(unit)
	for i := range e.functions {
		if f := &e.functions[i]; len(f.rows) > 0 {
			e.dst = binary.LittleEndian.AppendUint64(append(e.dst, setAddress...), f.start)
			s := &e.images[f.source]
			e.dst = renumber(e.dst, f.rows, e.numbers[s.firstFile:][:s.fileCount])
		}
	}
	e.endLines(start)
}

// renumber appends a sequence with the new file numbers.
func renumber(dst, rows []byte, numbers []uint32) []byte {
	copied, at := 0, 0
	for {
		from, to, number, ok := nextFile(rows, at)
		if !ok || number == noFile {
			return append(dst, rows[copied:]...)
		}
		if numbers[number] != number {
			dst = append(append(dst, rows[copied:from]...), dw.LNSSetFile)
			dst = leb128.AppendUint(dst, uint64(numbers[number]))
			copied = to
		}
		at = to
	}
}
