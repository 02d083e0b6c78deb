// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// imageBudget bounds the bytes that are copied of one image in memory.
const imageBudget = 128 << 20

// FromMemory reads the image of a file that is loaded in mem: of a file that was replaced
// or deleted, or of the vDSO. Base is the address in mem of its ELF header. FromMemory
// uses the program headers only, since the section table is not loaded. Parts are read
// when they are needed: mem must stay readable as long as the File is used, and allow
// concurrent calls if the File is used concurrently.
//
// Addresses of the File are those of the file; [File.ImageBias] is the load bias.
func FromMemory(mem cfi.Memory, base uint64, name string) (*File, error) {
	f := &File{name: name, memory: mem, bias: base}
	if err := f.readImage(base); err != nil {
		return nil, fmt.Errorf("%s: image at %#x: %w", name, base, err)
	}
	f.start(f.budget)
	return f, nil
}

// ImageBias returns the address in memory minus the address in the file of an
// image opened by [FromMemory], 0 for a file.
func (f *File) ImageBias() uint64 { return f.bias }

func (f *File) readImage(base uint64) (err error) {
	f.budget = imageBudget
	head := make([]byte, ehdr64)
	if n, err := f.readPrefix(head, 0); n < ehdr32 {
		return errors.Join(err, fmt.Errorf("ELF header: %d bytes can be read", n))
	}
	if f.header, err = decodeHeader(head); err != nil {
		return err
	}
	h := &f.header
	h.shnum, h.shoff = 0, 0
	size, _ := h.sizes()
	if h.phentsize != size || h.phnum == 0 { // the kernel and ld.so require both
		return fmt.Errorf("%d program headers of %d bytes", h.phnum, h.phentsize)
	}
	table := make([]byte, h.phnum*h.phentsize) // both have 16 bits; PN_XNUM needs the section table
	if err := f.memory.ReadMemory(table, base+h.phoff); err != nil {
		return fmt.Errorf("program headers: %w", err)
	}
	f.segments = make([]elf.ProgHeader, h.phnum)
	var first *elf.ProgHeader // the one that maps offset 0
	for i := range f.segments {
		p := &f.segments[i]
		*p = h.decodeSegment(table[uint64(i)*h.phentsize:])
		if p.Type == elf.PT_LOAD && (first == nil || p.Off < first.Off) {
			first = p
		}
	}
	if first == nil {
		return errors.New("no PT_LOAD among the program headers")
	}
	// base is the address of the ELF header, which is in this segment.
	f.bias = base - (first.Vaddr - first.Off)
	return nil
}

// ReadMemory fills p with the bytes of the loaded image at address addr of the file. The
// part of a segment that exists only in memory is zero. In a file without program headers
// sections with an address take the place of segments. ReadMemory implements [cfi.Memory].
func (f *File) ReadMemory(p []byte, addr uint64) error {
	if f.memory != nil {
		return f.memory.ReadMemory(p, addr+f.bias)
	}
	return Guard(func() error {
		b, zeros, ok := f.at(addr)
		if !ok || uint64(len(b))+zeros < uint64(len(p)) {
			return fmt.Errorf("%s: %d bytes at address %#x are not in the file", f.name, len(p), addr)
		}
		clear(p[copy(p, b):])
		return nil
	})
}

// at returns the bytes of the file from address addr to the end of its segment, and how
// many zero bytes follow them in memory. Without program headers it uses sections.
func (f *File) at(addr uint64) (b []byte, zeros uint64, ok bool) {
	if p, ok := f.segmentAt(addr); ok {
		b, zeros = f.span(p.Off, p.Filesz, p.Memsz, addr-p.Vaddr)
		return b, zeros, true
	}
	if len(f.segments) > 0 {
		return nil, 0, false
	}
	for i := range f.sectionCount() {
		s := f.section(i)
		if s.flags&elf.SHF_ALLOC == 0 || addr < s.addr || addr-s.addr >= s.size {
			continue
		}
		if s.typ == elf.SHT_NOBITS && s.flags&elf.SHF_EXECINSTR != 0 {
			// The symbol file of generated code gives the address of the code and leaves out
			// its bytes. They are not zero.
			continue
		}
		if s.typ == elf.SHT_NOBITS {
			return nil, s.addr + s.size - addr, true
		}
		b, zeros = f.span(s.off, s.size, s.size, addr-s.addr)
		return b, zeros, true
	}
	return nil, 0, false
}

