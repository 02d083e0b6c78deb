// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"math"
	"slices"
	"sync/atomic"
	"unsafe"
)

// block is the published functions at 2 GiB of addresses. All modules with code there share its
// tables: the addresses in them are offsets from the start of the block, which is the text of
// each module.
//
// Pages of code have lists of functions (run), to which the buckets of the runtime lead
// (runtime.findfuncbucket). A function is added by replacing the lists of its pages, and removed
// by changing an entry of them. So publishing does not depend on the number of functions.
type block struct {
	base    uint64
	buckets *space // one bucket for each page of code
	records *space // the first one is that of addresses without a function

	// module has no code. It is in the runtime's list for ever: with it the runtime reads a
	// runtime.Func of a withdrawn function.
	module *module
}

const (
	blockSize = 1 << 31

	// codePage is the size of the code of a bucket (abi.FuncTabBucketSize).
	codePage = 4096
)

// bucket leads to the list of a page. The runtime adds the number of a part of the page to run.
// The parts are zero, so that one store replaces a list.
type bucket struct {
	run   uint32 // index in modules.lists; 0 if the page has no functions
	parts [16]uint8
}

// entry is an entry of a list: from an offset in the block on, a record applies
// (runtime.functab). Record 0 is that of addresses without a function. The offset of the first
// entry can be before the page. The last slot of the memory of a list has the offset endOfRun,
// so that no reader leaves it, even one that was interrupted long ago.
type entry struct{ offset, record uint32 }

const (
	entrySize = 8
	endOfRun  = math.MaxUint32
)

// blockAt returns the block of an address, and creates it if there is none.
func (x *modules) blockAt(address uint64) (*block, error) {
	base := address &^ (blockSize - 1)
	if b := x.lastBlock; b != nil && b.base == base {
		return b, nil
	}
	if b := x.blocks[base]; b != nil {
		x.lastBlock = b
		return b, nil
	}
	b := &block{base: base}
	var err error
	size := blockSize / codePage * uint64(unsafe.Sizeof(bucket{}))
	if b.buckets, err = reserveAll("pages of code", size); err != nil {
		return nil, err
	}
	if _, err = b.buckets.extend(size); err != nil {
		b.buckets.release()
		return nil, err
	}
	if b.records, err = reserve("functions", 1<<32); err == nil {
		_, err = b.records.alloc(recordSize)
	}
	if err == nil {
		*b.record(0) = record{name: int32(x.unknown)}
		b.module = &module{block: b, start: base, end: base}
		err = x.write(b.module)
	}
	if err != nil {
		b.buckets.release()
		b.records.release()
		return nil, err
	}
	b.module.next, x.tail = x.tail, b.module
	x.link(b.module, b.module.next)
	x.splice(len(x.live), len(x.live))
	x.blocks[base], x.lastBlock = b, b
	return b, nil
}

func (b *block) record(offset uint64) *record { return (*record)(b.records.at(offset)) }

// bucket returns the bucket of an address.
func (b *block) bucket(address uint64) *bucket {
	return (*bucket)(b.buckets.at((address - b.base) / codePage * uint64(unsafe.Sizeof(bucket{}))))
}

// entries returns the list of a page.
func (x *modules) entries(run uint32) []entry {
	first := x.lists.at(uint64(run) * entrySize)
	n := 0
	for (*entry)(unsafe.Add(first, n*entrySize)).offset != endOfRun {
		n++
	}
	return unsafe.Slice((*entry)(first), n)
}

// page is the list of a page of code while it changes.
type page struct {
	block   *block
	start   uint64 // address; 0 if there is none
	list    []entry
	covered []extent // pages that had no functions before, in groups
}

// extent is a range of addresses.
type extent struct{ start, end uint64 }

// put adds a part of a function to the lists of its pages. The last one is written by flush.
func (x *modules) put(p *part) error {
	b, g := p.block, &x.page
	for at := p.start &^ (codePage - 1); at < p.end; at += codePage {
		if g.start != at {
			if err := x.flush(); err != nil {
				return err
			}
			g.block, g.start, g.list = b, at, append(g.list[:0], entry{uint32(at - b.base), 0})
			if run := b.bucket(at).run; run != 0 {
				g.list = g.list[:0]
				for _, e := range x.entries(run) {
					if n := len(g.list); n == 0 || e.record != 0 || g.list[n-1].record != 0 {
						g.list = append(g.list, e)
					}
				}
			}
		}
		g.add(entry{uint32(p.start - b.base), uint32(p.record)}, uint32(p.end-b.base))
	}
	return nil
}

// add adds an entry for the code up to an offset. The return address of a call at the end of a
// function is the address after it, which belongs to the function too if nothing else does.
func (g *page) add(e entry, end uint32) {
	i := len(g.list)
	for i > 0 && g.list[i-1].offset >= e.offset {
		i--
	}
	next, limit := i, uint32(g.start-g.block.base+codePage)
	for next < len(g.list) && g.list[next].record == 0 {
		next++
	}
	if next < len(g.list) {
		limit = g.list[next].offset
	}
	if end += uint32(quantum()); end < limit {
		g.list = slices.Replace(g.list, i, next, e, entry{end, 0})
	} else {
		g.list = slices.Replace(g.list, i, next, e)
	}
}

// flush replaces the list of the page that put has changed.
func (x *modules) flush() error {
	g := &x.page
	start := g.start
	if g.start = 0; start == 0 {
		return nil
	}
	n := uint64(len(g.list) + 1)
	offset, err := x.lists.alloc(n * entrySize)
	if err != nil {
		return err
	}
	list := unsafe.Slice((*entry)(x.lists.at(offset)), 1<<class(n*entrySize)/entrySize)
	list[len(list)-1].offset = endOfRun
	list[n-1].offset = endOfRun
	copy(list, g.list)
	x.grow()
	b := g.block.bucket(start)
	if old := b.run; old != 0 {
		x.retireRun(old)
	} else if k := len(g.covered); k > 0 && g.covered[k-1].end == start && start&(blockSize-1) != 0 {
		g.covered[k-1].end += codePage
	} else {
		g.covered = append(g.covered, extent{start, start + codePage})
	}
	atomic.StoreUint32(&b.run, uint32(offset/entrySize))
	return nil
}

func (x *modules) retireRun(run uint32) {
	size := uint64(len(x.entries(run))+1) * entrySize
	x.retired = append(x.retired, retired{space: x.lists, offset: uint64(run) * entrySize, size: size})
}

// take removes a part of a function from the lists of its pages. It cannot fail.
func (x *modules) take(p *part) {
	empty := extent{}
	for at := p.start &^ (codePage - 1); at < p.end; at += codePage {
		b, used := p.block.bucket(at), false
		if b.run == 0 {
			continue // put has failed
		}
		list := x.entries(b.run)
		for i := range list {
			if list[i].record == uint32(p.record) {
				atomic.StoreUint32(&list[i].record, 0)
			}
			used = used || list[i].record != 0
		}
		if used {
			continue
		}
		x.retireRun(b.run)
		atomic.StoreUint32(&b.run, 0)
		if empty.end != at {
			x.uncover(empty)
			empty.start = at
		}
		empty.end = at + codePage
	}
	x.uncover(empty)
}
