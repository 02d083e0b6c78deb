// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"
)

// modules are the modules of this package in the runtime's list. They are between two that
// stay in it for ever: modules that the runtime appends follow the second one.
type modules struct {
	mu     sync.Mutex
	layout *layout // nil before the first start
	failed error   // of the first start

	// The tables of all modules are in the same spaces, of which nothing is unmapped. So a
	// record that the runtime or the program kept from a withdrawn function is never read
	// with the wrong tables.
	names, files interned
	units        *space // the offsets of files
	steps        pages
	lists        *space            // of the functions in pages of code; and pointer maps
	heads        *space            // moduledata
	constants    map[int32]uint32  // tables of one value, by value
	numbers      map[string]uint32 // of files
	unknown      uint32            // the name of addresses without a function

	blocks    map[uint64]*block // by address
	lastBlock *block
	page      page

	// The list is: first, live, the modules of blocks from tail on, last.
	first, tail, last *module
	live              []*module // disjoint, in ascending order, with gaps between them
	functions         int

	// Withdrawn memory, of which a reader may still be in the middle. When retired is long,
	// the memory in waiting is freed, and retired waits.
	retired, waiting []retired
}

// module is a module in the runtime's list: pages of code that follow each other, each with code
// of a function. So no other code can be mapped between them, such as a plugin's.
type module struct {
	block      *block
	start, end uint64
	next       *module // of a module without code
	head       uint64  // offset in heads
}

// retired is memory to free when no reader can be left.
type retired struct {
	space  *space // nil for tables of values
	offset uint64
	size   uint64
}

// maxRetired is the number of pieces of withdrawn memory at which those before them are freed.
const maxRetired = 1024

var linked modules

// ownFunction returns the address of a function of this package, which the program's module has.
func ownFunction() uintptr {
	pc, _, _, _ := runtime.Caller(0)
	return pc
}

// start links the two modules that stay, unless it has done so. The caller holds mu.
func (x *modules) start(version string) error {
	if x.layout != nil || x.failed != nil {
		return x.failed
	}
	l, err := layoutOf(version)
	if err != nil {
		x.failed = err
		return err
	}
	old := (*head)(atomic.LoadPointer(&lastModule))
	// A module without this package is of a plugin or of another loader: it has another form.
	if own := ownFunction(); old != nil && old.minPC <= own && own < old.maxPC {
		err = checkModule(unsafe.Pointer(old), l)
	}
	if err == nil {
		err = x.reserve()
	}
	if err == nil {
		err = x.anchors(l)
	}
	if err != nil {
		for _, s := range x.spaces() {
			s.release()
		}
		x.failed = err
		return err
	}
	x.layout = l
	return nil
}

// reserve reserves the spaces.
func (x *modules) reserve() (err error) {
	x.names.offsets, x.files.offsets = make(map[string]uint32), make(map[string]uint32)
	x.constants, x.numbers = make(map[int32]uint32), make(map[string]uint32)
	x.blocks = make(map[uint64]*block)
	for _, s := range []struct {
		to   **space
		name string
		size uint64
	}{
		{&x.names.space, "names", 1 << 30}, // below 1<<31: the runtime's offsets are signed
		{&x.files.space, "file names", 256 << 20},
		{&x.units, "file numbers", 64 << 20},
		{&x.steps.space, "tables", 1<<32 - pageSize},
		{&x.lists, "lists of functions", 1 << 32},
		{&x.heads, "modules", 1 << 30},
	} {
		if *s.to, err = reserve(s.name, s.size); err != nil {
			return err
		}
	}
	// Offset 0 means no table, and the empty name.
	if _, err = x.steps.add(make([]byte, minBlock)); err == nil {
		_, err = x.names.add("")
	}
	if err == nil {
		x.unknown, err = x.names.add("runtime._ExternalCode")
	}
	for _, what := range []uint64{0, emptyMap} {
		if err == nil {
			_, err = x.lists.alloc(minBlock)
		}
		if err == nil && what == 0 { // the list of a page without functions
			(*entry)(unsafe.Add(x.lists.base, entrySize)).offset = endOfRun
		} else if err == nil {
			*(*int32)(x.lists.at(emptyMap)) = 1 // a pointer map (runtime.stackmap) of 0 words
		}
	}
	return err
}

