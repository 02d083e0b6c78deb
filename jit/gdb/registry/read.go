// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package registry

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// Space is the address space of a process or a core.
type Space struct {
	Machine *arch.Machine
	Memory  cfi.Memory

	// Symbols yields the run-time addresses of a symbol in all modules that define it, by
	// dynamic symbols too. There are several if libraries of the program contain the
	// interface. It may be nil.
	Symbols func(name string) iter.Seq[uint64]

	// Writable are the ranges in which Read searches descriptors without a symbol, as in a
	// stripped program: writable data of the modules and the memory after it, the likeliest
	// first. It may be nil.
	Writable []Range

	// Limits bounds what is read; zero fields have defaults.
	Limits Limits
}

// Range is the addresses [Start, End).
type Range struct{ Start, End uint64 }

// Limits bounds what is read of a list. The list belongs to another program and may be
// damaged or hostile.
type Limits struct {
	Entries int    // of all lists; 0 means 1<<17
	Image   uint64 // bytes of one symbol file; 0 means 96 MiB
	Total   uint64 // bytes of all symbol files; 0 means 96 MiB
	Scan    uint64 // bytes to search; 0 means 1 GiB
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Entries: cmp.Or(l.Entries, 1<<17),
		Image:   cmp.Or(l.Image, 96<<20),
		Total:   cmp.Or(l.Total, 96<<20),
		Scan:    cmp.Or(l.Scan, 1<<30),
	}
}

// List is one descriptor and its symbol files.
type List struct {
	Descriptor uint64 // its address
	Scanned    bool   // found by its contents, not by a symbol

	// Entries are in the order of the list: the most recently registered first, unless
	// the publisher appends.
	Entries []Entry

	// Err says why the list ended early, or that it changed while it was read.
	// Entries contains what was read before.
	Err error
}

// Entry is one symbol file.
type Entry struct {
	Address uint64 // of the entry
	Symfile uint64 // address of the image
	Size    uint64 // of the image according to the entry, bytes
	Image   []byte // nil if Err is not nil; entries of one symbol file share it
	Err     error
}

// ErrNotELF is wrapped by Entry.Err if a runtime registered data in another format. Erlang
// does so for its debugger script.
var ErrNotELF = errors.New("not an ELF image")

// Read finds and reads all lists of an address space: lists with a symbol, and lists that
// it finds by searching Writable. It omits lists without an entry. The error says what
// prevented the search; a damaged list has its own error.
//
// The program may run meanwhile. If a list changes meanwhile, Read reads it again, a few
// times.
func Read(s *Space) ([]List, error) {
	r := reader{Space: s, memory: s.Memory, layout: layoutOf(s.Machine), limits: s.Limits.withDefaults()}
	r.left, r.entries = r.limits.Total, r.limits.Entries
	var lists []List
	seen := make(map[uint64]bool)
	read := func(address uint64, scanned bool) {
		if seen[address] || len(seen) >= maxDescriptors {
			return
		}
		seen[address] = true
		l := r.list(address)
		l.Scanned = scanned
		if len(l.Entries) > 0 || l.Err != nil {
			lists = append(lists, l)
		}
	}
	if s.Symbols != nil {
		for address := range s.Symbols(DescriptorSymbol) {
			read(address, false)
		}
	}
	err := r.scan(func(address uint64) { read(address, true) })
	return lists, err
}

// maxDescriptors bounds the number of lists of an address space. Each of several
// libraries can contain one; hostile memory can contain any number.
const maxDescriptors = 64

type reader struct {
	*Space
	memory     cfi.Memory // Space.Memory, usually through blocks
	layout     layout
	limits     Limits
	left       uint64 // bytes of symbol files that may still be read
	entries    int    // that may still be read
	candidates int    // possible descriptors that were examined
	buffer     [32]byte
}

// rereads is the number of times that a changing list is read again.
const rereads = 4

