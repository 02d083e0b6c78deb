// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package forth

import "golang.org/x/sys/unix"

// call runs the word with code at an address, on the goroutine's stack. It returns when the word
// returns, or with a fault in the state. The goroutine cannot be stopped until then: a garbage
// collection of other goroutines waits for it.
func call(s *state, code uint64)

// pause is called by the word of that name, so that a function that Go knows is on the stack above
// words. Go code does not call it.
//
//lint:ignore U1000 call passes its address to words
func pause()

// mapMemory returns memory outside Go's heap, with inaccessible memory before and after it.
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
