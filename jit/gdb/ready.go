// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"debug/elf"
	"fmt"
	"unsafe"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/gdb/registry"
)

// ready is an image that somebody else made. The list's lock guards it.
type ready struct {
	publisher *Publisher
	image     *image // nil where it was withdrawn
}

// PublishImage registers a symbol file that is ready, as a linker has made it:
// an ELF file whose addresses are those of the code in memory, or are 0 where
// its sections have none. It is copied. It is never merged, and debuggers know it
// when PublishImage returns, whatever Gather says; what they cannot read in it
// they pass over.
//
// For withdrawing it is a batch of one function, of which Stats counts none. The
// error wraps registry.ErrNotELF where the bytes begin with something else.
func (p *Publisher) PublishImage(file []byte) (jit.Registration, error) {
	if len(file) < elf.EI_NIDENT || string(file[:len(elf.ELFMAG)]) != elf.ELFMAG {
		return nil, fmt.Errorf("%w: it starts with % x", registry.ErrNotELF, file[:min(len(file), len(elf.ELFMAG))])
	}
	if !p.AllowSecond {
		if err := checkSecond(); err != nil {
			return nil, err
		}
	}
	list.Lock()
	defer list.Unlock()
	i, err := p.newImage(&p.memory, file)
	if err != nil {
		return nil, err
	}
	register(i)
	return &ready{publisher: p, image: i}, nil
}

// Withdraw implements jit.Registration.
func (r *ready) Withdraw() error {
	list.Lock()
	defer list.Unlock()
	if r.image != nil {
		r.publisher.drop(r.image)
		r.image = nil
	}
	return nil
}

// WithdrawFunctions implements jit.Registration.
func (r *ready) WithdrawFunctions(functions ...int) error {
	for _, f := range functions {
		if f != 0 {
			return fmt.Errorf("%w: function %d: an image counts as 1", jit.ErrCode, f)
		}
	}
	if len(functions) == 0 {
		return nil
	}
	return r.Withdraw()
}

// Own returns the addresses of the interface in this program: of the descriptor,
// from which debuggers read the list, and of the function in which they are told
// that it has changed. Both are 0 where the program has no interface.
func Own() (descriptor, register uint64) {
	return uint64(uintptr(unsafe.Pointer(ownDescriptor()))), uint64(ownRegister())
}