// emptyMap is the offset of the empty pointer map in lists.
const emptyMap = minBlock

// spaces returns all spaces, without those of blocks.
func (x *modules) spaces() []*space {
	return []*space{x.names.space, x.files.space, x.units, x.steps.space, x.lists, x.heads}
}

// anchors links the two modules that stay. They have no code.
func (x *modules) anchors(l *layout) error {
	x.layout = l
	defer func() { x.layout = nil }()
	x.first, x.last = &module{}, &module{}
	for _, m := range []*module{x.last, x.first} {
		if err := x.write(m); err != nil {
			return err
		}
	}
	x.tail = x.last
	x.link(x.first, x.last)
	return chain(x.heads.at(x.first.head), x.heads.at(x.last.head), l)
}

// link makes next the module after m in the runtime's list.
func (x *modules) link(m, next *module) {
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Add(x.heads.at(m.head), x.layout.next)), x.heads.at(next.head))
}

// write writes a module, without linking it.
func (x *modules) write(m *module) (err error) {
	if m.head, err = x.heads.alloc(moduleSize); err != nil {
		return err
	}
	p := x.heads.at(m.head)
	header := (*tableHeader)(unsafe.Add(p, moduleSize-unsafe.Sizeof(tableHeader{})))
	header.magic, header.quantum, header.pointer = magic, quantum(), uint8(unsafe.Sizeof(uintptr(0)))
	h := (*head)(p)
	*h = head{header: unsafe.Pointer(header), minPC: uintptr(m.start), maxPC: uintptr(m.end)}
	if b := m.block; b != nil {
		h.text, h.end = uintptr(b.base), uintptr(b.base+blockSize)
		h.buckets = uintptr(unsafe.Pointer(b.bucket(m.start)))
	}
	x.share(m)
	*(*uintptr)(unsafe.Add(p, x.layout.goFunc)) = uintptr(x.lists.base)
	*(*uintptr)(unsafe.Add(p, x.layout.endTable)) = uintptr(x.lists.base)
	// The module has no data, and the runtime need not look for any.
	*(*bool)(unsafe.Add(p, x.layout.bad)) = true
	return nil
}

// share writes the slices of the tables that all modules share.
func (x *modules) share(m *module) { x.shareHead((*head)(x.heads.at(m.head)), m.block) }

func (x *modules) shareHead(h *head, b *block) {
	for _, s := range []struct {
		to   *slice
		from *space
		size int // of an element
	}{
		{&h.names, x.names.space, 1}, {&h.files, x.files.space, 1}, {&h.steps, x.steps.space, 1},
		{&h.units, x.units, 4}, {&h.functions, x.lists, entrySize},
	} {
		n := int(s.from.visible) / s.size
		*s.to = slice{s.from.base, n, n}
	}
	if b != nil {
		h.records = slice{b.records.base, int(b.records.visible), int(b.records.visible)}
	}
}

// grow makes the slices of all modules longer if they do not have all of the tables. They are not
// as long as the spaces, for tools that read them from outside of the program.
func (x *modules) grow() {
	grown := false
	see := func(s *space) {
		for s.visible < s.used {
			s.visible = min(max(2*s.visible, minVisible), s.limit)
			grown = true
		}
	}
	for _, s := range []*space{x.names.space, x.files.space, x.steps.space, x.units, x.lists} {
		see(s)
	}
	for _, b := range x.blocks {
		see(b.records)
	}
	if !grown {
		return
	}
	// Also heads that were unlinked: a reader may be at one.
	for at := uint64(0); at < x.heads.used; at += moduleSize {
		h := (*head)(x.heads.at(at))
		x.shareHead(h, x.blocks[uint64(h.text)])
	}
	// Before an offset beyond the former lengths becomes visible, every reader must have seen
	// the new lengths.
	stopTheWorld()
}