// list reads the list of the descriptor at an address.
func (r *reader) list(address uint64) List {
	left := r.left
	direct := r.memory
	defer func() { r.memory = direct }()
	for n := 0; ; n++ {
		// Blocks read adjacent memory together, and once in each pass.
		r.memory = newBlocks(direct)
		l := List{Descriptor: address}
		links, err := r.links(address)
		l.Err = err
		r.left = left
		l.Entries = make([]Entry, len(links))
		type place struct{ symfile, size uint64 }
		read := make(map[place]*Entry)
		for i, link := range links {
			e := &l.Entries[i]
			*e = Entry{Address: link.address, Symfile: link.symfile, Size: link.size}
			if same := read[place{link.symfile, link.size}]; same != nil {
				e.Image, e.Err = same.Image, same.Err
				continue
			}
			e.Image, e.Err = r.image(link.symfile, link.size)
			read[place{link.symfile, link.size}] = e
		}
		// If the links are the same before and after, the images belong to them.
		r.memory = newBlocks(direct)
		after, _ := r.links(address)
		unchanged := slices.EqualFunc(links, after, sameLink)
		if unchanged || n == rereads {
			r.entries -= len(links)
		}
		if unchanged {
			return l
		}
		if n == rereads {
			l.Err = errors.Join(l.Err, fmt.Errorf("the list at %#x changed %d times while it was read", address, n+1))
			return l
		}
	}
}

// link is an entry and its address.
type link struct {
	address uint64
	entry
}

// sameLink compares links without the previous pointers, because that of the first entry
// changes when another entry is added.
func sameLink(a, b link) bool {
	a.previous, b.previous = 0, 0
	return a == b
}

// links returns the entries of the list of the descriptor at an address.
func (r *reader) links(address uint64) ([]link, error) {
	b := r.buffer[:r.layout.descriptorSize()]
	if err := r.memory.ReadMemory(b, address); err != nil {
		return nil, fmt.Errorf("descriptor at %#x: %w", address, err)
	}
	d := r.layout.descriptor(b)
	if d.version != Version {
		return nil, fmt.Errorf("descriptor at %#x: version %d, expected %d", address, d.version, Version)
	}
	var links []link
	seen := make(map[uint64]struct{})
	for at := d.first; at != 0; {
		if _, ok := seen[at]; ok {
			return links, fmt.Errorf("entry %d at %#x: the list is circular", len(links), at)
		}
		if len(links) == r.entries {
			return links, fmt.Errorf("more entries than the limit of %d", len(links))
		}
		seen[at] = struct{}{}
		e, err := r.entry(at)
		if err != nil {
			return links, fmt.Errorf("entry %d at %#x: %w", len(links), at, err)
		}
		links = append(links, link{at, e})
		at = e.next
	}
	return links, nil
}

func (r *reader) entry(address uint64) (entry, error) {
	b := r.buffer[:r.layout.entrySize()]
	if err := r.memory.ReadMemory(b, address); err != nil {
		return entry{}, err
	}
	return r.layout.entry(b), nil
}

// image reads a symbol file. It allocates only what can be read.
func (r *reader) image(address, size uint64) ([]byte, error) {
	if size < elf.EI_NIDENT {
		return nil, fmt.Errorf("symbol file at %#x: %w: %d bytes", address, ErrNotELF, size)
	}
	var magic [4]byte
	if err := r.memory.ReadMemory(magic[:], address); err != nil {
		return nil, fmt.Errorf("symbol file at %#x: %w", address, err)
	}
	if string(magic[:]) != elf.ELFMAG {
		return nil, fmt.Errorf("symbol file at %#x: %w: it starts with % x, not with 7f 45 4c 46", address, ErrNotELF, magic)
	}
	if limit := min(r.limits.Image, r.left); size > limit {
		return nil, fmt.Errorf("symbol file at %#x: %d bytes exceed the limit of %d", address, size, limit)
	}
	// A growing buffer would take twice the memory. A hole is found without a buffer.
	const step = 1 << 16
	for at := uint64(0); at < size+step; at += step {
		if err := r.Memory.ReadMemory(magic[:1], address+min(at, size-1)); err != nil {
			return nil, fmt.Errorf("symbol file at %#x, %d bytes: %w", address, size, err)
		}
	}
	r.left -= size
	image := make([]byte, size)
	if err := r.memory.ReadMemory(image, address); err != nil {
		return nil, fmt.Errorf("symbol file at %#x, %d bytes: %w", address, size, err)
	}
	return image, nil
}
