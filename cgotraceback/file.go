// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android && (amd64 || arm64)

package cgotraceback

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/clewdev/clew/cgotraceback/internal/compact"
	"github.com/clewdev/clew/internal/untrusted"
	elfobject "github.com/clewdev/clew/object"
	"golang.org/x/sys/unix"
)

// mapping is mapped memory, which is not Go's.
type mapping []byte

func (m mapping) pointer() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(m)) }

func (m mapping) len() int { return len(m) }

// file holds the tables of a file. They are never freed: the runtime reads strings after the
// symbolizer has returned.
type file struct {
	object    *object // as it was loaded first
	source    *elfobject.File
	opened    *os.File // nil if source is read from memory
	failed    error
	made      [tableKinds]bool
	size      int64 // bytes of tables
	left      int64 // bytes that tables may still take
	prepared  *prepared
	goText    [2]uint64 // without the bias: no lines are needed for it
	functions []span    // for makeLines

	unwind, names, lines mapping
	strings              mapping // of names
	label                mapping
}

// tableKind is a kind of table of a file.
type tableKind int

const (
	unwindTable tableKind = iota
	namesTable
	linesTable
	tableKinds
)

// span is the range of addresses [start, end).
type span struct{ start, end uint64 }

// maxFiles bounds the files with tables or a name, in a program that loads one library after
// the other.
const maxFiles = 4096

// nameless returns the file of all objects above the limit: it has no tables.
func (p *prepared) nameless() *file {
	if p.others == nil {
		p.others = &file{prepared: p, object: &object{}, made: [tableKinds]bool{true, true, true}}
		p.others.label = p.others.keep([]byte("[library]\x00"))
	}
	return p.others
}

// file returns the file of an object.
func (p *prepared) file(o *object) *file {
	key := fmt.Sprintf("%s\x00%s%x", o.name, o.markBytes[:o.markSize], o.content)
	f := p.files[key]
	if f == nil && len(p.files) >= maxFiles {
		return p.nameless()
	}
	if f == nil {
		copied := *o
		f = &file{object: &copied, prepared: p}
		name := filepath.Base(o.name)
		if o.main {
			if path, err := os.Readlink(o.name); err == nil {
				name = filepath.Base(path)
			}
		}
		f.label = f.keep(append([]byte("["+name+"]"), 0))
		if p.files == nil {
			p.files = make(map[string]*file)
		}
		p.files[key] = f
	}
	return f
}

// Small tables share mappings: a process can have 65530 mappings, and a program can load more
// libraries than that one after the other.
const (
	smallTable = 4096  // bytes
	chunkSize  = 65536 // bytes
)

// keep copies bytes to mapped memory, which is then read only. It is aligned to 8 bytes.
func (f *file) keep(b []byte) mapping {
	if len(b) == 0 {
		return nil
	}
	var m, whole mapping
	if p := f.prepared; len(b) <= smallTable {
		if len(p.chunk)-p.chunkUsed < len(b) {
			p.chunk, p.chunkUsed = newMapping(chunkSize), 0
		}
		if whole = p.chunk; whole == nil || unix.Mprotect(whole, unix.PROT_READ|unix.PROT_WRITE) != nil {
			return nil
		}
		m = whole[p.chunkUsed:][:len(b):len(b)]
		p.chunkUsed = min((p.chunkUsed+len(b)+7)&^7, len(whole))
	} else if m = newMapping(len(b)); m == nil {
		return nil
	} else {
		whole = m
	}
	copy(m, b)
	_ = unix.Mprotect(whole, unix.PROT_READ)
	f.size += int64(len(m))
	return m
}

// newMapping maps memory. It returns nil if there is none.
func newMapping(size int) mapping {
	m, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil
	}
	return m
}

// limit returns the bytes that a table may take.
func (f *file) limit() int { return int(min(f.left, math.MaxInt32)) }

// table keeps a table, if the C code can read it.
func (f *file) table(b []byte) mapping {
	if int64(len(b)) > f.left || !compact.Check(b) {
		return nil
	}
	return f.keep(b)
}

// once reports whether a table is to be made now: the first time, if the file can be read.
func (f *file) once(table tableKind) bool {
	if f.made[table] {
		return false
	}
	f.made[table] = true
	f.open()
	return f.source != nil
}

