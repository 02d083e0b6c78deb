// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package amend

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

// Function is code that gets an unwind table.
type Function struct {
	Section int    // of an object file: index of the section that contains the code
	Address uint64 // of the code; in an object file its offset in the section, in bytes
	Size    uint64 // bytes of code
	Unwind  *cfi.Program
}

// ErrDamaged is wrapped by the error for a file that breaks a rule of the ELF specification.
var ErrDamaged = errors.New("damaged ELF file")

// Write writes a copy of a file to which the unwind tables of functions are added. The functions
// must have no table in the file. The error wraps [ErrDamaged], [errors.ErrUnsupported] for a kind
// of file that cannot be amended, [cfi.ErrRange] for code that is too far away, or
// [object.ErrFault]. Nothing is written unless all tables can be.
func Write(w io.Writer, f *object.File, functions []Function) error {
	err := object.Guard(func() error { return write(w, f, functions) })
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return nil
}

func write(w io.Writer, f *object.File, functions []Function) error {
	data := f.Bytes()
	switch m := f.Machine(); {
	case m == nil || m.Class != elf.ELFCLASS64 || len(data) <= elf.EI_DATA || elf.Data(data[elf.EI_DATA]) != elf.ELFDATA2LSB:
		return fmt.Errorf("tables can be added only to 64-bit little-endian files: %w", errors.ErrUnsupported)
	case uint64(len(data)) > f.StoredSize()+maxHoles:
		return fmt.Errorf("%w: it stores %d of its %d bytes", object.ErrSparse, f.StoredSize(), len(data))
	}
	e, err := open(data)
	if err != nil {
		return err
	}
	switch f.Type() {
	case elf.ET_REL:
		err = e.addEHFrame(f.Machine(), functions)
	case elf.ET_EXEC, elf.ET_DYN:
		err = e.addDebugFrame(f, functions)
	default:
		err = fmt.Errorf("tables cannot be added to a file of type %v: %w", f.Type(), errors.ErrUnsupported)
	}
	if err != nil {
		return err
	}
	return e.write(w)
}

// maxHoles is the number of bytes of holes that a copy may fill with zeros.
const maxHoles = 1 << 20

// addDebugFrame adds the tables of functions of a linked file.
func (e *editor) addDebugFrame(f *object.File, functions []Function) error {
	frames := cfi.Encoder{Kind: cfi.DebugFrame, Machine: f.Machine()}
	for _, function := range functions {
		if err := frames.Program(function.Unwind, function.Address, function.Size); err != nil {
			return err
		}
	}
	const name = ".debug_frame"
	stored := func(s *section) bool { return s.typ != elf.SHT_NOBITS }
	if _, found := e.find(".zdebug_frame", stored); found {
		return fmt.Errorf("section .zdebug_frame has an old form of compression, decompress it with objcopy --decompress-debug-sections: %w", errors.ErrUnsupported)
	}
	index, found := e.find(name, stored)
	var old []byte
	if found {
		var err error
		if old, err = f.SectionData(index); err != nil { // decompressed
			return err
		}
	}
	if uint64(len(old))+uint64(len(frames.Data)) > maxSection {
		return fmt.Errorf("section %s: %d bytes and %d new ones, at most %d: %w", name, len(old), len(frames.Data), maxSection, errors.ErrUnsupported)
	}
	added := cfi.Section{Data: frames.Data, Machine: frames.Machine, Kind: frames.Kind}
	for fde := range added.FDEs() {
		// The FDE's pointer to its CIE is an offset in the section (DWARF 5 §6.4.1).
		at := frames.Data[fde.Offset+4:]
		little.PutUint32(at, little.Uint32(at)+uint32(len(old)))
	}
	if !found {
		index = e.add(name, section{typ: elf.SHT_PROGBITS, align: 8})
	}
	s := &e.sections[index]
	if s.flags&elf.SHF_COMPRESSED != 0 {
		s.flags &^= elf.SHF_COMPRESSED
		s.align = 8
	}
	s.set(old, frames.Data)
	return nil
}
