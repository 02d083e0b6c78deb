// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package forth

import "golang.org/x/sys/unix"

// call runs the word whose code is at an address, on the goroutine's stack. It
// returns when the word does, or with a fault in the state.
//
// Nothing can stop the goroutine meanwhile: a garbage collection of other
// goroutines waits for the word to return.
func call(s *state, code uint64)

// pause is what the word of that name calls: a function that Go knows, on top of
// words. Go code does not call it.
//
//lint:ignore U1000 call gives its address to words
func pause()

// mapMemory returns memory that is no part of Go's heap, with inaccessible
// memory before and behind it.
func mapMemory(size int) (mapping, memory []byte, err error) {
	guard := unix.Getpagesize()
	size = (size + guard - 1) / guard * guard
	mapping, err = unix.Mmap(-1, 0, size+2*guard, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, nil, err
	}
	memory = mapping[guard : guard+size : guard+size]
	if err := unix.Mprotect(memory, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		unix.Munmap(mapping)
		return nil, nil, err
	}
	return mapping, memory, nil
}

func unmapMemory(mapping []byte) error { return unix.Munmap(mapping) }
