// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"sync"

	"github.com/clewdev/clew/arch"
)

// Kind tells the two layouts of call frame information apart.
type Kind uint8

const (
	EHFrame    Kind = iota // .eh_frame: LSB Core, "DWARF Extensions"
	DebugFrame             // .debug_frame: DWARF 5 §6.4
)

// Section is a section of call frame information. Its fields are set before
// its first use and not changed after; its methods may then be called from
// several goroutines. Data is not copied and must stay as it is.
type Section struct {
	Name    string // as errors call it, ".eh_frame"
	Kind    Kind
	Data    []byte        // uncompressed, relocated
	Address uint64        // of Data[0], without load bias
	Machine *arch.Machine // byte order, width of an address, register names

	// TextBase and DataBase are what DW_EH_PE_textrel and DW_EH_PE_datarel
	// pointers are relative to: the addresses of .text and of the global offset table.
	TextBase, DataBase uint64

	// Memory resolves DW_EH_PE_indirect pointers to the start of a function
	// (addresses without load bias). Where it is nil they are an error.
	Memory Memory

	// Unrelocated are the offsets in Data, ascending, of what a relocation should have
	// changed and could not. An entry that has one is an error.
	Unrelocated []uint64

	indexOnce sync.Once
	index     *Index // of PCToSPOffset

	mu   sync.RWMutex
	cies map[uint64]knownCIE
}
