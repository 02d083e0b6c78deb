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

// ready is a symbol file that the caller made. The list's lock guards it.
type ready struct {
	publisher *Publisher
	image     *image // nil if it was withdrawn
}

// PublishImage registers a complete symbol file, as a linker writes it: an ELF file with
// the addresses of the code in memory, or with address 0 for sections without one. The file
// is copied. It is never merged, and Gather does not delay it: when PublishImage returns
// debuggers know it. They skip the parts that they cannot read.
//
// For the Registration it is a batch of one function, which Stats does not count. The error
// wraps registry.ErrNotELF if the bytes do not start with ELF's magic number.
func (p *Publisher) PublishImage(file []byte) (jit.Registration, error) {
	if len(file) < elf.EI_NIDENT || string(file[:len(elf.ELFMAG)]) != elf.ELFMAG {
		return nil, fmt.Errorf("%w: it starts with % x, not with 7f 45 4c 46", registry.ErrNotELF, file[:min(len(file), len(elf.ELFMAG))])
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
			return fmt.Errorf("%w: function %d: a symbol file counts as one function, number 0", jit.ErrCode, f)
		}
	}
	if len(functions) == 0 {
		return nil
	}
	return r.Withdraw()
}

// Own returns the addresses of the interface in this program: of the descriptor, from which
// debuggers read the list, and of the function that reports its changes to them. Both are 0
// if the program has no interface.
func Own() (descriptor, register uint64) {
	return uint64(uintptr(unsafe.Pointer(ownDescriptor()))), uint64(ownRegister())
}
