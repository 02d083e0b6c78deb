// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android && (amd64 || arm64)

package cgotraceback

// #include "tables.h"
// #include "objects.h"
import "C"

import (
	"debug/elf"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// prepared is what the C code reads, and how it was made.
type prepared struct {
	mu       sync.Mutex
	objects  []object
	changes  uint64
	ready    bool
	files    map[string]*file // of all objects that were ever loaded: names in use are not freed
	others   *file            // of objects above the limit
	used     atomic.Int64     // bytes of tables
	problems error

	chunk     mapping // of small tables
	chunkUsed int     // bytes

	options atomic.Pointer[Options] // nil for the default
	waiting atomic.Int32            // calls of Prepare

	goText  [2]uint64
	retired []*C.struct_clew_list // replaced lists that a walk may still read
}

var tables prepared

// configured returns the options. They can change while tables are made.
func (p *prepared) configured() Options {
	if o := p.options.Load(); o != nil {
		return *o
	}
	return Options{}
}

// update makes tables for the objects that were loaded since the last call.
func (p *prepared) update() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ready && changes() == p.changes {
		return p.problems
	}
	p.load()
	// What walks need comes first. Each kind of table is published before the next is made. Lines
	// can take seconds, so those of each file are published, and the program's come first.
	var problems []error
	kinds := []func(*file) error{(*file).makeUnwind, (*file).makeNames, (*file).makeLines}
	for kind, build := range kinds {
		for i := range p.objects {
			o := &p.objects[i]
			f := p.file(o)
			f.left = max(0, p.limit()-p.used.Load())
			f.goText = [2]uint64{p.goText[0] - o.bias, p.goText[1] - o.bias}
			before := f.size
			if err := build(f); err != nil {
				problems = append(problems, err)
			}
			p.used.Add(f.size - before)
			if kind == len(kinds)-1 && f.size != before && i < len(p.objects)-1 {
				p.publish()
			}
		}
		p.publish()
	}
	for i := range p.objects {
		p.file(&p.objects[i]).close()
	}
	p.problems = errors.Join(problems...)
	p.ready = true
	return p.problems
}

// changes returns a number that changes when objects are loaded or unloaded.
func changes() uint64 {
	var n C.uint64_t
	C.clew_loaded(nil, 0, &n)
	return uint64(n)
}

// pause is called during long work. It leaves the processor to the program, unless Prepare
// waits. It returns false if lines are not wanted any more.
func (p *prepared) pause() bool {
	if p.waiting.Load() == 0 {
		time.Sleep(2 * time.Millisecond)
	}
	return !p.configured().NamesOnly
}

// limit returns the number of bytes that all tables may take.
func (p *prepared) limit() int64 {
	if o := p.configured(); o.MaxMemory > 0 {
		return o.MaxMemory
	}
	loaded := uint64(0)
	for i := range p.objects {
		for _, s := range p.objects[i].segments {
			loaded += min(s.size, 1<<40)
		}
	}
	return max(8<<20, int64(loaded/20))
}

// load lists the loaded objects.
func (p *prepared) load() {
	var list []C.struct_clew_object
	var changes C.uint64_t
	for capacity := 64; capacity <= 1<<16 && len(list) == cap(list); capacity *= 4 {
		list = make([]C.struct_clew_object, capacity)
		list = list[:C.clew_loaded(&list[0], C.uint32_t(capacity), &changes)]
	}
	p.changes = uint64(changes)
	vdso := uint64(C.getauxval(C.AT_SYSINFO_EHDR))
	p.objects = p.objects[:0]
	found := false
	for i := range list {
		o := newObject(&list[i], i == 0, vdso)
		found = found || o.vdso
		p.objects = append(p.objects, o)
	}
	if vdso != 0 && !found {
		if o, ok := vdsoAt(vdso); ok {
			p.objects = append(p.objects, o)
		}
	}
	if p.goText[1] == 0 {
		p.findGoText()
	}
}

// findGoText finds the code of Go around a function of this package, by asking the runtime
// where a function of Go is.
func (p *prepared) findGoText() {
	pc, _, _, _ := runtime.Caller(0)
	low, high, ok := uint64(0), uint64(0), false
	for i := range p.objects {
		if s, found := p.objects[i].at(uint64(pc)); found {
			low, high, ok = p.objects[i].bias+s.start, p.objects[i].bias+s.start+s.size, true
		}
	}
	if !ok {
		return
	}
	isGo := func(a uint64) bool { return runtime.FuncForPC(uintptr(a)) != nil }
	bisect := func(inside, outside uint64) uint64 { // the last address of Go in this direction
		if isGo(outside) {
			return outside
		}
		for inside-outside != 1 && outside-inside != 1 {
			if middle := inside + uint64(int64(outside-inside)/2); isGo(middle) {
				inside = middle
			} else {
				outside = middle
			}
		}
		return inside
	}
	p.goText = [2]uint64{bisect(uint64(pc), low), bisect(uint64(pc), high-1) + 1}
}

