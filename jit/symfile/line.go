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

// The line number program, DWARF 5 §6.2. Opcodes from opcodeBase on are special:
// they advance the line by lineBase to lineBase+lineRange-1, and the address.
const (
	lineBase   = -3
	lineRange  = 12
	opcodeBase = 13

	// constAdd is the advance of DW_LNS_const_add_pc: that of special opcode 255.
	constAdd = (255 - opcodeBase) / lineRange
)

// lineHeader is the header of every line table from its version to the number of files,
// DWARF 5 §6.2.4: an address of 8 bytes, instructions of any length, and one directory,
// "", so that paths are unchanged from the batch.
const lineHeader = "\x05\x00\x08\x00" + "\x00\x00\x00\x00" + "\x01\x01\x01\xfd\x0c\x0d" +
	"\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01" +
	"\x01" + pathForm + "\x01\x00\x00\x00\x00" +
	"\x02" + pathForm + string(rune(dw.LNCTDirectoryIndex)) + string(rune(dw.FormUdata))

// pathForm is the content and the form of a path in a line table.
const pathForm = string(rune(dw.LNCTPath)) + string(rune(dw.FormLineStrp))

// Offsets of the header length in a line table, and of the bytes that it counts.
const (
	lineHeaderLength = 4 + 4
	lineHeaderStart  = 4 + 8
	fileSize         = 5 // of an entry of the file table
)

// A sequence starts with DW_LNE_set_address and the address, and ends with
// DW_LNE_end_sequence.
const (
	setAddress     = "\x00\x09" + string(rune(dw.LNESetAddress))
	setAddressSize = len(setAddress) + 8
	endSequence    = "\x00\x01" + string(rune(dw.LNEEndSequence))
)

// beginLines starts .debug_line with its header, up to the first sequence.
func (e *encoder) beginLines(unit uint32) uint64 {
	start := e.here()
	e.dst = append(e.dst, 0, 0, 0, 0)
	e.dst = append(e.dst, lineHeader...)
	e.dst = leb128.AppendUint(e.dst, uint64(len(e.files.list)+1))
	// File 0 is the unit itself (DWARF 5 §6.2.4.1).
	e.dst = append(binary.LittleEndian.AppendUint32(e.dst, unit), 0)
	for i := range e.files.list {
		e.dst = append(binary.LittleEndian.AppendUint32(e.dst, e.files.list[i].at), 0)
	}
	length := e.here() - start - lineHeaderStart
	binary.LittleEndian.PutUint32(e.dst[uint64(e.base)+start+lineHeaderLength:], uint32(length))
	return start
}

func (e *encoder) endLines(start uint64) {
	e.putLength(start)
	e.add(section{name: nameLine, typ: elf.SHT_PROGBITS, align: 1}, start)
}

// appendSequence appends the rows of a function at address. Its first file is number
// file of the table. Each function has its own sequence, which starts at its first byte
// and sets its file, so that Merge can move it.
func appendSequence(dst []byte, address uint64, f *jit.Function, files *fileTable, file uint32) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, setAddress...), address)
	dst = leb128.AppendUint(append(dst, dw.LNSSetFile), uint64(file))
	offset, line, column := uint64(0), 1, 0
	for i := range f.Lines {
		l := &f.Lines[i]
		toLine, toColumn := l.Line, l.Column
		if l.File == "" || toLine == 0 {
			toLine, toColumn = 0, 0
		} else if to := files.add(l.File); to != file {
			file = to
			dst = leb128.AppendUint(append(dst, dw.LNSSetFile), uint64(file))
		}
		if toColumn != column {
			column = toColumn
			dst = leb128.AppendUint(append(dst, dw.LNSSetColumn), uint64(column))
		}
		dst = appendRow(dst, l.Offset-offset, toLine-line)
		offset, line = l.Offset, toLine
	}
	if offset < f.Size {
		dst = leb128.AppendUint(append(dst, dw.LNSAdvancePC), f.Size-offset)
	}
	return append(dst, endSequence...)
}

// appendRow appends the operations that advance the address and the line and add a
// row.
func appendRow(dst []byte, bytes uint64, lines int) []byte {
	if lines < lineBase || lines >= lineBase+lineRange {
		dst = leb128.AppendInt(append(dst, dw.LNSAdvanceLine), int64(lines))
		lines = 0
	}
	special := uint64(lines-lineBase) + opcodeBase
	switch limit := (255 - special) / lineRange; {
	case bytes <= limit:
	case bytes <= limit+constAdd:
		dst = append(dst, dw.LNSConstAddPC)
		bytes -= constAdd
	default:
		dst = leb128.AppendUint(append(dst, dw.LNSAdvancePC), bytes)
		bytes = 0
	}
	return append(dst, byte(special+bytes*lineRange))
}
