// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// lastModule is where the runtime links the next module. It may be linked to by name
// (runtime/symtab.go, go.dev/issues/67401).
//
//go:linkname lastModule runtime.lastmoduledatap
var lastModule unsafe.Pointer

// head is the start of a moduledata. It is the same in all tested releases.
type head struct {
	header    unsafe.Pointer // *pcHeader
	names     slice
	units     slice // of uint32
	files     slice
	steps     slice
	records   slice
	functions slice   // of functab (entry)
	buckets   uintptr // findfunctab

	minPC, maxPC uintptr
	text, end    uintptr
}

// slice is a slice of the runtime's. Garbage collections do not look at it.
type slice struct {
	data          unsafe.Pointer
	length, limit int
}

// rest126 and rest127 are the fields of a moduledata after head, in Go 1.26 and 1.27.
type rest126 struct {
	_        [13]uintptr // noptrdata to gcbss
	_        [3]uintptr  // types to rodata
	goFunc   uintptr
	endTable uintptr
	_        slice // textsectmap
	_, _     slice // typelinks, itablinks
	_        slice // ptab
	_        string
	_, _     slice // pkghashes, inittasks
	_        string
	_        slice // modulehashes
	_        uint8 // hasmain
	bad      bool
	_, _     [2]uintptr // gcdatamask, gcbssmask
	_        uintptr    // typemap
	next     unsafe.Pointer
}

type rest127 struct {
	_        [13]uintptr // noptrdata to gcbss
	_        [6]uintptr  // types to rodata
	goFunc   uintptr
	endTable uintptr
	_        slice // textsectmap
	_        slice // ptab
	_        string
	_, _     slice // pkghashes, inittasks
	_        string
	_        slice // modulehashes
	_        uint8 // hasmain
	bad      bool
	_, _     [2]uintptr // gcdatamask, gcbssmask
	_        uintptr    // typemap
	next     unsafe.Pointer
}

const headSize = unsafe.Sizeof(head{})

var (
	layout126 = layout{
		headSize + unsafe.Sizeof(rest126{}),
		headSize + unsafe.Offsetof(rest126{}.goFunc), headSize + unsafe.Offsetof(rest126{}.endTable),
		headSize + unsafe.Offsetof(rest126{}.bad), headSize + unsafe.Offsetof(rest126{}.next),
	}
	layout127 = layout{
		headSize + unsafe.Sizeof(rest127{}),
		headSize + unsafe.Offsetof(rest127{}.goFunc), headSize + unsafe.Offsetof(rest127{}.endTable),
		headSize + unsafe.Offsetof(rest127{}.bad), headSize + unsafe.Offsetof(rest127{}.next),
	}
)

// moduleSize is the size of the memory of a moduledata, a power of two.
const moduleSize = 1024

// The start of a table of functions (runtime.pcHeader).
const magic = 0xfffffff1 // abi.Go120PCLnTabMagic

type tableHeader struct {
	magic      uint32
	_, _       uint8
	quantum    uint8
	pointer    uint8
	functions  int
	files      uint
	_          uintptr
	_, _, _, _ uintptr // offsets of parts, which modules have in slices
	_          uintptr
}

// record describes a function (runtime._func), with the tables and data that follow it.
type record struct {
	entry     uint32 // bytes from the start of the block
	name      int32
	_         int32 // size of arguments
	_         uint32
	depths    uint32 // pcsp
	files     uint32
	lines     uint32
	tables    uint32 // npcdata
	unit      uint32
	startLine int32
	_         uint8 // funcID
	flag      uint8
	_         uint8
	data      uint8 // nfuncdata
	numbers   [recordNumbers]uint32
}

// The numbers after a record: the tables of values by their indexes (abi.PCDATA_UnsafePoint,
// PCDATA_StackMapIndex, PCDATA_InlTreeIndex), then the offsets of data from goFunc on
// (abi.FUNCDATA_ArgsPointerMaps, FUNCDATA_LocalsPointerMaps, FUNCDATA_StackObjects,
// FUNCDATA_InlTree).
const (
	tablesPlain, dataPlain   = 1, 2
	tablesInlined, dataCalls = 3, 4

	recordNumbers = tablesInlined + dataCalls
)

const (
	recordSize  = minBlock     // of a function without inlined calls
	inlinedSize = 2 * minBlock // of one with them
	flagSPWrite = 2            // abi.FuncFlagSPWrite: the caller is unknown
	flagAsm     = 4            // abi.FuncFlagAsm: never preempted
	noData      = ^uint32(0)
)

func quantum() uint8 {
	if runtime.GOARCH == "arm64" {
		return 4
	}
	return 1
}

// checkModule checks that a module of the program has the form that this package expects.
func checkModule(p unsafe.Pointer, l *layout) error {
	m := (*head)(p)
	refuse := func(what string) error {
		return fmt.Errorf("%w: %s has an unknown form: %s", ErrVersion, runtime.Version(), what)
	}
	if m == nil || m.header == nil {
		return refuse("no module")
	}
	h := (*tableHeader)(m.header)
	switch {
	case h.magic != magic || h.quantum != quantum() || h.pointer != uint8(unsafe.Sizeof(uintptr(0))):
		return refuse("the header of its table of functions")
	case m.minPC >= m.maxPC || m.text > m.minPC:
		return refuse("the range of its code")
	case m.functions.length < 2 || m.functions.length != m.functions.limit:
		return refuse("the number of its functions")
	}
	functions := unsafe.Slice((*[2]uint32)(m.functions.data), m.functions.length)
	first, last := functions[0], functions[len(functions)-1]
	if m.text+uintptr(first[0]) != m.minPC || m.text+uintptr(last[0]) != m.maxPC || int(first[1]) >= m.records.length {
		return refuse("the table of its functions")
	}
	r := (*record)(unsafe.Add(m.records.data, first[1]))
	if r.entry != first[0] || r.name < 0 || int(r.name) >= m.names.length || int(r.depths) >= m.steps.length {
		return refuse("the record of its first function")
	}
	goFunc, end := *(*uintptr)(unsafe.Add(p, l.goFunc)), *(*uintptr)(unsafe.Add(p, l.endTable))
	next := atomic.LoadPointer((*unsafe.Pointer)(unsafe.Add(p, l.next)))
	if goFunc == 0 || end < goFunc || *(*uint8)(unsafe.Add(p, l.bad)) > 1 || next != nil && ((*head)(next).minPC > (*head)(next).maxPC) {
		return refuse("the end of its description")
	}
	return nil
}

// chain appends the modules from first to last, which are linked to each other already, to the
// runtime's list. Other loaders, such as sonic's, append in the same way, and may do so at the same
// time. The runtime appends a plugin by two stores (runtime.addmoduledata): chain waits if it sees
// only the first.
func chain(first, last unsafe.Pointer, l *layout) error {
	for range 1000 {
		old := atomic.LoadPointer(&lastModule)
		next := (*unsafe.Pointer)(unsafe.Add(old, l.next))
		if atomic.LoadPointer(next) != nil {
			runtime.Gosched()
			continue
		}
		if atomic.CompareAndSwapPointer(&lastModule, old, last) {
			atomic.StorePointer(next, first)
			return nil
		}
	}
	return fmt.Errorf("%w: modules follow the last one of its list", ErrVersion)
}
