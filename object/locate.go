// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"errors"
	"fmt"
	"sync"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object/internal/dwarf"
)

// Location is a place in the source.
type Location struct {
	// Function is the linkage name of the function (mangled, if the language mangles), ""
	// if unknown.
	Function string
	File     string // path as compiled, "" if unknown
	Line     int    // 0 if unknown
	Column   int    // 0 if unknown
	Inlined  bool   // the function was inlined into the function of the next Location
}

// lines is the debugging information of one file, opened at first use.
type lines struct {
	mu   sync.Mutex
	data *dwarf.Data
}

// Locate returns the source location of the instruction at addr: the innermost inlined call
// first, and last the function itself. It uses the DWARF information of the file or of its
// separate debug file, else, for a Go program, .gopclntab. Without either, and for an
// address that they lack, the list is empty and the error nil. If there is an error, the
// list contains the part that could be read.
//
// A return address (of every frame but the innermost) is after the call. For the line of
// the call pass the address less one.
//
// The first call reads an index of the units, later calls the units that they need. The
// File keeps both.
func (f *File) Locate(addr uint64) ([]Location, error) {
	var list []Location
	var err error
	fault := Guard(func() error {
		if list, err = f.locate(addr); len(list) == 0 {
			list = f.locateGo(addr)
		}
		return nil
	})
	return list, errors.Join(err, f.named(fault))
}

