// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind

import (
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/region"
)

// Format is the way an Info describes its code. The values are libunwind's,
// UNW_INFO_FORMAT_*.
type Format int32

const (
	// Dynamic is proc-info: regions and operations. libunwind supports it on Itanium only.
	// On other machines, libunwind ends the walk if its search finds an Info of this format
	// first.
	Dynamic Format = iota
	// TableInfo is table-info. libunwind 1.6 and 1.8 expect a private structure in it.
	TableInfo
	// RemoteTable is a search table with entries relative to the segment base.
	RemoteTable
	// ARMExidx is the exception table of 32-bit ARM.
	ARMExidx
	// IPOffset is RemoteTable, but functions are relative to the start of the
	// code.
	IPOffset
)

var formatNames = [...]string{"dynamic", "table", "remote table", "ARM exidx", "IP offset"}

// String returns the name of the format: "remote table".
func (f Format) String() string {
	if f >= 0 && int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("Format(%d)", int32(f))
}

// Info is an entry of libunwind's list, unw_dyn_info_t: a range of code and its
// description.
type Info struct {
	Address uint64 // of the entry

	Start, End uint64 // the code
	GP         uint64 // global pointer, on machines that have one
	LoadOffset uint64 // load bias of the object that contains the code
	Format     Format

	Procedure *region.Procedure // of format Dynamic
	Table     *region.Table     // of formats TableInfo, RemoteTable and IPOffset

	// Err says which part of the description could not be read. The other parts are set.
	Err error
}

// layout contains the offsets of the fields of libunwind's structures
// (libunwind-dynamic.h). Words have the width of the machine; the int32 and uint32
// fields are placed so that no compiler inserts padding.
type layout struct {
	word int64

	// unw_dyn_info_t
	next, prev, start, end, gp, format, loadOffset, union int64
	infoSize                                              int64
	// In the union: proc-info.
	name, handler, flags, regions int64
	// In the union: table-info and remote-table-info, after the name.
	segbase, tableLen, tableData int64

	// unw_dyn_region_info_t
	regionNext, insnCount, opCount, ops int64
	// unw_dyn_op_t
	tag, qp, reg, when, val int64
	opSize                  int64

	// unw_dyn_info_list_t
	version, generation, first int64
	listSize                   int64
}

var layout64 = layout{
	word: 8,
	next: 0, prev: 8, start: 16, end: 24, gp: 32, format: 40, loadOffset: 48, union: 56, infoSize: 88,
	name: 0, handler: 8, flags: 16, regions: 24,
	segbase: 8, tableLen: 16, tableData: 24,
	regionNext: 0, insnCount: 8, opCount: 12, ops: 16,
	tag: 0, qp: 1, reg: 2, when: 4, val: 8, opSize: 16,
	version: 0, generation: 4, first: 8, listSize: 16,
}

var layout32 = layout{
	word: 4,
	next: 0, prev: 4, start: 8, end: 12, gp: 16, format: 20, loadOffset: 28, union: 32, infoSize: 52,
	name: 0, handler: 4, flags: 8, regions: 16,
	segbase: 4, tableLen: 8, tableData: 12,
	regionNext: 0, insnCount: 4, opCount: 8, ops: 12,
	tag: 0, qp: 1, reg: 2, when: 4, val: 8, opSize: 12,
	version: 0, generation: 4, first: 8, listSize: 12,
}

func layoutOf(m *arch.Machine) *layout {
	if m.AddressSize == 4 {
		return &layout32
	}
	return &layout64
}

// entrySize is the size of an entry of a search table: two int32.
const entrySize = 8
