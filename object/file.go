// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/filemap"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object/internal/gotable"
)

// File is an ELF file or the image of one in memory. Its methods may be called
// concurrently, except that [File.Close] must be the last. Addresses are those of the
// file: without load bias.
type File struct {
	name    string
	mapping *filemap.Mapping
	info    os.FileInfo // of the mapped file, nil if none is mapped
	data    []byte      // the whole file, holes included; nil for an image
	stored  uint64      // see StoredSize
	memory  cfi.Memory  // of an image
	bias    uint64      // of an image: address in memory minus address in the file

	header
	arch     *arch.Machine
	segments []elf.ProgHeader
	sections []byte // the section table, shnum entries of shentsize bytes
	cut      bool   // the file ends before the end of its section table
	names    []byte // the section name table

	debug  atomic.Pointer[File] // see OpenDebugFile
	owner  *File                // of a debug file: the file that it belongs to
	search atomic.Pointer[DebugSearch]

	tableList atomic.Pointer[[]listedTable] // see symbolTables

	extentsOnce sync.Once
	extents     []extent // see FunctionStart
	exports     func() *exports

	partsMu sync.Mutex
	parts   map[string]debugPart // see debugParts

	mu       sync.Mutex
	damage   []error
	budget   int64          // bytes that may still be allocated for content
	contents map[int][]byte // sections that had to be decompressed or relocated
	// unapplied holds the offsets in those sections, ascending, of relocations that could
	// not be applied.
	unapplied map[int][]uint64
	releases  []func() error    // of sections from a SectionCache
	regions   map[uint64][]byte // copies of memory by address
	relocated map[uint32]int    // relocation section by the section that it relocates
	mini      func() (*File, error)
	goTable   func() (*gotable.Table, error)
	lines     func() (*lines, error)
	goNames   map[string]goNamed // see GoFunctionNamed

	compilers       func() (gccgo, gnat bool)
	sectionRelative func() bool // see findSectionRelative
}

// slack is the part of a file's budget that does not depend on its size.
const slack = 64 << 20

// Open maps the file at path. It fails if the file cannot be mapped or has no ELF header.
// [File.Damage], and the methods that read a damaged part, return other errors.
func Open(path string) (*File, error) {
	f, err := untrusted.OpenNamed(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return OpenFile(f, path)
}

// OpenFile maps the open file f. The caller still owns f and may close it at once. Errors
// and [File.Name] use the name, and [File.OpenDebugFile] searches its directory. If f was
// opened through /proc/PID/map_files or /proc/PID/root, pass the path in the target.
func OpenFile(f *os.File, name string) (*File, error) {
	m, info, err := mapFile(f, name)
	if err != nil {
		return nil, err
	}
	file := &File{name: name, mapping: m, info: info, data: m.Bytes(), stored: uint64(untrusted.Stored(f, info))}
	if err := file.init(); err != nil {
		m.Unmap()
		return nil, err
	}
	return file, nil
}

// NewFile reads a file that is completely in memory, such as the vDSO or a symbol file that
// a JIT has registered. Data is not copied and must not be changed.
func NewFile(data []byte, name string) (*File, error) {
	file := &File{name: name, data: data, stored: uint64(len(data))}
	if err := file.init(); err != nil {
		return nil, err
	}
	return file, nil
}

func (f *File) init() error {
	err := Guard(func() (err error) {
		if f.header, err = decodeHeader(f.data); err == nil {
			f.readTables()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	f.start(slack + 16*int64(f.stored))
	return nil
}

// start sets up the functions that compute results at first use.
func (f *File) start(budget int64) {
	f.arch = arch.LookupFlags(f.machine, f.class, f.header.data, f.flags)
	f.budget = budget
	f.mini = sync.OnceValues(func() (*File, error) { return guarded(f.openMiniDebugInfo) })
	f.goTable = sync.OnceValues(func() (*gotable.Table, error) { return guarded(f.openGoTable) })
	f.compilers = sync.OnceValues(func() (gccgo, gnat bool) { return f.isGccgo(), f.isGNAT() })
	f.sectionRelative = sync.OnceValue(f.findSectionRelative)
	f.lines = sync.OnceValues(func() (*lines, error) { return guarded(f.readLines) })
	f.exports = sync.OnceValue(f.openExports)
}

// Close unmaps the file and its debug file. Slices, sections and readers that its methods
// returned must not be used after it: they would fault.
func (f *File) Close() error {
	var err error
	if d := f.debug.Swap(nil); d != nil {
		err = d.Close()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, release := range f.releases {
		err = errors.Join(err, release())
	}
	f.releases, f.contents = nil, nil
	return errors.Join(err, f.closeParts(), f.mapping.Unmap())
}

// Trim drops what earlier calls have built from the file, such as decompressed sections and tables
// of symbols and lines, and its separate debug file. It gives the pages of the mapping back to the
// kernel. The next call that needs a part reads it again. Slices of the mapping stay valid, but data
// of the debug file must not be used any more. No other method may run at the same time.
func (f *File) Trim() error {
	var err error
	if d := f.debug.Swap(nil); d != nil {
		err = d.Close()
	}
	err = errors.Join(err, f.closeParts())
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.releases) == 0 { // data from a SectionCache is not in this process's heap
		f.contents, f.unapplied = nil, nil
	}
	f.tableList.Store(nil)
	f.extentsOnce, f.extents = sync.Once{}, nil
	f.start(slack + 16*int64(f.stored))
	return errors.Join(err, f.mapping.Evict())
}

// Name returns the name that the file was opened with.
func (f *File) Name() string { return f.name }

// Machine returns the machine that the file is for.
func (f *File) Machine() *arch.Machine { return f.arch }

// Type returns the type in the header: ET_EXEC, ET_DYN, ET_REL, ET_CORE.
func (f *File) Type() elf.Type { return f.typ }

// Entry returns the start address of the program, 0 if there is none.
func (f *File) Entry() uint64 { return f.entry }

// Segments returns the program headers. The caller must not change them.
func (f *File) Segments() []elf.ProgHeader { return f.segments }

// Damage returns the errors of damaged parts that were skipped so far, joined as by
// [errors.Join], or nil.
func (f *File) Damage() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.damage...)
}

// maxDamage bounds the notes that one file can leave.
const maxDamage = 64

func (f *File) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.damage) < maxDamage {
		f.damage = append(f.damage, err)
	}
}

