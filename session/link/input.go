// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"debug/elf"
	"fmt"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
)

// input is one file while it is linked.
type input struct {
	file     *object.File
	name     string
	sections []section
	common   section // of the file's COMMON symbols

	table  object.SymbolTable
	symtab int       // index of its section, or 0
	own    []symbol  // by index in the symbol table
	refs   []*symbol // by index: the symbols to which references of this file refer
	tables []object.RelocationTable
	groups []group
	image  []byte // the object's ELF

	// Bytes that may still be used: of copied names, of tables, of the image's content.
	nameBudget    int
	tableBudget   uint64
	contentBudget uint64
}

// section is a section of a file, or one that the linker makes.
type section struct {
	name      string
	owner     *input
	index     int
	typ       elf.SectionType
	flags     elf.SectionFlag
	size      uint64
	align     uint64
	entry     uint64 // bytes of one entry
	linked    int    // sh_link
	info      uint32
	mapped    bool // it has a place in memory
	discarded bool // the program has it from another file
	region    regionIndex
	offset    uint64 // from the start of the program's memory
	address   uint64 // 0 if it is not mapped
	stored    []byte // content in the file, or nil
	data      []byte // content in the image
}

// group is a COMDAT group.
type group struct {
	signature string
	members   []uint32
}

const (
	maxAlign     = 16 << 20 // bytes: eight huge pages
	spareContent = 24 << 20 // bytes of content in addition to six times the file's size, for compressed sections

	shfExclude    = elf.SectionFlag(0x80000000) // gABI "Section Attribute Flags"
	groupIsComdat = 1                           // GRP_COMDAT
)

// read decodes a file.
func (l *linker) read(file *object.File) (*input, error) {
	size := file.StoredSize()
	in := &input{file: file, name: file.Name(), nameBudget: 1<<20 + 4*int(size), tableBudget: size, contentBudget: 6*size + spareContent}
	invalid := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s: "+format, append([]any{errObject, in.name}, args...)...)
	}
	if file.Type() != elf.ET_REL {
		return nil, fmt.Errorf("%s: %w: a file of type %v; only relocatable files (%v) can be loaded", in.name, ErrUnsupported, file.Type(), elf.ET_REL)
	}
	m := file.Machine()
	if m == nil || m.ELF != l.machine.elf || m.Class != elf.ELFCLASS64 {
		name := "an unknown machine"
		if m != nil {
			name = fmt.Sprintf("%s (%v)", arch.ELFName(m.ELF), m.Class)
		}
		return nil, fmt.Errorf("%s: %w: it is for %s, and this machine is %v", in.name, ErrUnsupported, name, l.machine.elf)
	}
	if err := file.Damage(); err != nil {
		return nil, invalid("%w", err)
	}
	list := file.Sections()
	in.sections = make([]section, len(list))
	for i := range list {
		s := &list[i]
		in.sections[i] = section{name: s.Name, owner: in, index: i, typ: s.Type, flags: s.Flags, size: s.Size, align: max(s.Align, 1), entry: s.Entry, linked: int(s.Link), info: s.Info}
		if err := in.readSection(s); err != nil {
			return nil, err
		}
	}
	if in.symtab == 0 && len(in.tables) > 0 {
		return nil, invalid("relocations without a symbol table")
	}
	for i := range in.tables {
		if t := &in.tables[i]; t.Symbols != in.symtab || t.Section <= 0 || t.Section >= len(in.sections) {
			return nil, invalid("a relocation table for section %d with the symbols of section %d", t.Section, t.Symbols)
		}
	}
	for i := range list {
		if list[i].Type == elf.SHT_GROUP {
			if err := in.readGroup(&list[i]); err != nil {
				return nil, fmt.Errorf("%w: %w", errObject, err)
			}
		}
	}
	for i := range in.groups {
		for _, m := range in.groups[i].members {
			if uint64(m) >= uint64(len(in.sections)) {
				return nil, invalid("a group has section %d of %d", m, len(in.sections))
			}
		}
	}
	return in, nil
}

