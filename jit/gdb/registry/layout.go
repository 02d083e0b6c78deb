// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package registry

import (
	"cmp"
	"encoding/binary"

	"github.com/clewdev/clew/arch"
)

// DescriptorSymbol and RegisterSymbol are the names by which debuggers find the
// interface (GDB manual, "JIT Compilation Interface").
const (
	DescriptorSymbol = "__jit_debug_descriptor"
	RegisterSymbol   = "__jit_debug_register_code"
)

// Version is the only version of the interface.
const Version = 1

// Action is the reason for a call of __jit_debug_register_code.
type Action uint32

const (
	ActionNone Action = iota
	ActionRegister
	ActionUnregister
)

// layout is the layout of the two structures on a machine.
type layout struct {
	order   binary.ByteOrder
	pointer uint64 // bytes
	size    uint64 // offset of an entry's size
}

func layoutOf(m *arch.Machine) layout {
	l := layout{order: m.Order, pointer: uint64(m.AddressSize)}
	align := min(8, cmp.Or(m.C.MaxAlign, 8)) // of the size, 64 bits
	l.size = (3*l.pointer + align - 1) &^ (align - 1)
	return l
}

// descriptor is a struct jit_descriptor.
type descriptor struct {
	version         uint32
	action          Action
	relevant, first uint64
}

// entry is a struct jit_code_entry.
type entry struct {
	next, previous uint64
	symfile, size  uint64
}

func (l layout) descriptorSize() int { return int(8 + 2*l.pointer) }

func (l layout) entrySize() int { return int(l.size + 8) }

// word decodes a pointer.
func (l layout) word(b []byte) uint64 {
	if l.pointer == 4 {
		return uint64(l.order.Uint32(b))
	}
	return l.order.Uint64(b)
}

// descriptor decodes a descriptor; b contains all of it.
func (l layout) descriptor(b []byte) descriptor {
	return descriptor{
		version: l.order.Uint32(b), action: Action(l.order.Uint32(b[4:])),
		relevant: l.word(b[8:]), first: l.word(b[8+l.pointer:]),
	}
}

// entry decodes an entry; b contains all of it.
func (l layout) entry(b []byte) entry {
	return entry{
		next: l.word(b), previous: l.word(b[l.pointer:]),
		symfile: l.word(b[2*l.pointer:]), size: l.order.Uint64(b[l.size:]),
	}
}