var errChanged = errors.New("the file has changed since it was loaded")

// open opens the file, else reads it from memory.
func (f *file) open() {
	if f.source != nil || f.failed != nil {
		return
	}
	if !f.object.vdso && f.object.name != "" {
		if f.failed = f.openFile(); f.failed == nil {
			return
		}
	}
	base := f.object.bias
	for i, s := range f.object.segments {
		if i == 0 || f.object.bias+s.start < base {
			base = f.object.bias + s.start
		}
	}
	source, err := elfobject.FromMemory(ownMemory{}, base, f.object.name)
	if err != nil {
		f.failed = errors.Join(f.failed, err)
		return
	}
	f.source, f.failed = source, nil
}

func (f *file) openFile() error {
	opened, err := untrusted.OpenNamed(f.object.name) // it can have become a FIFO
	if err != nil {
		return err
	}
	source, err := elfobject.OpenFile(opened, f.object.name)
	if err == nil {
		err = elfobject.Guard(func() error {
			if !f.isLoaded(source) {
				return fmt.Errorf("%s: %w", f.object.name, errChanged)
			}
			return nil
		})
		if err != nil {
			source.Close()
		}
	}
	if err != nil {
		opened.Close()
		return err
	}
	f.opened, f.source = opened, source
	return nil
}

// isLoaded reports whether a file is the one that was loaded.
func (f *file) isLoaded(source *elfobject.File) bool {
	if id := source.BuildID(); f.object.id != nil || id != nil {
		return len(f.object.id) > 0 && bytes.HasPrefix(id, f.object.id)
	}
	n := 0
	for _, p := range source.Segments() {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if n == len(f.object.segments) || f.object.segments[n] != (segment{p.Vaddr, p.Memsz, uint32(p.Flags)}) {
			return false
		}
		n++
	}
	return n == len(f.object.segments) && !f.isDeleted() && f.isInMemory(source)
}

// isDeleted reports whether the file that is mapped has no name any more. Then a file of its
// name is another one.
func (f *file) isDeleted() bool {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil || f.object.main || len(f.object.segments) == 0 {
		return false
	}
	at := f.object.bias + f.object.segments[0].start
	for line := range strings.Lines(string(maps)) {
		var start, end uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &start, &end); err == nil && at-start < end-start {
			return strings.HasSuffix(line, " (deleted)\n")
		}
	}
	return false
}

// isInMemory reports whether sections that loading does not change are in memory as in the file.
// They differ between two files with other functions.
func (f *file) isInMemory(source *elfobject.File) bool {
	memory := make([]byte, 4096)
	for _, s := range source.Sections() {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Flags&elf.SHF_WRITE != 0 || s.Type == elf.SHT_NOBITS ||
			!slices.Contains([]string{".eh_frame", ".eh_frame_hdr", ".dynsym", ".dynstr", ".note.go.buildid"}, s.Name) {
			continue
		}
		content, err := source.SectionData(s.Index)
		if err != nil {
			return false
		}
		for at := 0; at < len(content); at += len(memory) {
			part := content[at:min(at+len(memory), len(content))]
			if (ownMemory{}).ReadMemory(memory[:len(part)], f.object.bias+s.Address+uint64(at)) != nil || !bytes.Equal(memory[:len(part)], part) {
				return false
			}
		}
	}
	return true
}

func (f *file) close() {
	f.closeFile()
	f.functions = nil
}

func (f *file) closeFile() {
	if f.source != nil {
		f.source.Close()
	}
	if f.opened != nil {
		f.opened.Close()
	}
	f.source, f.opened = nil, nil
}

// makeUnwind makes the table of unwind rules.
func (f *file) makeUnwind() error {
	if !f.once(unwindTable) {
		return f.failed
	}
	return elfobject.Guard(func() error {
		s, err := f.source.EHFrame()
		if s != nil {
			f.unwind = f.table(compact.Unwind(s, f.limit()))
		}
		return err
	})
}

