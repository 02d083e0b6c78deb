// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"

	"github.com/clewdev/clew/object"
)

// recognise returns the layout of the newest release that fits a program's runtime, or
// nil. Programs that garble (mvdan.cc/garble) builds contain neither their version nor
// debugging information, but their runtime has the size of a g and the wait reasons of a
// release.
func recognise(f *object.File) *Layout {
	size, ok := sizeOfG(f)
	if !ok {
		return nil
	}
	of, ok := f.GoFunctionNamed("runtime.waitReason.String")
	if !ok {
		return nil
	}
	addresses, bounds := mentions(f, &of)
	for i := len(layouts) - 1; i >= 0; i-- {
		l := &layouts[i].layout
		if l.Size != size || !bounds[uint64(len(l.Reasons))] {
			continue
		}
		for _, address := range addresses {
			if hasStrings(f, address, l.Reasons) {
				return l
			}
		}
	}
	return nil
}

// sizeOfG returns the size of the structure that runtime.malg allocates, in bytes.
func sizeOfG(f *object.File) (size uint16, ok bool) {
	malg, ok := f.GoFunctionNamed("runtime.malg")
	if !ok {
		return 0, false
	}
	addresses, _ := mentions(f, &malg)
	for _, address := range addresses {
		// internal/abi.Type: Size_ first, Kind_ in byte 23.
		var head [24]byte
		if f.ReadMemory(head[:], address) == nil && head[23]&31 == kindStruct {
			if size := binary.LittleEndian.Uint64(head[:]); size < 1<<15 {
				return uint16(size), true
			}
		}
	}
	return 0, false
}

// kindStruct is internal/abi.Struct.
const kindStruct = 25

// hasStrings reports whether an array of strings at an address begins with a list.
func hasStrings(f *object.File, address uint64, list []string) bool {
	headers := make([]byte, 16*len(list))
	if f.ReadMemory(headers, address) != nil {
		return false
	}
	for _, s := range list {
		text := make([]byte, len(s))
		if binary.LittleEndian.Uint64(headers[8:]) != uint64(len(s)) ||
			len(s) > 0 && f.ReadMemory(text, binary.LittleEndian.Uint64(headers)) != nil || string(text) != s {
			return false
		}
		headers = headers[16:]
	}
	return true
}

// mentions returns the addresses that a function computes, in order, and the numbers that
// it compares with.
func mentions(f *object.File, of *object.GoFunction) (addresses []uint64, numbers map[uint64]bool) {
	code := make([]byte, min(of.End-of.Entry, maxCode))
	if f.ReadMemory(code, of.Entry) != nil {
		return nil, nil
	}
	numbers = make(map[uint64]bool)
	addresses = decoderOf(f.Machine()).mentions(code, of.Entry, numbers)
	return addresses, numbers
}
