// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import "errors"

// Options are the options of Load. The zero value and nil are valid.
type Options struct {
	// Resolve returns the address of a symbol that none of the files defines, from other images or
	// functions of the host. Load calls it once for each name to which mapped sections refer, before
	// it maps anything, on its own goroutine. A weak symbol that Resolve does not find is 0.
	Resolve func(name string) (address uint64, ok bool)
}

// Program is a loaded program. Its fields must not be changed. Several goroutines may read them and
// call Symbol.
type Program struct {
	// Objects are the files in the order of Load's arguments. If the program calls imported
	// functions, the last object has the stubs for these calls.
	Objects []*Object

	// Init has the addresses of the constructors (.preinit_array and .init_array) in the order in
	// which they must be called, without arguments, before the rest of the program. Fini has those
	// of the destructors (.fini_array), also in the order of their calls.
	Init, Fini []uint64

	// TLS describes the thread-local variables. It is nil if there are none.
	TLS *TLS

	// Start and End are the bounds of the program's memory. Its first and last page are inaccessible.
	Start, End uint64

	symbols map[string]uint64
	memory  *mapping
	release func()
}

// Object is one file of a Program.
type Object struct {
	Name string // [object.File.Name], or "stubs" for the stubs

	// ELF is the file as an executable (ET_EXEC) without program headers. Sections and symbols have
	// their run-time addresses. All relocations are applied, also those of debugging information,
	// which is decompressed. Sections keep their numbers; those that only linkers need, and those
	// that the program has from another file (COMDAT), are SHT_NULL. A section called COMMON may be
	// added. Callers may read the bytes, also after Close.
	ELF []byte

	// Text has the address ranges of the file's code, in ascending order.
	Text []Range
}

// Range is the addresses [Start, End).
type Range struct{ Start, End uint64 }

// TLS describes the thread-local variables of a program (__thread, _Thread_local, thread_local). Their
// addresses are the thread pointer (FS base, TPIDR_EL0) plus an offset that Load chooses. Programs that
// are loaded at the same time have different offsets, so each thread needs only one block of TLSBlock
// bytes. The block ends at the thread pointer on amd64 and starts there on arm64 (TLS variants II and I,
// ELF Handling For Thread-Local Storage §3). The thread pointer must be aligned to TLSAlign.
//
// Before a thread runs code of the program, the caller must set Size bytes at the thread pointer plus
// Offset: to Image, then zeros. On amd64 the word at the thread pointer must be the thread pointer.
type TLS struct {
	Image  []byte // initial content; zeros follow up to Size
	Size   uint64 // bytes
	Align  uint64 // bytes, at most TLSAlign
	Offset int64  // of the first byte from the thread pointer: negative on amd64
}

const (
	// TLSBlock is the size in bytes of the thread-local variables of all programs that are loaded at
	// the same time. On arm64 it includes the two words before them, which belong to the thread's
	// runtime.
	TLSBlock = 64 << 10

	// TLSAlign is the alignment of a thread pointer, in bytes.
	TLSAlign = 4096
)

// Symbol returns the address of a global symbol that one of the files defines, except thread-local
// ones.
func (p *Program) Symbol(name string) (address uint64, ok bool) {
	address, ok = p.symbols[name]
	return address, ok
}

// Kinds of errors of [Load].
var (
	// ErrUndefined: no file defines a symbol, and Resolve does not find it. The error names all
	// such symbols with places that refer to them.
	ErrUndefined = errors.New("undefined symbol")

	// ErrOverflow: a value does not fit in a relocation's field. The error names the relocation, its
	// place, the symbol and the value.
	ErrOverflow = errors.New("relocation does not fit")

	// ErrUnsupported: the package cannot load something, or cannot load anything on this system.
	ErrUnsupported = errors.New("not supported")
)

var (
	errDuplicate = errors.New("symbol is defined twice")
	errTooLarge  = errors.New("too large") // the program or an alignment exceeds a limit
	errMemory    = errors.New("no memory for code")
	errObject    = errors.New("damaged object file")
)
