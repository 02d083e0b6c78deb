// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// ErrTooLarge means that an image does not fit the 32-bit offsets of its string and line
// tables, or has more sections than a symbol can name.
var ErrTooLarge = errors.New("symbol file too large")

// Sizes of the structures of a 64-bit ELF file, gABI "ELF Header" and following.
const (
	headerSize  = 64
	sectionSize = 64
	symbolSize  = 24
)

// maxTexts excludes the section numbers from SHN_LORESERVE on, which have special
// meanings, and leaves some for the sections other than code.
const maxTexts = int(elf.SHN_LORESERVE) - 16

// codeFlags are the flags of .text; no other section has them.
const codeFlags = elf.SHF_ALLOC | elf.SHF_EXECINSTR

// sectionNames is the start of every string table, so that the names of sections have the
// same offsets in all images.
const sectionNames = "\x00.text\x00.symtab\x00.strtab\x00.eh_frame\x00.eh_frame_hdr\x00" +
	".debug_info\x00.debug_abbrev\x00.debug_line\x00.debug_rnglists\x00.debug_str\x00.debug_line_str\x00" + producer + "\x00"

// producer is the value of DW_AT_producer.
const producer = "Clew"

// Offsets of names in a string table.
var (
	nameText      = nameOffset(".text")
	nameSymtab    = nameOffset(".symtab")
	nameStrtab    = nameOffset(".strtab")
	nameEHFrame   = nameOffset(".eh_frame")
	nameEHHeader  = nameOffset(".eh_frame_hdr")
	nameInfo      = nameOffset(".debug_info")
	nameAbbrev    = nameOffset(".debug_abbrev")
	nameLine      = nameOffset(".debug_line")
	nameRanges    = nameOffset(".debug_rnglists")
	nameStr       = nameOffset(".debug_str")
	nameLineStr   = nameOffset(".debug_line_str")
	nameProducer  = nameOffset(producer)
	longestHeader = len(sectionNames) + headerSize + 16*sectionSize + 512
)

func nameOffset(name string) uint32 {
	return uint32(strings.Index(sectionNames, "\x00"+name+"\x00") + 1)
}

// textRange is code that the image owns: addresses [start, end).
type textRange struct{ start, end uint64 }

// section is an entry of the section table.
type section struct {
	name                       uint32
	typ                        elf.SectionType
	flags                      elf.SectionFlag
	address, offset, size      uint64
	link, info, align, entries uint64
}

// encoder appends one image to dst. Append and Merge fill the sections in the
// order of the methods below.
type encoder struct {
	dst      []byte
	base     int // of the image in dst
	machine  *arch.Machine
	texts    []textRange
	sections []section
	symtab   int // index in sections

	frames   cfi.Encoder
	absolute bool // pointers of .eh_frame have eight bytes, because the code is too far apart for four
	cies     map[*cfi.CIE]*cfi.CIE
	program  cfi.Program

	files   fileTable
	calls   fileTable   // the names of inlined calls
	open    []openCall  // of putCalls
	chain   []*jit.Call // of putCalls
	strings int         // length of the string table so far

	functions []merged // of Merge
	images    []source // of Merge
	bytes     int      // of Merge: size of all its images
	numbers   []uint32 // of Merge: file numbers in the image, by file number in the source
}

// begin starts an image with capacity for size bytes, for code in texts.
func (e *encoder) begin(dst []byte, m *arch.Machine, size int) error {
	if len(e.texts) > maxTexts {
		return fmt.Errorf("%w: %d ranges of code, at most %d", ErrTooLarge, len(e.texts), maxTexts)
	}
	e.dst, e.base, e.machine = slices.Grow(dst, size), len(dst), m
	e.dst = append(e.dst, make([]byte, headerSize)...)
	e.sections = append(e.sections[:0], section{})
	for _, t := range e.texts {
		e.sections = append(e.sections, section{name: nameText, typ: elf.SHT_NOBITS, flags: codeFlags,
			address: t.start, offset: headerSize, size: t.end - t.start, align: 1})
	}
	e.strings = len(sectionNames)
	return nil
}

// end returns dst and drops the encoder's references to the caller's data.
func (e *encoder) end() []byte {
	dst := e.dst
	e.dst = nil
	e.frames.Reset()
	e.frames.Data = nil
	clear(e.cies)
	e.program = cfi.Program{}
	e.files.reset()
	e.calls.reset()
	clear(e.open[:cap(e.open)])
	clear(e.chain[:cap(e.chain)])
	clear(e.functions)
	clear(e.images)
	e.texts, e.functions, e.images = e.texts[:0], e.functions[:0], e.images[:0]
	return dst
}

// here returns the current offset in the image.
func (e *encoder) here() uint64 { return uint64(len(e.dst) - e.base) }

// align pads the image to a multiple of 8 bytes.
func (e *encoder) align() {
	for (len(e.dst)-e.base)%8 != 0 {
		e.dst = append(e.dst, 0)
	}
}

// add adds everything from offset start on as a section.
func (e *encoder) add(s section, start uint64) int {
	s.offset, s.size = start, e.here()-start
	e.sections = append(e.sections, s)
	return len(e.sections) - 1
}