// publish gives the tables to the C code.
func (p *prepared) publish() {
	var segments []C.struct_clew_segment
	modules := make([]C.struct_clew_module, 0, len(p.objects))
	for i := range p.objects {
		o := &p.objects[i]
		f := p.file(o)
		m := C.struct_clew_module{bias: C.uint64_t(o.bias), label: (*C.char)(f.label.pointer()),
			strings: (*C.char)(f.strings.pointer()), strings_size: C.uint64_t(f.strings.len()),
			unwind: (*C.struct_clew_unwind)(f.unwind.pointer()), names: (*C.struct_clew_names)(f.names.pointer()),
			lines: (*C.struct_clew_lines)(f.lines.pointer()),
			mark:  C.uint64_t(o.mark), mark_size: C.uint32_t(o.markSize)}
		for j, b := range o.markBytes {
			m.mark_bytes[j] = C.uint8_t(b)
		}
		if o.isPinned() {
			m.flags |= C.CLEW_PINNED
		} else if o.markSize == 0 {
			continue // nothing shows whether it is still mapped
		}
		index := C.uint64_t(len(modules))
		modules = append(modules, m)
		add := func(start, end uint64) {
			if start < end {
				segments = append(segments, C.struct_clew_segment{start: C.uint64_t(start), end: C.uint64_t(end), module: index})
			}
		}
		for _, s := range o.segments {
			if elf.ProgFlag(s.flags)&elf.PF_X == 0 {
				continue
			}
			start, end := o.bias+s.start, o.bias+s.start+s.size
			add(start, min(end, p.goText[0]))
			add(max(start, p.goText[1]), end)
		}
	}
	slices.SortFunc(segments, func(a, b C.struct_clew_segment) int {
		if a.start < b.start {
			return -1
		}
		return 1
	})
	list := newList(segments, modules)
	if list == nil {
		return
	}
	list.go_start, list.go_end = C.uint64_t(p.goText[0]), C.uint64_t(p.goText[1])
	if previous := C.clew_publish(list); previous != nil {
		p.free(previous)
	}
}

// newList maps a list. It returns nil if there is no memory.
func newList(segments []C.struct_clew_segment, modules []C.struct_clew_module) *C.struct_clew_list {
	head := unsafe.Sizeof(C.struct_clew_list{})
	first := unsafe.Sizeof(C.struct_clew_segment{}) * uintptr(len(segments))
	second := unsafe.Sizeof(C.struct_clew_module{}) * uintptr(len(modules))
	steps := (head + first + second + 63) &^ 63
	size := steps + unsafe.Sizeof(C.struct_clew_step{})*C.CLEW_STEPS
	memory, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil
	}
	at := unsafe.Pointer(unsafe.SliceData(memory))
	list := (*C.struct_clew_list)(at)
	list.size = C.uint64_t(size)
	list.segments = (*C.struct_clew_segment)(unsafe.Add(at, head))
	list.modules = (*C.struct_clew_module)(unsafe.Add(at, head+first))
	list.steps = (*C.struct_clew_step)(unsafe.Add(at, steps))
	list.segment_count, list.module_count = C.uint64_t(len(segments)), C.uint64_t(len(modules))
	copy(unsafe.Slice(list.segments, len(segments)), segments)
	copy(unsafe.Slice(list.modules, len(modules)), modules)
	return list
}

// free unmaps a list when no walk reads it. A walk takes microseconds. If a thread is stopped in
// one, the list is unmapped after a later one.
func (p *prepared) free(list *C.struct_clew_list) {
	p.retired = append(p.retired, list)
	var idle [2]bool
	for range 100 {
		for side := range idle {
			idle[side] = idle[side] || C.clew_idle(C.uint(side)) != 0
		}
		if idle[0] && idle[1] {
			for _, l := range p.retired {
				_ = unix.MunmapPtr(unsafe.Pointer(l), uintptr(l.size))
			}
			p.retired = nil
			return
		}
		time.Sleep(time.Millisecond)
	}
}
