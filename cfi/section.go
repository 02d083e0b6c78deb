// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"sync"

	"github.com/clewdev/clew/arch"
)

// Kind is one of the two layouts of call frame information.
type Kind uint8

const (
	EHFrame    Kind = iota // .eh_frame: LSB Core, "DWARF Extensions"
	DebugFrame             // .debug_frame: DWARF 5 §6.4
)

// Section is a section of call frame information. Its fields must be set before its first
// use and not be changed later; its methods may then be called concurrently. Data is not
// copied and must not be changed.
type Section struct {
	Name    string // for errors, ".eh_frame"
	Kind    Kind
	Data    []byte        // uncompressed, relocated
	Address uint64        // of Data[0], without load bias
	Machine *arch.Machine // byte order, width of an address, register names

	// TextBase and DataBase are the bases of DW_EH_PE_textrel and DW_EH_PE_datarel pointers:
	// the addresses of .text and of the global offset table.
	TextBase, DataBase uint64

	// Memory resolves DW_EH_PE_indirect pointers to the start of a function, at addresses
	// without load bias. If it is nil, such pointers are an error.
	Memory Memory

	// Unrelocated are the offsets in Data, ascending, at which a relocation was not applied.
	// An entry that contains one is an error.
	Unrelocated []uint64

	indexOnce sync.Once
	index     *Index // for PCToSPOffset

	mu   sync.RWMutex
	cies map[uint64]knownCIE
}

// Memory is the memory of a process or file.
type Memory interface {
	// ReadMemory fills p with the bytes at addr. If not all of them can be read, it
	// returns an error, and p is undefined. It does not keep p.
	ReadMemory(p []byte, addr uint64) error
}