// appendTextNames appends the names of the sections of code to the string table that
// starts at offset names: ".text", ".text.1", ".text.2". LLDB 14 looks up the section of
// a symbol by its name, so the names must differ.
func (e *encoder) appendTextNames(names uint64) {
	for i := 1; i < len(e.texts); i++ {
		e.sections[i+1].name = uint32(e.here() - names)
		e.dst = strconv.AppendInt(append(e.dst, ".text."...), int64(i), 10)
		e.dst = append(e.dst, 0)
	}
}

// symbols appends n zero symbols after the null symbol and returns them; putSymbol
// fills it.
func (e *encoder) symbols(n int) []byte {
	e.align()
	start := e.here()
	size := symbolSize * (n + 1)
	e.dst = slices.Grow(e.dst, size)
	table := e.dst[len(e.dst) : len(e.dst)+size]
	clear(table[:symbolSize])
	e.dst = e.dst[:len(e.dst)+size]
	// Link is set when the string table's number is known. All symbols except the
	// null symbol are global.
	e.symtab = e.add(section{name: nameSymtab, typ: elf.SHT_SYMTAB, info: 1, align: 8, entries: symbolSize}, start)
	return table[symbolSize:]
}

// putSymbol writes a symbol for a function in section number text, and returns the table after
// it.
func putSymbol(b []byte, name uint32, text int, start, size uint64) []byte {
	_ = b[symbolSize-1]
	binary.LittleEndian.PutUint32(b, name)
	b[4] = elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC)
	b[5] = byte(elf.STV_DEFAULT)
	binary.LittleEndian.PutUint16(b[6:], uint16(text))
	binary.LittleEndian.PutUint64(b[8:], start)
	binary.LittleEndian.PutUint64(b[16:], size)
	return b[symbolSize:]
}

// finish appends the section table after the string table, which starts at offset
// names, and fills in the ELF header.
func (e *encoder) finish(names uint64) error {
	e.appendTextNames(names)
	strtab := e.add(section{name: nameStrtab, typ: elf.SHT_STRTAB, align: 1}, names)
	e.sections[e.symtab].link = uint64(strtab)
	if e.files.units > 0 {
		flags := elf.SHF_MERGE | elf.SHF_STRINGS
		e.add(section{name: nameStr, typ: elf.SHT_PROGBITS, flags: flags, align: 1, entries: 1}, names)
		e.add(section{name: nameLineStr, typ: elf.SHT_PROGBITS, flags: flags, align: 1, entries: 1}, names)
	}
	e.align()
	table := e.here()
	if e.here() > 1<<32-1 {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, e.here())
	}
	e.dst = slices.Grow(e.dst, sectionSize*len(e.sections))
	for i := range e.sections {
		s := &e.sections[i]
		b := e.dst[len(e.dst) : len(e.dst)+sectionSize]
		e.dst = e.dst[:len(e.dst)+sectionSize]
		le := binary.LittleEndian
		le.PutUint32(b, s.name)
		le.PutUint32(b[4:], uint32(s.typ))
		le.PutUint64(b[8:], uint64(s.flags))
		le.PutUint64(b[16:], s.address)
		le.PutUint64(b[24:], s.offset)
		le.PutUint64(b[32:], s.size)
		le.PutUint32(b[40:], uint32(s.link))
		le.PutUint32(b[44:], uint32(s.info))
		le.PutUint64(b[48:], s.align)
		le.PutUint64(b[56:], s.entries)
	}
	putHeader(e.dst[e.base:], e.machine, table, len(e.sections), strtab)
	return nil
}

// putHeader writes the ELF header.
func putHeader(b []byte, m *arch.Machine, table uint64, sections, names int) {
	copy(b, elf.ELFMAG)
	b[elf.EI_CLASS] = byte(elf.ELFCLASS64)
	b[elf.EI_DATA] = byte(elf.ELFDATA2LSB)
	b[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	le := binary.LittleEndian
	le.PutUint16(b[16:], uint16(imageType))
	le.PutUint16(b[18:], uint16(m.ELF))
	le.PutUint32(b[20:], uint32(elf.EV_CURRENT))
	le.PutUint64(b[40:], table)
	le.PutUint16(b[52:], headerSize)
	le.PutUint16(b[58:], sectionSize)
	le.PutUint16(b[60:], uint16(sections))
	le.PutUint16(b[62:], uint16(names))
}

// The values of an image are addresses, and nothing is left to relocate. gdb and lldb accept
// an ET_DYN too. In an ET_REL, values are relative to sections, and readers disagree about
// that once sections have addresses.
const imageType = elf.ET_EXEC

// supported returns an error for a machine without support for images.
func supported(m *arch.Machine) error {
	if m == nil {
		return fmt.Errorf("symbol file: unknown machine: %w", errors.ErrUnsupported)
	}
	if m.Class != elf.ELFCLASS64 || m.Order != binary.LittleEndian {
		return fmt.Errorf("symbol file for %s: %w", m.Name, errors.ErrUnsupported)
	}
	return nil
}
