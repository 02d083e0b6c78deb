// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"slices"
	"unsafe"

	"github.com/clewdev/clew/jit"
)

// image is a symbol file in memory, registered or pending. The list's lock guards it.
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

// batch is the Registration that Publish returns. The list's lock guards all fields
// except start and claim.
type batch struct {
	publisher *Publisher // nil if all functions were withdrawn
	image     *image     // that contains it
	start     uint64     // address of the first function
	extra     *extra     // nil for a batch of one function
	claim     *jit.Claim // set by Publish
}

// extra is the additional state of a batch of several functions.
type extra struct {
	offsets []uint64 // of the functions, relative to start; never changed
	live    int      // functions that were not withdrawn
	gone    []uint64 // one bit for each withdrawn function; nil if there is none
	images  []*image // other parts, if batch.image was split because it was too large
}

// functions returns how many functions the batch had when it was published.
// noOffset is the offset of an empty function.
const noOffset = 1<<64 - 1

// live returns the number of functions that are not withdrawn.
func (b *batch) live() int {
	switch {
	case b.publisher == nil:
		return 0
	case b.extra == nil:
		return 1
	}
	return b.extra.live
}

// last returns the address of the last function that is not empty.
func (b *batch) last() uint64 {
	for f := b.functions() - 1; f > 0; f-- {
		if b.extra.offsets[f] != noOffset {
			return b.address(f)
		}
	}
	return b.start
}

func (b *batch) functions() int {
	if b.extra == nil {
		return 1
	}
	return len(b.extra.offsets)
}

// gone reports whether a function was withdrawn.
func (b *batch) gone(function int) bool {
	if b.publisher == nil {
		return true
	}
	return b.extra != nil && b.extra.gone != nil && b.extra.gone[function/64]>>(function%64)&1 != 0
}

// markWithdrawn records that a function, which was live until now, is withdrawn.
func (b *batch) markWithdrawn(function int) {
	m := b.extra
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
	if b.extra == nil {
		return b.start
	}
	return b.start + b.extra.offsets[function]
}

// split reports whether the functions of the batch are spread over several images.
func (b *batch) split() bool { return b.extra != nil && len(b.extra.images) > 0 }

// images returns the images that contain functions of the batch.
func (b *batch) images() []*image {
	switch {
	case b.image == nil:
		return nil
	case !b.split():
		return []*image{b.image}
	}
	return append([]*image{b.image}, b.extra.images...)
}

// enter records that an image contains functions of the batch.
func (b *batch) enter(i *image) {
	if b.image == nil {
		b.image = i
	} else if b.image != i {
		b.extra.images = append(b.extra.images, i)
	}
}

// leave records that an image no longer contains functions of the batch.
func (b *batch) leave(i *image) {
	if b.image != i {
		k := slices.Index(b.extra.images, i)
		b.extra.images = slices.Delete(b.extra.images, k, k+1)
		return
	}
	b.image = nil
	if b.split() {
		last := len(b.extra.images) - 1
		b.image = b.extra.images[last]
		b.extra.images = b.extra.images[:last]
	}
}