// locate reads the debugging information of the file, else of its separate debug file. The
// error names the file.
func (f *File) locate(addr uint64) ([]Location, error) {
	l, err := f.lines()
	if l == nil {
		if d := f.debug.Load(); d != nil {
			list, debugErr := d.locate(addr)
			return list, errors.Join(f.named(err), debugErr)
		}
		return nil, f.named(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	found, err := l.data.Locate(addr)
	list := make([]Location, len(found))
	for i, at := range found {
		list[i] = Location(at)
	}
	return list, f.named(err)
}

// readLines opens the debugging information of the file itself; nil if there is none.
func (f *File) readLines() (*lines, error) {
	var problems problems
	s, err := f.debugSections("")
	problems.add(err)
	if len(s.Info) == 0 {
		return nil, problems.err()
	}
	data, err := dwarf.New(s, debugParts{f})
	if err != nil {
		problems.add(err)
		return nil, problems.err()
	}
	for _, err := range []error{problems.err(), data.Damage()} {
		if err != nil {
			f.note(fmt.Errorf("debugging information: %w", err))
		}
	}
	return &lines{data: data}, nil
}

// LineRange is the code from one row of a line table to the next. Tables are read as in
// gdb 13: rows of several files are distinct, consecutive rows of one line that differ in
// the discriminator are one, and rows without a line belong to the line before them.
type LineRange struct {
	Start, End uint64 // addresses: [Start, End)
	File       string // path as compiled
	Line       int    // from 1 on; 0 if no row has the address
	Column     int    // 0 if unknown

	Statement   bool // a breakpoint may be set at Start (is_stmt)
	PrologueEnd bool // the function's body begins at Start; few compilers write it
}

// LineRange returns the row of the line table that contains addr, the zero LineRange if
// there is none. A line may have several consecutive rows; a debugger's step by line ends
// at Start of a row that is a statement and of another line. LineRange reads the DWARF
// information of the file, or of its separate debug file.
func (f *File) LineRange(addr uint64) (r LineRange, err error) {
	err = f.withLines(func(d *dwarf.Data) error {
		found, _, err := d.LineRange(addr)
		r = LineRange(found)
		return err
	})
	return r, err
}

// FindLine returns the addresses of a breakpoint for a line of the source, in ascending
// order: one in each function, inlined call and block with code of the line. Addresses in
// a prologue are moved after it. If the line has no code, FindLine uses the nearest later
// line that has. The file is a path or its last components: "fib.c", "src/fib.c". Without
// such a file or line the list is empty and the error nil.
//
// FindLine finds prologues as [File.AfterPrologue] does, in code.
func (f *File) FindLine(code cfi.Memory, file string, line int) (addrs []uint64, err error) {
	if line <= 0 || uint64(line) >= 1<<31 {
		return nil, nil
	}
	prologues := f.prologues(code)
	err = f.withLines(func(d *dwarf.Data) error {
		addrs, err = d.LineAddresses(file, uint32(line), prologues)
		return err
	})
	return addrs, err
}

// CodeLine returns the line that FindLine uses for a line of the source, or 0 if that line has no row
// at an address: the end of a prologue can be in another line.
func (f *File) CodeLine(file string, line int, address uint64) (found int, err error) {
	if line <= 0 || uint64(line) >= 1<<31 {
		return 0, nil
	}
	err = f.withLines(func(d *dwarf.Data) error {
		n, err := d.CodeLine(file, uint32(line), address)
		found = int(n)
		return err
	})
	return found, err
}

// withLines calls read with the debugging information of the file, else of its separate
// debug file. Without either it does not call read.
func (f *File) withLines(read func(*dwarf.Data) error) error {
	var debug *File
	err := Guard(func() error {
		l, err := f.lines()
		if l == nil {
			debug = f.debug.Load()
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		return read(l.data)
	})
	if err = f.named(err); debug != nil {
		err = errors.Join(err, debug.withLines(read))
	}
	return err
}

// AfterPrologue returns the address of a breakpoint for the function that starts at addr:
// after the instructions that set up its frame, so that arguments can be read. It follows
// gdb 13:
//
//   - It skips nothing if variables have location lists of gcc, which are valid in
//     prologues too, and nothing in assembly language.
//   - A row that the compiler marks as the end of the prologue is the end: clang does so.
//   - On amd64 the prologue is the instructions that set up a frame pointer, up to the end
//     of their row in the line table. Functions without a frame pointer have no prologue.
//   - On other machines the prologue ends at the second row of the function.
//
// For the entry of an inlined call the result is addr, or the end of the prologue if the
// call is at the start of its function. Without lines it is the address after the frame
// pointer's instructions (amd64).
//
// The instructions are read from code at addresses of the file. Nil stands for the file
// itself; a symbol file of generated code usually has no instructions.
func (f *File) AfterPrologue(code cfi.Memory, addr uint64) (after uint64, err error) {
	prologues := f.prologues(code)
	read := false
	err = f.withLines(func(d *dwarf.Data) error {
		read = true
		after, err = d.AfterPrologue(addr, prologues)
		return err
	})
	if !read {
		return prologues.Frame(addr), err
	}
	return after, err
}

// StepTarget returns the address at which a step by line stops when it enters the function
// at entry. It finds the address as [File.AfterPrologue] does, but ignores location lists
// and marked rows, as gdb 13 does.
func (f *File) StepTarget(code cfi.Memory, entry uint64) (target uint64, err error) {
	target = entry
	prologues := f.prologues(code)
	err = f.withLines(func(d *dwarf.Data) error {
		target, err = d.StepTarget(entry, prologues)
		return err
	})
	return target, err
}

func (f *File) prologues(code cfi.Memory) *dwarf.Prologues {
	if code == nil {
		code = f
	}
	p := &dwarf.Prologues{ByLines: true, Frame: func(start uint64) uint64 { return start }}
	if f.machine == elf.EM_X86_64 {
		p.ByLines = false
		p.Frame = func(start uint64) uint64 { return amd64Frame(code, start) }
	}
	p.Symbol = func(addr uint64) (low, high uint64, ok bool) {
		symbols, err := f.FindSymbols([]uint64{addr})
		if s := symbols[0]; err == nil && s.Size > 0 && addr-s.Address < s.Size {
			return s.Address, s.Address + s.Size, true
		}
		return 0, 0, false
	}
	return p
}

// amd64Frame returns the address after the instructions at start that set up a frame
// pointer, or start if they do not.
func amd64Frame(code cfi.Memory, start uint64) uint64 {
	pc := start + stackAlignment(code, start)
	var b [8]byte
	if read(code, b[:4], pc) && string(b[:4]) == "\xf3\x0f\x1e\xfa" { // endbr64
		pc += 4
	}
	if !read(code, b[:4], pc) || b[0] != 0x55 { // push %rbp
		return start
	}
	switch string(b[1:4]) {
	case "\x48\x89\xe5", "\x48\x8b\xec": // mov %rsp,%rbp
		return pc + 4
	}
	return start
}

// stackAlignment returns the size in bytes of the instructions by which gcc aligns
// the stack of a function that needs its arguments' address (-mstackrealign, and
// variables aligned to more than 16 bytes), 0 if they are not at start:
//
//	lea 8(%rsp),%reg; and $-n,%rsp; push -8(%reg)
//	push %reg; lea 16(%rsp),%reg; and $-n,%rsp; push -8(%reg)
func stackAlignment(code cfi.Memory, start uint64) uint64 {
	var buffer [18]byte
	if !read(code, buffer[:], start) {
		return 0
	}
	b := buffer[:]
	skip := func(n int) { b = b[n:] }
	saved, distance := -1, byte(8)
	switch {
	case b[0]&0xf8 == 0x50:
		saved, distance = int(b[0]&7), 16
		skip(1)
	case b[0] == 0x41 && b[1]&0xf8 == 0x50:
		saved, distance = int(b[1]&7)+8, 16
		skip(2)
	}
	if b[0] != 0x48 && b[0] != 0x4c || b[1] != 0x8d || b[2]&0xc7 != 0x44 || b[3] != 0x24 || b[4] != distance {
		return 0
	}
	register := int(b[2] >> 3 & 7)
	if b[0] == 0x4c {
		register += 8
	}
	if saved >= 0 && saved != register {
		return 0
	}
	skip(5)
	switch string(b[:3]) {
	case "\x48\x83\xe4":
		skip(4)
	case "\x48\x81\xe4":
		skip(7)
	default:
		return 0
	}
	if register >= 8 {
		if b[0] != 0x41 {
			return 0
		}
		skip(1)
	}
	if len(b) < 3 || b[0] != 0xff || b[1] != 0x70|byte(register&7) || b[2] != 0xf8 {
		return 0
	}
	skip(3)
	return uint64(len(buffer) - len(b))
}

func read(code cfi.Memory, p []byte, addr uint64) bool { return code.ReadMemory(p, addr) == nil }