// makeNames makes the table of functions, of .symtab or else of .dynsym.
func (f *file) makeNames() error {
	if !f.once(namesTable) {
		return nil
	}
	return elfobject.Guard(func() error {
		best := -1
		sections := f.source.Sections()
		for i := range sections {
			if t := sections[i].Type; t == elf.SHT_SYMTAB || t == elf.SHT_DYNSYM && best < 0 {
				best = i
			}
		}
		// The debug file has more names and all lines. If it cannot be read, the others remain.
		debug, err := f.source.OpenDebugFile(elfobject.DebugSearch{})
		if best < 0 || f.opened == nil || debug != nil && sections[best].Type == elf.SHT_DYNSYM {
			f.copyNames()
			return err
		}
		t, err := f.source.SymbolTable(best)
		symbols := make([]compact.Symbol, 0, min(int64(t.Len()), f.left/compact.SymbolSize+1))
		end := uint64(0)
		for i := range t.Len() {
			e := t.At(i)
			if e.Section <= 0 || e.Section >= len(sections) || sections[e.Section].Flags&elf.SHF_EXECINSTR == 0 {
				continue
			}
			symbol := elfobject.Symbol{Type: e.Type, Binding: e.Binding}
			if symbol.Type != elf.STT_FUNC && symbol.Type != elf.STT_NOTYPE && symbol.Type != elf.STT_GNU_IFUNC {
				continue
			}
			if compact.SymbolSize*int64(len(symbols)) > f.left {
				break
			}
			name := t.Name(&e)
			if len(name) == 0 || name[0] == '$' {
				continue // a mapping symbol of arm64
			}
			end = max(end, sections[e.Section].Address+sections[e.Section].Size)
			symbols = append(symbols, compact.Symbol{Start: e.Value, Size: e.Size, Name: e.NameOffset, Rank: rank(e.Type, e.Binding, name)})
		}
		names := compact.Names(symbols, end, f.limit())
		f.setFunctions(symbols, end)
		if link := int(sections[best].Link); names != nil && link < len(sections) {
			f.setNames(names, sections[link].Offset, sections[link].Size)
		}
		return err
	})
}

// setNames keeps the table of functions. The strings are a section of the file.
func (f *file) setNames(names []byte, offset, size uint64) {
	if f.names = f.table(names); f.names == nil { // the limit of memory
		return
	}
	if size <= smallTable {
		text := make([]byte, size)
		if _, err := f.opened.ReadAt(text, int64(offset)); err == nil {
			f.strings = f.keep(text)
		}
	} else {
		f.strings = f.mapFile(offset, size)
	}
	if f.strings == nil {
		f.names = nil
	}
}

// setFunctions sets the ranges of code for makeLines. The symbols are sorted.
func (f *file) setFunctions(symbols []compact.Symbol, end uint64) {
	for i, s := range symbols {
		r := span{s.Start, s.Start + s.Size}
		if next := i + 1; next < len(symbols) {
			if s.Size == 0 || r.end > symbols[next].Start {
				r.end = symbols[next].Start
			}
		} else if s.Size == 0 {
			r.end = end
		}
		if r.start < r.end {
			f.functions = append(f.functions, r)
		}
	}
}

// rank orders the names of one address.
func rank(t elf.SymType, b elf.SymBind, name []byte) uint8 {
	r := uint8(0)
	if t == elf.STT_NOTYPE {
		r += 64
	}
	switch b {
	case elf.STB_WEAK:
		r += 16
	case elf.STB_LOCAL:
		r += 32
	}
	for i := 0; i < len(name) && i < 15 && name[i] == '_'; i++ {
		r++
	}
	return r
}

// copyNames copies the names of a file that is read from memory, or has a separate debug file.
func (f *file) copyNames() {
	var symbols []compact.Symbol
	text, end := []byte{0}, uint64(0)
	for s := range f.source.Symbols() {
		if s.Type != elf.STT_FUNC && s.Type != elf.STT_GNU_IFUNC || strings.IndexByte(s.Name, 0) >= 0 {
			continue
		}
		if int64(len(text)+compact.SymbolSize*len(symbols)) > f.left {
			break
		}
		end = max(end, s.Address+s.Size)
		symbols = append(symbols, compact.Symbol{Start: s.Address, Size: s.Size, Name: uint32(len(text)), Rank: rank(s.Type, s.Binding, []byte(s.Name))})
		text = append(append(text, s.Name...), 0)
	}
	names := compact.Names(symbols, end, f.limit()-len(text))
	if f.strings = f.keep(text); names != nil && f.strings != nil {
		f.setFunctions(symbols, end)
		f.names = f.table(names)
	}
}

