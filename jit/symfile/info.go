// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile

import (
	"debug/elf"
	"encoding/binary"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/internal/leb128"
	"github.com/clewdev/clew/jit"
)

const dwarfVersion = 5

// The abbreviations of all images. The unit has no DW_AT_comp_dir: the paths of files are
// unchanged from the batch.
const (
	abbrevUnit     = 1
	abbrevFunction = 2

	abbrevFunctionWithCalls = 3
	abbrevCall              = 4
)

const abbreviations = "" +
	"\x01" + string(rune(dw.TagCompileUnit)) + "\x01" +
	string(rune(dw.AttrProducer)) + string(rune(dw.FormStrp)) +
	string(rune(dw.AttrLanguage)) + string(rune(dw.FormData1)) +
	string(rune(dw.AttrName)) + string(rune(dw.FormStrp)) +
	string(rune(dw.AttrStmtList)) + string(rune(dw.FormSecOffset)) +
	string(rune(dw.AttrLowPC)) + string(rune(dw.FormAddr)) +
	string(rune(dw.AttrRanges)) + string(rune(dw.FormSecOffset)) +
	"\x00\x00" +
	"\x02" + string(rune(dw.TagSubprogram)) + "\x00" + functionAttributes +
	"\x03" + string(rune(dw.TagSubprogram)) + "\x01" + functionAttributes +
	"\x04" + string(rune(dw.TagInlinedSubroutine)) + "\x01" +
	string(rune(dw.AttrName)) + string(rune(dw.FormStrp)) +
	string(rune(dw.AttrLowPC)) + string(rune(dw.FormAddr)) +
	string(rune(dw.AttrHighPC)) + string(rune(dw.FormData4)) +
	string(rune(dw.AttrCallFile)) + string(rune(dw.FormData4)) +
	string(rune(dw.AttrCallLine)) + string(rune(dw.FormData4)) +
	string(rune(dw.AttrCallColumn)) + string(rune(dw.FormData4)) +
	"\x00\x00" +
	"\x00"

const functionAttributes = "" +
	string(rune(dw.AttrName)) + string(rune(dw.FormStrp)) +
	string(rune(dw.AttrLowPC)) + string(rune(dw.FormAddr)) +
	string(rune(dw.AttrHighPC)) + string(rune(dw.FormData4)) +
	string(rune(dw.AttrDeclFile)) + string(rune(dw.FormData4)) +
	string(rune(dw.AttrDeclLine)) + string(rune(dw.FormData4)) +
	string(rune(dw.AttrExternal)) + string(rune(dw.FormFlagPresent)) +
	"\x00\x00"

// Sizes of the fixed-size parts of .debug_info.
const (
	unitHeaderSize = 12 + 1 + 4 + 1 + 4 + 4 + 8 + 4
	functionSize   = 1 + 4 + 8 + 4 + 4 + 4
	rangesHeader   = 12
)

// origin returns the first source location of a function. A function without one has no
// entry in the debugging information, unless it changes stacks: see morestack.
func origin(f *jit.Function) (file string, line int, ok bool) {
	for i := range f.Lines {
		l := &f.Lines[i]
		if l.Inlined != nil {
			outer := l.Inlined
			for outer.Outer != nil {
				outer = outer.Outer
			}
			return outer.File, outer.Line, true
		}
		if l.Line > 0 && l.File != "" {
			return l.File, l.Line, true
		}
	}
	return defaultName, 0, f.SwitchesStack // gdb 13 crashes if the file has no name
}

// debug appends the debugging information of a batch. Its name is at offset unit of the
// string table, and the names of its functions are at first and following.
func (e *encoder) debug(unit uint32, c *jit.Code, first uint32) {
	start := e.beginInfo(unit)
	name, next := first, first
	for i := range c.Functions {
		f := &c.Functions[i]
		if i == 0 || f.Name != c.Functions[i-1].Name {
			name = next
			next += uint32(len(f.Name)) + 1
		}
		if file, line, ok := origin(f); ok {
			calls := len(e.calls.list) > 0 && hasCalls(f)
			e.putFunction(name, c.Start(f), f.Size, e.files.add(file), uint32(min(uint64(line), 1<<32-1)), calls)
			if calls {
				e.putCalls(c.Start(f), f)
			}
		}
	}
	e.endInfo(start)
	start = e.beginLines(unit)
	for i := range c.Functions {
		f := &c.Functions[i]
		if file, _, ok := origin(f); ok {
			e.dst = appendSequence(e.dst, c.Start(f), f, &e.files, e.files.add(file))
		}
	}
	e.endLines(start)
}

// beginInfo appends .debug_abbrev and .debug_rnglists, and starts .debug_info with its
// compile unit, whose name is at offset unit. It returns the unit's offset.
func (e *encoder) beginInfo(unit uint32) uint64 {
	le := binary.LittleEndian
	start := e.here()
	e.dst = append(e.dst, abbreviations...)
	e.add(section{name: nameAbbrev, typ: elf.SHT_PROGBITS, align: 1}, start)

	// DWARF 5 §7.28.
	start = e.here()
	e.dst = le.AppendUint32(e.dst, 0)
	e.dst = le.AppendUint16(e.dst, dwarfVersion)
	e.dst = append(e.dst, 8, 0)       // sizes of an address and of a segment selector
	e.dst = le.AppendUint32(e.dst, 0) // offset entries
	for _, t := range e.texts {
		e.dst = le.AppendUint64(append(e.dst, dw.RLEStartLength), t.start)
		e.dst = leb128.AppendUint(e.dst, t.end-t.start)
	}
	e.dst = append(e.dst, dw.RLEEndOfList)
	e.putLength(start)
	e.add(section{name: nameRanges, typ: elf.SHT_PROGBITS, align: 1}, start)

	// DWARF 5 §7.5.1.1.
	start = e.here()
	e.dst = le.AppendUint32(e.dst, 0)
	e.dst = le.AppendUint16(e.dst, dwarfVersion)
	e.dst = append(e.dst, dw.UTCompile, 8)
	e.dst = le.AppendUint32(e.dst, 0) // .debug_abbrev
	e.dst = le.AppendUint32(append(e.dst, abbrevUnit), nameProducer)
	e.dst = le.AppendUint32(append(e.dst, dw.LangC99), unit)
	e.dst = le.AppendUint32(e.dst, 0) // .debug_line
	e.dst = le.AppendUint64(e.dst, 0) // the base address: none
	e.dst = le.AppendUint32(e.dst, rangesHeader)
	return start
}

// putFunction appends the entry of a function. Its calls follow.
func (e *encoder) putFunction(name uint32, start, size uint64, file, line uint32, calls bool) {
	e.dst = append(e.dst, make([]byte, functionSize)...)
	b := e.dst[len(e.dst)-functionSize:]
	b[0] = abbrevFunction
	if calls {
		b[0] = abbrevFunctionWithCalls
	}
	le := binary.LittleEndian
	le.PutUint32(b[1:], name)
	le.PutUint64(b[5:], start)
	le.PutUint32(b[13:], uint32(size))
	le.PutUint32(b[17:], file)
	le.PutUint32(b[21:], line)
}

func (e *encoder) endInfo(start uint64) {
	e.dst = append(e.dst, 0) // of the unit's children
	e.putLength(start)
	e.add(section{name: nameInfo, typ: elf.SHT_PROGBITS, align: 1}, start)
}

// putLength fills in the length of a unit, which precedes it.
func (e *encoder) putLength(start uint64) {
	binary.LittleEndian.PutUint32(e.dst[uint64(e.base)+start:], uint32(e.here()-start-4))
}
