// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"math"
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
	records      *space
	lists        *space            // functions and buckets of modules; and the empty pointer map
	heads        *space            // moduledata
	constants    map[int32]uint32  // tables of one value, by value
	numbers      map[string]uint32 // of files

	first, last *module
	live        []*module // disjoint, in ascending order
	functions   int

	// withdrawn modules and tables, of which a reader may still be in the middle.
	retired []retired
}

// module is a module in the runtime's list.
type module struct {
	start, end     uint64
	batch          *batch
	from, to       int // its functions: batch.functions[from:to]
	previous, next *module

	head, list, records uint64 // offsets
	listSize            uint64
	count               int // of records
}

// retired is memory to free when no reader can be left.
type retired struct {
	module *module
	table  uint32
	size   int // of the table; 0 if there is none
}

// maxRetired is the number of withdrawn modules and tables at which their memory is freed.
const maxRetired = 1024

var linked modules

// layoutAt returns the address of a function of this package, which the program's module has.
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
	// Otherwise a plugin or another loader linked it.
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
		for _, s := range []*space{x.names.space, x.files.space, x.units, x.steps.space, x.records, x.lists, x.heads} {
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
	for _, s := range []struct {
		to   **space
		name string
		size uint64
	}{
		{&x.names.space, "names", 1 << 30}, // below 1<<31: the runtime's offsets are signed
		{&x.files.space, "file names", 256 << 20},
		{&x.units, "file numbers", 64 << 20},
		{&x.steps.space, "tables", 1<<32 - pageSize},
		{&x.records, "functions", 1 << 32},
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
		_, err = x.lists.alloc(minBlock)
	}
	if err == nil {
		*(*int32)(x.lists.at(0)) = 1 // a pointer map (runtime.stackmap) of 0 words
	}
	return err
}

// anchors links the two modules that stay. No code can run at their addresses. The last one
// has the records of all functions: a runtime.Func of a withdrawn function is read with it.
func (x *modules) anchors(l *layout) error {
	x.layout = l
	defer func() { x.layout = nil }()
	for _, to := range []**module{&x.last, &x.first} {
		m := &module{from: 0, to: 1, count: 1, batch: &batch{}}
		place, err := x.lists.alloc(minBlock)
		if err != nil {
			return err
		}
		m.start = x.lists.address() + place
		m.end = m.start + minBlock
		name, err := x.names.add("github.com/clewdev/clew/jit/goruntime.none")
		if err != nil {
			return err
		}
		m.batch.functions = []function{{start: m.start, end: m.end, name: name, parts: []part{{start: m.start}}}}
		if err := x.write(m); err != nil {
			return err
		}
		*to = m
	}
	h := (*head)(x.heads.at(x.last.head))
	x.share(x.last)
	functions := (*[2][2]uint32)(h.functions.data)
	functions[0][1] = uint32(x.last.records)
	x.first.next, x.last.previous = x.last, x.first
	x.link(x.first, x.last)
	chain(x.heads.at(x.first.head), x.heads.at(x.last.head), l)
	return nil
}

// link makes next the module after m in the runtime's list.
func (x *modules) link(m, next *module) {
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Add(x.heads.at(m.head), x.layout.next)), x.heads.at(next.head))
}

// function is a function of a batch.
type function struct {
	start, end uint64
	name       uint32
	gone       bool // withdrawn, or without code
	parts      []part
}

// part is a part of a function with its own record: all of it, or the code up to where the
// runtime starts or ceases to find the caller.
type part struct {
	start     uint64
	startLine int32
	stop      bool // walks stop here

	depths, files, lines, unsafe uint32 // offsets of tables

	own [3]table
}

// table is a table that only one function has.
type table struct {
	offset uint32
	size   int
}

