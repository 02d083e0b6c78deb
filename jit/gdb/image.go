// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"slices"
	"unsafe"
)

// image is a symbol file in memory: registered, or waiting for it. The list's lock
// guards it.
type image struct {
	memory    []byte // the entry and then the file
	arena     *arena // that memory belongs to
	batches   []*batch
	functions int
	low, high uint64 // start addresses of the first and the last function

	level          int // set by settle
	registered     bool
	previous, next *image // in the list
}

const entrySize = int(unsafe.Sizeof(nativeEntry{}))

// file returns the symbol file.
func (i *image) file() []byte { return i.memory[entrySize:] }

// entry returns the image's entry.
func (i *image) entry() *nativeEntry {
	return (*nativeEntry)(unsafe.Pointer(unsafe.SliceData(i.memory)))
}

// address returns the address of the image's entry.
func (i *image) address() uintptr { return address(i.memory) }

// newImage copies a symbol file into an arena.
func (p *Publisher) newImage(a *arena, file []byte) (*image, error) {
	memory, err := a.alloc(entrySize + len(file))
	if err != nil {
		return nil, err
	}
	i := &image{memory: memory, arena: a}
	copy(i.file(), file)
	*i.entry() = nativeEntry{symfile: address(i.file()), size: uint64(len(file))}
	p.files++
	p.bytes += len(file)
	return i, nil
}

// free frees the memory of an image that is not registered.
func (p *Publisher) free(i *image) {
	p.files--
	p.bytes -= len(i.file())
	i.arena.release(i.memory)
	i.memory, i.batches = nil, nil
}

// batch is the Registration that Publish returns. The list's lock guards all fields except start.
type batch struct {
	publisher *Publisher // nil if all functions were withdrawn
	image     *image     // that contains it
	start     uint64     // address of the first function
	more      *more      // nil for a batch of one function
}

// more is the additional state of a batch of several functions.
type more struct {
	offsets []uint32 // of the functions, relative to start; never changed
	live    int      // functions that were not withdrawn
	gone    []uint64 // one bit for each withdrawn function; nil if there is none
	images  []*image // other parts, if batch.image was split because it was too large
}

// functions returns how many functions the batch had when it was published.
func (b *batch) functions() int {
	if b.more == nil {
		return 1
	}
	return len(b.more.offsets)
}

// gone reports whether a function was withdrawn.
func (b *batch) gone(function int) bool {
	if b.publisher == nil {
		return true
	}
	return b.more != nil && b.more.gone != nil && b.more.gone[function/64]>>(function%64)&1 != 0
}

// bury records that a function, which was live until now, is withdrawn.
func (b *batch) bury(function int) {
	m := b.more
	if m == nil || m.live == 1 {
		b.publisher = nil
		return
	}
	if m.gone == nil {
		m.gone = make([]uint64, (len(m.offsets)+63)/64)
	}
	m.gone[function/64] |= 1 << (function % 64)
	m.live--
}

// address returns the start address of a function.
func (b *batch) address(function int) uint64 {
	if b.more == nil {
		return b.start
	}
	return b.start + uint64(b.more.offsets[function])
}

// split reports whether the functions of the batch are spread over several images.
func (b *batch) split() bool { return b.more != nil && len(b.more.images) > 0 }

// images returns the images that contain functions of the batch.
func (b *batch) images() []*image {
	switch {
	case b.image == nil:
		return nil
	case !b.split():
		return []*image{b.image}
	}
	return append([]*image{b.image}, b.more.images...)
}

// enter records that an image contains functions of the batch.
func (b *batch) enter(i *image) {
	if b.image == nil {
		b.image = i
	} else if b.image != i {
		b.more.images = append(b.more.images, i)
	}
}

// leave records that an image no longer contains functions of the batch.
func (b *batch) leave(i *image) {
	if b.image != i {
		k := slices.Index(b.more.images, i)
		b.more.images = slices.Delete(b.more.images, k, k+1)
		return
	}
	b.image = nil
	if b.split() {
		last := len(b.more.images) - 1
		b.image = b.more.images[last]
		b.more.images = b.more.images[:last]
	}
}