// span returns the bytes from skip on of a range with filesz bytes at off in the file and
// memsz bytes in memory.
func (f *File) span(off, filesz, memsz, skip uint64) (b []byte, zeros uint64) {
	if skip >= filesz {
		return nil, memsz - skip
	}
	if off <= uint64(len(f.data)) && skip <= uint64(len(f.data))-off {
		b = f.bytesAt(off+skip, filesz-skip)
	}
	if uint64(len(b)) < filesz-skip {
		return b, 0 // the file is truncated or sparse: the next bytes are unknown
	}
	return b, max(memsz, filesz) - filesz
}

// view returns size bytes at address addr: a view of the file, or a copy of memory. If
// fewer can be read, it returns those with an error. A view of the file ends with its
// segment. The copy grows as memory can be read, so that a claimed size allocates nothing.
func (f *File) view(addr, size uint64) ([]byte, error) {
	if f.memory == nil {
		b, _, ok := f.at(addr)
		if !ok {
			return nil, fmt.Errorf("address %#x is in no segment", addr)
		}
		if size > uint64(len(b)) {
			return b, fmt.Errorf("%d bytes at address %#x: the segment holds %d", size, addr, len(b))
		}
		return b[:size:size], nil
	}
	f.mu.Lock()
	kept, ok := f.regions[addr]
	f.mu.Unlock()
	if ok && uint64(len(kept)) >= size {
		return kept[:size:size], nil
	}
	var data []byte
	var err error
	for chunk := uint64(64 << 10); uint64(len(data)) < size; chunk *= 2 {
		n := min(chunk, size-uint64(len(data)))
		if err = f.spend(n); err != nil {
			break
		}
		start := len(data)
		data = append(data, make([]byte, n)...)
		var got int
		if got, err = f.readPrefix(data[start:], addr+uint64(start)); err != nil {
			data = data[:start+got]
			break
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.regions == nil {
		f.regions = make(map[uint64][]byte)
	}
	f.regions[addr] = data
	return data, err
}

// readPrefix reads memory at addr, up to the first page that cannot be read, and returns the
// number of bytes.
func (f *File) readPrefix(p []byte, addr uint64) (n int, err error) {
	if err = f.memory.ReadMemory(p, addr+f.bias); err == nil {
		return len(p), nil
	}
	const page = 1 << 12
	for n < len(p) {
		step := min(page-int((addr+f.bias+uint64(n))%page), len(p)-n)
		if err = f.memory.ReadMemory(p[n:n+step], addr+f.bias+uint64(n)); err != nil {
			return n, err
		}
		n += step
	}
	return n, nil
}

// segmentAt returns the PT_LOAD that contains address addr.
func (f *File) segmentAt(addr uint64) (p elf.ProgHeader, ok bool) {
	for _, p := range f.segments {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr-p.Vaddr < p.Memsz {
			return p, true
		}
	}
	return p, false
}

// segmentOf returns the first program header of a type.
func (f *File) segmentOf(t elf.ProgType) (p elf.ProgHeader, ok bool) {
	for _, p := range f.segments {
		if p.Type == t {
			return p, true
		}
	}
	return p, false
}

// Bias returns the load bias of a mapping of the file: an address in the process minus the
// address in the file, in bytes. The mapping starts at the address start and the file's
// offset; executable is its permission. Bias returns false if no segment fits the mapping.
//
// The offset alone does not identify the segment: segments need not start at a page, and
// two can share one page of the file with different biases.
func (f *File) Bias(start, offset uint64, executable bool) (bias uint64, ok bool) {
	best := -1
	for i := range f.segments {
		p := &f.segments[i]
		if p.Type != elf.PT_LOAD || p.Filesz == 0 {
			continue
		}
		// The kernel maps whole pages of 4 to 64 KiB, from the one that holds
		// p_offset to the one that holds the last byte.
		page := min(max(p.Align, 1<<12), 1<<16)
		if p.Off > offset && p.Off-offset >= page || offset > p.Off && offset-p.Off >= p.Filesz {
			continue
		}
		b := start - offset - (p.Vaddr - p.Off)
		if b%(1<<12) != 0 {
			continue
		}
		rank := 0
		if executable == (p.Flags&elf.PF_X != 0) {
			rank += 2
		}
		if offset >= p.Off || p.Off-offset < 1<<12 {
			rank++
		}
		if rank > best {
			best, bias, ok = rank, b, true
		}
	}
	return bias, ok
}