// mapFile maps a part of the file, which shares its memory with other processes.
func (f *file) mapFile(offset, size uint64) mapping {
	page := uint64(os.Getpagesize())
	from := offset &^ (page - 1)
	if size == 0 || size > 1<<32 || offset > math.MaxInt64-size {
		return nil
	}
	m, err := unix.Mmap(int(f.opened.Fd()), int64(from), int(size+offset-from), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return m[offset-from:]
}

// maxDebugInfo bounds the debugging information of a file, in bytes as stored. Reading it
// takes several times as much memory, though not for long.
const maxDebugInfo = 64 << 20

// debugInfo returns the size of the debugging information of a file.
func debugInfo(f *elfobject.File) (size uint64) {
	for _, s := range f.Sections() {
		if strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".zdebug_") {
			size += min(s.Size, 1<<40)
		}
	}
	return size
}

// reopenAfter is the number of rows of lines after which a file is opened again. An open file
// keeps the units that it has read, which take several times as much memory as the table.
const reopenAfter = 32768

// openLines opens the debug file, and reports whether there are lines to be read.
func (f *file) openLines() (ok bool, err error) {
	debug, err := f.source.OpenDebugFile(elfobject.DebugSearch{})
	if !f.source.HasDebugInfo() {
		return false, nil // makeNames has returned the error
	}
	if size := debugInfo(f.source); size > maxDebugInfo || debug != nil && size+debugInfo(debug) > maxDebugInfo {
		return false, fmt.Errorf("%s: no lines: more than %d MiB of debugging information", f.object.name, maxDebugInfo>>20)
	}
	return true, err
}

// reopen forgets what was read of a file.
func (f *file) reopen() (ok bool, err error) {
	if f.opened == nil {
		return true, nil
	}
	f.closeFile()
	if f.open(); f.source == nil {
		return false, f.failed
	}
	return f.openLines()
}

// makeLines makes the table of source lines and inlined calls.
func (f *file) makeLines() error {
	if f.prepared.configured().NamesOnly || !f.once(linesTable) {
		return nil
	}
	lines := compact.Lines{Limit: f.limit()}
	fault := elfobject.Guard(func() error {
		ok, err := f.openLines()
		if !ok {
			return err
		}
		return errors.Join(err, f.addLines(&lines))
	})
	f.close() // what was read is much larger than the table
	f.lines = f.table(lines.Table())
	return fault
}

// addLines adds the lines of all functions, until the table is full.
func (f *file) addLines(lines *compact.Lines) error {
	rows := 0
	for _, r := range f.functions {
		if r.start-f.goText[0] < f.goText[1]-f.goText[0] {
			continue
		}
		for at := r.start; at < r.end; {
			rows++
			if rows%1024 == 0 && !f.prepared.pause() { // about every 5 ms
				return nil
			}
			if rows%reopenAfter == 0 {
				if ok, err := f.reopen(); !ok {
					return err
				}
			}
			if at = f.addLine(lines, at, r.end); at == 0 {
				return nil
			}
		}
	}
	return nil
}

// addLine adds the lines of the code from an address to the end of a row of the line table,
// and returns that, or 0 if the table is full.
func (f *file) addLine(lines *compact.Lines, at, end uint64) uint64 {
	row, err := f.source.LineRange(at)
	if err != nil || row.End <= at || row.End > end {
		row.End = end
	}
	for at < row.End {
		chain, _ := f.source.Locate(at)
		// An inlined call can end in the row.
		stop := row.End
		for stop-at > 1 {
			last, _ := f.source.Locate(stop - 1)
			if slices.Equal(chain, last) {
				break
			}
			stop = at + (stop-at)/2
		}
		places := make([]compact.Place, len(chain))
		for i, c := range chain {
			places[i] = compact.Place{Function: c.Function, File: c.File, Line: c.Line}
		}
		if !lines.Add(at, stop, places) {
			return 0
		}
		at = stop
	}
	return row.End
}