// write writes a module, without linking it. It has the functions [from, to) of its batch,
// none of which is gone.
func (x *modules) write(m *module) (err error) {
	functions := m.batch.functions[m.from:m.to]
	m.count = 0
	for i := range functions {
		m.count += len(functions[i].parts)
	}
	n := uint64(m.count)
	buckets := (m.end - m.start + bucketSize - 1) / bucketSize
	m.listSize = 8*(n+1) + buckets*uint64(unsafe.Sizeof(bucket{}))
	if m.records, err = x.records.alloc(n * recordSize); err != nil {
		return err
	}
	if m.list, err = x.lists.alloc(m.listSize); err != nil {
		x.records.put(m.records, n*recordSize)
		return err
	}
	if m.head, err = x.heads.alloc(moduleSize); err != nil {
		x.records.put(m.records, n*recordSize)
		x.lists.put(m.list, m.listSize)
		return err
	}
	list := unsafe.Slice((*[2]uint32)(x.lists.at(m.list)), n+1)
	k := 0
	for i := range functions {
		f := &functions[i]
		for j := range f.parts {
			p, flag := &f.parts[j], uint8(flagAsm)
			if p.stop {
				flag |= flagSPWrite
			}
			list[k] = [2]uint32{uint32(p.start - m.start), uint32(k * recordSize)}
			*(*record)(x.records.at(m.records + uint64(k)*recordSize)) = record{
				entry: uint32(p.start - m.start), name: int32(f.name), startLine: p.startLine,
				depths: p.depths, files: p.files, lines: p.lines, unsafePoint: p.unsafe, tables: 1,
				flag: flag, arguments: noData, locals: 0, data: 2,
			}
			k++
		}
	}
	list[n] = [2]uint32{uint32(m.end - m.start), 0}
	fillBuckets(unsafe.Slice((*bucket)(unsafe.Add(x.lists.at(m.list), 8*(n+1))), buckets), list)

	x.grow()
	p := x.heads.at(m.head)
	header := (*tableHeader)(unsafe.Add(p, moduleSize-unsafe.Sizeof(tableHeader{})))
	header.magic, header.quantum, header.pointer, header.functions = magic, quantum(), uint8(unsafe.Sizeof(uintptr(0))), m.count
	*(*head)(p) = head{
		header:    unsafe.Pointer(header),
		records:   slice{x.records.at(m.records), m.count * recordSize, m.count * recordSize},
		functions: slice{x.lists.at(m.list), len(list), len(list)},
		buckets:   uintptr(unsafe.Add(x.lists.at(m.list), 8*(n+1))),
		minPC:     uintptr(m.start), maxPC: uintptr(m.end), text: uintptr(m.start), end: uintptr(m.end),
	}
	x.share(m)
	*(*uintptr)(unsafe.Add(p, x.layout.goFunc)) = uintptr(x.lists.base)
	*(*uintptr)(unsafe.Add(p, x.layout.endTable)) = uintptr(x.lists.base)
	// The module has no data, and the runtime need not look for any.
	*(*bool)(unsafe.Add(p, x.layout.bad)) = true
	return nil
}

// share writes the slices of the tables that all modules share.
func (x *modules) share(m *module) {
	h := (*head)(x.heads.at(m.head))
	for _, s := range []struct {
		to   *slice
		from *space
		size int // of an element
	}{{&h.names, x.names.space, 1}, {&h.files, x.files.space, 1}, {&h.steps, x.steps.space, 1}, {&h.units, x.units, 4}} {
		n := int(s.from.visible) / s.size
		*s.to = slice{s.from.base, n, n}
	}
	if m == x.last {
		h.records = slice{x.records.base, int(x.records.visible), int(x.records.visible)}
	}
}

// grow makes the slices of all modules longer if they do not have all of the tables. They are not
// as long as the spaces, for tools that read them from outside of the program.
func (x *modules) grow() {
	grown := false
	for _, s := range []*space{x.names.space, x.files.space, x.steps.space, x.units, x.records} {
		for s.visible < s.used {
			s.visible = min(max(2*s.visible, minVisible), s.limit)
			grown = true
		}
	}
	if !grown {
		return
	}
	for _, m := range []*module{x.first, x.last} {
		if m != nil {
			x.share(m)
		}
	}
	for _, m := range x.live {
		x.share(m)
	}
	for _, r := range x.retired {
		if r.module != nil {
			x.share(r.module)
		}
	}
}

const minVisible = 64 << 10

// bucket leads to the functions of 4096 bytes of code (runtime.findfuncbucket).
type bucket struct {
	first uint32
	parts [16]uint8 // of 256 bytes each
}

const (
	bucketSize = 4096
	partSize   = bucketSize / 16
)

// fillBuckets writes the index of the function at the start of each part, or of one before:
// the runtime searches onwards from it.
func fillBuckets(buckets []bucket, list [][2]uint32) {
	i := 0
	for b := range buckets {
		for k := range buckets[b].parts {
			at := uint64(b)*bucketSize + uint64(k)*partSize
			for i+2 < len(list) && uint64(list[i+1][0]) <= at {
				i++
			}
			if k == 0 {
				buckets[b].first = uint32(i)
			}
			buckets[b].parts[k] = uint8(min(i-int(buckets[b].first), math.MaxUint8))
		}
	}
}

