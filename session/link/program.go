// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import "github.com/clewdev/clew/object"

// Options say how files are loaded. The zero value, and nil, are ready to use.
type Options struct {
	// Resolve finds symbols that none of the files defines: those of other
	// images, and functions of the host. It is called once a name, for names that
	// relocations of mapped sections refer to, before anything is mapped, on the
	// goroutine that called Load. A weak symbol that it does not find is 0.
	Resolve func(name string) (address uint64, ok bool)
}

// Program is what Load made of some files. Its fields are not to be changed.
// They may be read, and Symbol called, by several goroutines.
type Program struct {
	// Objects are the files in the order in which they were given to Load, and
	// behind them, where the program calls imported functions, one more for the
	// stubs through which it does.
	Objects []*Object

	// Init holds the addresses of the constructors (.preinit_array and
	// .init_array) in the order in which they are to be called, with no arguments,
	// before anything else of the program. Fini holds those of the destructors
	// (.fini_array), also in order of their calls.
	Init, Fini []uint64

	// TLS describes the thread-local variables; nil where there are none.
	TLS *TLS

	// Start and End are the bounds of the program's memory, which starts and ends
	// with a page that nothing can be read from.
	Start, End uint64

	state
}

// Object is one file of a Program.
type Object struct {
	Name string // of the file, as [object.File.Name] has it; "stubs" for the stubs

	// ELF is the file as an executable (ET_EXEC) without program headers:
	// sections and symbols have their run-time addresses, all relocations are
	// applied, also those of debugging information, which is not compressed any
	// more. Sections keep their numbers; those that only linkers need, and those
	// that the program has from another file (COMDAT), are SHT_NULL. A section
	// called COMMON may be added. The bytes lie in Go's heap and are the caller's
	// to read; they stay valid after Close, though what they describe is gone.
	ELF []byte

	// Text is where the code of the file is, in ascending order.
	Text []Range
}

// Range is the addresses [Start, End).
type Range struct{ Start, End uint64 }

// TLS describes the thread-local variables of a program (__thread, _Thread_local,
// thread_local). Code of the program finds them at the thread pointer (FS base,
// TPIDR_EL0) plus an offset that is fixed when the program is loaded. No two
// programs that are loaded at the same time have the same offsets, so one block a
// thread serves them all: a block of TLSBlock bytes that ends at the thread
// pointer on amd64 and starts there on arm64 (TLS variants II and I, ELF
// Handling For Thread-Local Storage §3), the thread pointer aligned to TLSAlign.
//
// Before a thread runs code of the program, Size bytes at the thread pointer
// plus Offset have to become Image, and zeros up to Size. On amd64 code also
// expects the word at the thread pointer to hold the thread pointer.
type TLS struct {
	Image  []byte // what the variables start as; the rest up to Size is 0
	Size   uint64 // bytes
	Align  uint64 // bytes, at most TLSAlign
	Offset int64  // of the first byte from the thread pointer: negative on amd64
}

const (
	// TLSBlock is the size in bytes of the thread-local variables of all programs
	// that are loaded at a time, and on arm64 of the two words before them that
	// belong to the thread's runtime.
	TLSBlock = 64 << 10

	// TLSAlign is how a thread pointer has to be aligned, in bytes.
	TLSAlign = 4096
)

// Load links and maps files. The files are read during the call only. The error
// joins what is wrong, as far as it could be found out at once; it wraps
// [ErrUndefined], [ErrDuplicate], [ErrOverflow], [ErrUnsupported], [ErrTooLarge],
// [ErrMemory] or [ErrObject]. Load may be called by several goroutines.
func Load(o *Options, objects ...*object.File) (*Program, error) { return load(o, objects) }

// Symbol returns the address of the symbol with a name that one of the files
// defines for the others (no static one, no thread-local one). Imported symbols
// are not among them.
func (p *Program) Symbol(name string) (address uint64, ok bool) {
	address, ok = p.symbols[name]
	return address, ok
}

// Close unmaps everything. None of the code may be running, or be returned to.
// Closing twice is no error.
func (p *Program) Close() error { return p.close() }