// spend takes n bytes from the budget of the file's content.
func (f *File) spend(n uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n > uint64(f.budget) {
		return fmt.Errorf("%d bytes more would exceed what a file that stores %d bytes may need", n, f.stored)
	}
	f.budget -= int64(n)
	return nil
}

// ErrFault is wrapped by the error of a read that faulted: the mapped file was truncated,
// or its medium failed.
var ErrFault = filemap.ErrFault

// Guard calls fn and returns its error. If fn, on the calling goroutine, faults on a
// mapped file, Guard stops fn and returns an error that wraps [ErrFault]. Deferred calls
// of fn run; locks without a deferred unlock stay locked. Every other panic passes
// through. Guards may be nested, and cost a few nanoseconds.
func Guard(fn func() error) error { return filemap.Guard(fn) }

// guarded calls fn under Guard. After a fault it returns the zero value of T.
func guarded[T any](fn func() (T, error)) (result T, err error) {
	fault := Guard(func() error {
		result, err = fn()
		return nil
	})
	if fault != nil {
		var none T
		return none, fault
	}
	return result, err
}

// mapFile maps f, which may be closed afterwards. It also returns the status of f before.
func mapFile(f *os.File, name string) (*filemap.Mapping, os.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: not a regular file", name)
	}
	m, err := filemap.Map(f, name, 0, info.Size())
	return m, info, err
}

// ErrSparse is wrapped by the error for a part of a file that is larger than all data
// that the file stores.
var ErrSparse = errors.New("the file is sparse")

// spareHoles is the number of bytes of holes that a part of a file may always have.
const spareHoles = 1 << 20

// Info returns the status of the file when it was mapped, nil for an image in memory.
func (f *File) Info() os.FileInfo { return f.info }

// Bytes returns the whole file, nil for an image in memory. It is a view of the mapped file: see
// [Guard].
func (f *File) Bytes() []byte { return f.data }

// StoredSize returns the size of the file in bytes without its holes, 0 for an image in
// memory. Limits on the cost of a file follow this size, since holes cost its author
// nothing.
func (f *File) StoredSize() uint64 { return f.stored }

// portion returns the largest size of a part of the file in bytes: all stored data and a
// few holes. It does not restrict a file without holes.
func (f *File) portion() uint64 { return min(uint64(len(f.data)), f.stored+spareHoles) }

// sparse returns the error for a larger part.
func (f *File) sparse() error {
	return fmt.Errorf("%w: it stores %d of its %d bytes", ErrSparse, f.stored, len(f.data))
}

// bytesAt returns up to size bytes of the file from an offset on, fewer if the file ends
// or stores less.
func (f *File) bytesAt(off, size uint64) []byte {
	b := f.data[off:]
	return b[:min(size, uint64(len(b)), f.portion())]
}

// noteFault calls fn under Guard and notes the fault that stopped it.
func (f *File) noteFault(fn func()) {
	if err := Guard(func() error { fn(); return nil }); err != nil {
		f.note(err)
	}
}