// readSection checks section s of the file, and reads its tables and content.
func (in *input) readSection(s *object.Section) error {
	to := &in.sections[s.Index]
	fail := func(kind error, format string, args ...any) error {
		return fmt.Errorf("%s: section %s: %w: %s", in.name, s.Name, kind, fmt.Sprintf(format, args...))
	}
	if s.Align > 1 && s.Align&(s.Align-1) != 0 {
		return fail(errObject, "alignment %#x, a power of two expected", s.Align)
	}
	var err error
	switch s.Type {
	case elf.SHT_NULL:
		return nil
	case elf.SHT_GROUP, elf.SHT_RELA, elf.SHT_SYMTAB, elf.SHT_SYMTAB_SHNDX:
		if s.Size > in.tableBudget {
			return fail(errObject, "it overlaps other tables")
		}
		in.tableBudget -= s.Size
	}
	switch s.Type {
	case elf.SHT_RELA:
		var t object.RelocationTable
		if t, err = in.file.RelocationTable(s.Index); err == nil {
			in.tables = append(in.tables, t)
		}
	case elf.SHT_REL:
		return fail(ErrUnsupported, "relocations of type SHT_REL; this machine has SHT_RELA")
	case elf.SHT_SYMTAB:
		if in.symtab != 0 {
			return fail(errObject, "a second symbol table")
		}
		in.symtab = s.Index
		in.table, err = in.file.SymbolTable(s.Index)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errObject, err)
	}
	if strings.HasPrefix(s.Name, ".gnu.lto_.symtab") {
		return fail(ErrUnsupported, "the file has code for link-time optimization; compile with -fno-lto")
	}
	switch {
	case s.Flags&elf.SHF_ALLOC == 0:
		if s.Flags&shfExclude != 0 {
			to.discarded = true
		}
	case s.Flags&(elf.SHF_WRITE|elf.SHF_EXECINSTR) == elf.SHF_WRITE|elf.SHF_EXECINSTR:
		return fail(ErrUnsupported, "it is writable and executable")
	case s.Flags&elf.SHF_COMPRESSED != 0:
		return fail(ErrUnsupported, "it is mapped and compressed")
	case s.Align > maxAlign:
		return fail(errTooLarge, "alignment %#x, at most %#x is supported", s.Align, maxAlign)
	case s.Flags&elf.SHF_TLS != 0 && s.Align > TLSAlign:
		return fail(errTooLarge, "alignment %#x, at most %#x is supported for thread-local variables", s.Align, TLSAlign)
	case s.Name == ".ctors" || s.Name == ".dtors" || strings.HasPrefix(s.Name, ".ctors.") || strings.HasPrefix(s.Name, ".dtors."):
		return fail(ErrUnsupported, "a list of constructors of the old kind; compile with -fuse-init-array")
	default:
		to.mapped = true
	}
	if to.dropped() || s.Type == elf.SHT_NOBITS {
		return nil
	}
	if to.stored, err = in.file.StoredData(s.Index, in.contentBudget); err != nil {
		return fmt.Errorf("%w: %w", errObject, err)
	}
	in.contentBudget -= uint64(len(to.stored))
	return nil
}

// readGroup reads a section group. Only COMDAT groups count.
func (in *input) readGroup(s *object.Section) error {
	data, err := in.file.StoredData(s.Index, s.Size)
	if err != nil {
		return err
	}
	words := make([]uint32, len(data)/4)
	for i := range words {
		words[i] = order.Uint32(data[4*i:])
	}
	if len(words) == 0 || words[0]&groupIsComdat == 0 {
		return nil
	}
	if int64(s.Link) != int64(in.symtab) || uint64(s.Info) >= uint64(in.table.Len()) {
		return fmt.Errorf("%s: section %s: its signature is symbol %d of section %d", in.name, s.Name, s.Info, s.Link)
	}
	e := in.table.At(int(s.Info))
	g := group{members: words[1:]}
	if e.Type == elf.STT_SECTION {
		// For a group without a symbol gas uses the name of a section.
		if e.Section < len(in.sections) {
			g.signature = in.sections[e.Section].name
		}
	} else if g.signature, err = in.copyName(&in.table, &e); err != nil {
		return err
	}
	in.groups = append(in.groups, g)
	return nil
}

// copyName returns the name of a symbol. Names can overlap: without a limit, copies could take the
// square of the file's size.
func (in *input) copyName(t *object.SymbolTable, e *object.SymbolEntry) (string, error) {
	name := t.Name(e)
	if in.nameBudget -= len(name); in.nameBudget < 0 {
		return "", fmt.Errorf("%s: the names of symbols are longer than its %d bytes allow", in.name, in.file.StoredSize())
	}
	return string(name), nil
}

// symbolName returns the name of symbol i for an error.
func (in *input) symbolName(i uint32) string {
	if i == 0 || int(i) >= in.table.Len() {
		return "no symbol"
	}
	e := in.table.At(int(i))
	if e.Type == elf.STT_SECTION && e.Section < len(in.sections) {
		return in.sections[e.Section].name
	}
	name := in.table.Name(&e)
	return string(name[:min(len(name), 256)])
}

// place returns a place in a section for an error.
func (s *section) place(offset uint64) string {
	if s.owner == nil {
		return fmt.Sprintf("%s+%#x", s.name, offset)
	}
	return fmt.Sprintf("%s: %s+%#x", s.owner.name, s.name, offset)
}