const minVisible = 64 << 10

// stopTheWorld waits until no goroutine is in the middle of reading the runtime's list or tables:
// runtime.findfunc cannot be preempted, nor can a walk of a stack.
func stopTheWorld() {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
}

// splice replaces the modules live[i:j] by others, which are written. It is one store, as the
// list is in the order of addresses. So readers find either all of the old ones or
// all of the new ones, and a reader at an old one can continue.
func (x *modules) splice(i, j int, list ...*module) {
	next := x.tail
	if j < len(x.live) {
		next = x.live[j]
	}
	for k := len(list) - 1; k >= 0; k-- {
		x.link(list[k], next)
		next = list[k]
	}
	previous := x.first
	if i > 0 {
		previous = x.live[i-1]
	}
	x.link(previous, next)
	for _, m := range x.live[i:j] {
		x.retired = append(x.retired, retired{space: x.heads, offset: m.head, size: moduleSize})
	}
	x.live = slices.Replace(x.live, i, j, list...)
}

// setEnd moves the end of a module, which readers may be using.
func (x *modules) setEnd(m *module, end uint64) {
	m.end = end
	atomic.StoreUintptr(&(*head)(x.heads.at(m.head)).maxPC, uintptr(end))
}

// cover adds pages that have functions now to a module. They are in one block.
func (x *modules) cover(b *block, e extent) error {
	i := x.find(e.start)
	j := i
	m := &module{block: b, start: e.start, end: e.end}
	joins := i > 0 && x.live[i-1].block == b && x.live[i-1].end == e.start
	if joins {
		i--
		m.start = x.live[i].start
	}
	if j < len(x.live) && x.live[j].block == b && x.live[j].start == e.end {
		m.end = x.live[j].end
		j++
	} else if joins {
		x.setEnd(x.live[i], e.end)
		return nil
	}
	if err := x.write(m); err != nil {
		return err
	}
	x.splice(i, j, m)
	return nil
}

// uncover takes pages without functions from their module. If memory is lacking for the modules
// before and after them, they stay, as addresses without a function.
func (x *modules) uncover(e extent) {
	i := x.find(e.start)
	if e.start == e.end || i == len(x.live) || x.live[i].start > e.start {
		return // cover has failed
	}
	m := x.live[i]
	switch {
	case m.start == e.start && m.end == e.end:
		x.splice(i, i+1)
		return
	case m.end == e.end:
		x.setEnd(m, e.start)
		return
	}
	var list []*module
	if m.start < e.start {
		list = append(list, &module{block: m.block, start: m.start, end: e.start})
	}
	list = append(list, &module{block: m.block, start: e.end, end: m.end})
	for k, m := range list {
		if x.write(m) != nil {
			for _, m := range list[:k] {
				x.heads.put(m.head, moduleSize)
			}
			return
		}
	}
	x.splice(i, i+1, list...)
}

// find returns the index of the first live module that ends after an address.
func (x *modules) find(address uint64) int {
	return sort.Search(len(x.live), func(i int) bool { return x.live[i].end > address })
}

// collect frees withdrawn memory if there is much.
//
// The runtime reads the list and the tables without a lock. When the world is stopped, no
// goroutine is in the middle of it, and later readers do not find what was withdrawn before.
// A signal handler on a thread in a system call can be: what is freed was withdrawn before
// the world was stopped twice, with many publications between.
func (x *modules) collect() {
	if len(x.retired) < maxRetired {
		return
	}
	stopTheWorld()
	for _, r := range x.waiting {
		if r.space != nil {
			r.space.put(r.offset, r.size)
		} else {
			x.steps.remove(uint32(r.offset), int(r.size))
		}
	}
	clear(x.waiting)
	x.retired, x.waiting = x.waiting[:0], x.retired
}