// insert links a module after the first one.
func (x *modules) insert(m *module) {
	m.previous, m.next = x.first, x.first.next
	x.link(m, m.next)
	m.next.previous, x.first.next = m, m
	x.link(x.first, m)
	x.live = slices.Insert(x.live, x.find(m.start), m)
}

// remove unlinks a module. A reader at it can continue.
func (x *modules) remove(m *module) {
	m.previous.next, m.next.previous = m.next, m.previous
	x.link(m.previous, m.next)
	i := x.find(m.start)
	for x.live[i] != m {
		i++
	}
	x.live = slices.Delete(x.live, i, i+1)
	x.retired = append(x.retired, retired{module: m})
}

// find returns the index of the first live module that ends after an address.
func (x *modules) find(address uint64) int {
	return sort.Search(len(x.live), func(i int) bool { return x.live[i].end > address })
}

// discard frees a module that was not linked.
func (x *modules) discard(m *module) {
	x.records.put(m.records, uint64(m.count)*recordSize)
	x.lists.put(m.list, m.listSize)
	x.heads.put(m.head, moduleSize)
}

// collect frees the memory of withdrawn modules if there are many.
//
// The runtime reads the list and the tables without a lock: in runtime.findfunc, which cannot
// be preempted, and where it walks a stack. When the world is stopped, no goroutine is in
// either. Later readers do not find the modules, because they are not in the list. Records that
// the program kept (runtime.Func) lead to other records of the same form then.
func (x *modules) collect() {
	if len(x.retired) < maxRetired {
		return
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats) // stops the world
	for _, r := range x.retired {
		if r.module != nil {
			x.discard(r.module)
		} else {
			x.steps.remove(r.table, r.size)
		}
	}
	clear(x.retired)
	x.retired = x.retired[:0]
}

// split returns modules, not linked, for the functions [from, to) of a batch that are not gone.
func (x *modules) split(b *batch, from, to int) (list []*module, err error) {
	for i := from; i < to; i++ {
		f := &b.functions[i]
		if f.gone {
			continue
		}
		n := len(list)
		if n > 0 && list[n-1].to == i && x.joins(list[n-1], f) {
			list[n-1].to, list[n-1].end = i+1, f.end
			continue
		}
		list = append(list, &module{start: f.start, end: f.end, batch: b, from: i, to: i + 1})
	}
	for i, m := range list {
		if err := x.write(m); err != nil {
			for _, m := range list[:i] {
				x.discard(m)
			}
			return nil, err
		}
	}
	return list, nil
}

// joins reports whether a function can be in the same module as those before it.
func (x *modules) joins(m *module, f *function) bool {
	if f.start-m.end > spread || f.end-m.start > math.MaxInt32 {
		return false
	}
	if f.start == m.end {
		return true
	}
	i := x.find(m.end)
	return i == len(x.live) || x.live[i].batch == m.batch || x.live[i].start >= f.start
}

// makeWay splits the live modules of which a gap contains functions of a batch.
func (x *modules) makeWay(b *batch) error {
	for k := range b.functions {
		f := &b.functions[k]
		if f.gone {
			continue
		}
		i := x.find(f.start)
		if i == len(x.live) || x.live[i].start >= f.end {
			continue
		}
		m := x.live[i]
		at := m.from
		for at < m.to && m.batch.functions[at].start < f.start {
			at++
		}
		lower, err := x.split(m.batch, m.from, at)
		if err != nil {
			return err
		}
		upper, err := x.split(m.batch, at, m.to)
		if err != nil {
			for _, m := range lower {
				x.discard(m)
			}
			return err
		}
		x.replace([]*module{m}, append(lower, upper...))
	}
	return nil
}

// replace links new modules for functions of old ones, and unlinks these. Readers find one
// of them at any time.
func (x *modules) replace(old, list []*module) {
	for _, m := range list {
		x.insert(m)
		m.batch.modules = append(m.batch.modules, m)
	}
	for _, m := range old {
		x.remove(m)
		m.batch.modules = slices.DeleteFunc(m.batch.modules, func(other *module) bool { return other == m })
	}
}
