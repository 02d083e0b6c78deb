// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// cpuid executes CPUID.
func cpuid(leaf, subleaf uint32) (a, b, c, d uint32)

// Parts of the XSAVE area (Intel SDM volume 1, 13.4 and 13.5).
const (
	partAVX    = 2
	partMask   = 5
	partUpper  = 6 // of zmm0–15
	partHigh16 = 7
	partPKRU   = 9

	headerOffset = 512 // XSTATE_BV
)

// area is the layout of this processor's XSAVE area.
type area struct {
	names  []VectorName // with offsets in the standard form
	size   int          // bytes, with parts that are not in names, such as the tiles of AMX
	byName map[string]*VectorName
}

var xsave = sync.OnceValue(func() *area {
	a := &area{size: headerOffset + 64}
	add := func(class Class, name string, size, column, offset int) {
		a.names = append(a.names, VectorName{Name: name, Size: size, Column: column, Class: class, offset: offset})
	}
	for n := range 8 {
		add(FloatClass, fmt.Sprintf("st%d", n), 10, 33+n, 32+16*n)
	}
	for n, name := range []string{"fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop"} {
		// ftag has one bit for each register in the area: see Vector. In 64-bit mode fiseg and
		// foseg are the upper halves of the two addresses.
		add(FloatClass, name, 4, -1, []int{0, 2, 4, 12, 8, 20, 16, 6}[n])
	}
	for n := range 16 {
		add(VectorClass, fmt.Sprintf("xmm%d", n), 16, 17+n, 160+16*n)
	}
	add(VectorClass, "mxcsr", 4, -1, 24)
	enabled := uint64(0)
	if _, _, c, _ := cpuid(1, 0); c>>27&1 != 0 { // OSXSAVE
		low, current, largest, high := cpuid(0xd, 0)
		enabled = uint64(high)<<32 | uint64(low)
		a.size = max(a.size, int(current), int(largest)) // the kernel accepts only the whole area
	}
	part := func(n uint32, addNames func(offset int)) {
		if enabled>>n&1 == 0 {
			return
		}
		size, offset, _, _ := cpuid(0xd, n)
		a.size = max(a.size, int(offset+size))
		addNames(int(offset))
	}
	part(partAVX, func(offset int) {
		for n := range 16 {
			add(VectorClass, fmt.Sprintf("ymm%dh", n), 16, -1, offset+16*n)
		}
	})
	part(partMask, func(offset int) {
		for n := range 8 {
			add(VectorClass, fmt.Sprintf("k%d", n), 8, 118+n, offset+8*n)
		}
	})
	part(partUpper, func(offset int) {
		for n := range 16 {
			add(VectorClass, fmt.Sprintf("zmm%dh", n), 32, -1, offset+32*n)
		}
	})
	part(partHigh16, func(offset int) {
		for n := 16; n < 32; n++ {
			add(VectorClass, fmt.Sprintf("xmm%d", n), 16, 67+n-16, offset+64*(n-16))
			add(VectorClass, fmt.Sprintf("ymm%dh", n), 16, -1, offset+64*(n-16)+16)
			add(VectorClass, fmt.Sprintf("zmm%dh", n), 32, -1, offset+64*(n-16)+32)
		}
	})
	part(partPKRU, func(offset int) { add(VectorClass, "pkru", 8, -1, offset) })
	a.byName = indexVectors(a.names)
	return a
})

// Vectors returns the registers that are not general ones.
func Vectors() []VectorName { return xsave().names }

const ntX86XState = 0x202 // NT_X86_XSTATE of elf.h

// vectorArea returns the XSAVE area of the worker, and the register of a name in it.
func (w *Worker) vectorArea(name string) (p []byte, n *VectorName, err error) {
	if n = xsave().byName[name]; n == nil {
		return nil, nil, ErrNoRegister
	}
	p = make([]byte, max(xsave().size, 4096))
	size, err := w.getSet(ntX86XState, unsafe.Pointer(unsafe.SliceData(p)), uintptr(len(p)))
	switch {
	case err != nil:
		return nil, nil, err
	case size < uint64(n.offset+n.Size):
		return nil, nil, ErrNoRegister
	}
	return p[:size], n, nil
}

// Vector returns a register that is not a general one, least significant byte first.
func (w *Worker) Vector(name string) ([]byte, error) {
	p, n, err := w.vectorArea(name)
	if err != nil {
		return nil, err
	}
	value := bytes.Clone(p[n.offset : n.offset+n.Size])
	switch name {
	case "fctrl", "fstat", "fop":
		value[2], value[3] = 0, 0
	case "ftag":
		binary.LittleEndian.PutUint32(value, uint32(fullTag(p)))
	}
	return value, nil
}

// SetVector sets a register that is not a general one. Missing bytes are 0.
func (w *Worker) SetVector(name string, value []byte) error {
	p, n, err := w.vectorArea(name)
	if err != nil {
		return err
	}
	size := n.Size
	switch name {
	case "fctrl", "fstat", "fop":
		size = 2
	case "ftag":
		var full [4]byte
		copy(full[:], value)
		tag := binary.LittleEndian.Uint32(full[:])
		value, size = []byte{0}, 1
		for i := range 8 {
			if tag>>(2*i)&3 != 3 {
				value[0] |= 1 << i
			}
		}
	}
	field := p[n.offset : n.offset+size]
	clear(field[copy(field, value):])
	// The kernel reads a part only if its bit is set.
	parts := binary.LittleEndian.Uint64(p[headerOffset:])
	parts |= 1 << partOf(name)
	binary.LittleEndian.PutUint64(p[headerOffset:], parts)
	return w.setSet(ntX86XState, unsafe.Pointer(unsafe.SliceData(p)), uintptr(len(p)))
}

// partOf returns the part of the area that contains a register.
func partOf(name string) int {
	number := 0
	fmt.Sscanf(strings.TrimLeft(name, "xyzmk"), "%d", &number)
	switch {
	case name[0] == 'k':
		return partMask
	case name == "pkru":
		return partPKRU
	case strings.HasPrefix(name, "st"), name[0] == 'f':
		return 0
	case number >= 16:
		return partHigh16
	case strings.HasPrefix(name, "ymm"):
		return partAVX
	case strings.HasPrefix(name, "zmm"):
		return partUpper
	}
	return 1
}

// fullTag returns the tag word of FSTENV. The area has only the tag byte, with a bit for each
// register in use (Intel SDM volume 1, 8.1.7 and 10.5.1.1).
func fullTag(p []byte) (tag uint16) {
	top := int(p[3]>>3) & 7 // TOP of the status word
	for physical := range 8 {
		kind := uint16(3) // empty
		if p[4]>>physical&1 != 0 {
			st := p[32+16*((physical-top)&7):][:10]
			exponent := binary.LittleEndian.Uint16(st[8:]) & 0x7fff
			mantissa := binary.LittleEndian.Uint64(st)
			switch {
			case exponent == 0x7fff || exponent != 0 && mantissa>>63 == 0:
				kind = 2 // special
			case exponent == 0 && mantissa == 0:
				kind = 1
			case exponent == 0:
				kind = 2
			default:
				kind = 0
			}
		}
		tag |= kind << (2 * physical)
	}
	return tag
}

// vectorColumn returns the register with a DWARF column, or nil.
func vectorColumn(column uint64) *VectorName {
	names := Vectors()
	n := slices.IndexFunc(names, func(n VectorName) bool { return n.Column >= 0 && uint64(n.Column) == column })
	if n < 0 {
		return nil
	}
	return &names[n]
}

// ColumnBytes returns the register with a DWARF column. A vector register is complete, up to zmm.
func (w *Worker) ColumnBytes(column uint64) (value []byte, ok bool) {
	n := vectorColumn(column)
	if n == nil {
		return nil, false
	}
	value, err := w.Vector(n.Name)
	if err != nil {
		return nil, false
	}
	if number, isXMM := strings.CutPrefix(n.Name, "xmm"); isXMM {
		for _, name := range []string{"ymm" + number + "h", "zmm" + number + "h"} {
			if upper, err := w.Vector(name); err == nil {
				value = append(value, upper...)
			}
		}
	}
	return value, true
}

// SetColumnBytes sets the low bytes of the register with a DWARF column.
func (w *Worker) SetColumnBytes(column uint64, p []byte) error {
	n := vectorColumn(column)
	if n == nil {
		return ErrNoRegister
	}
	value, err := w.Vector(n.Name)
	if err != nil {
		return err
	}
	low := copy(value, p)
	if err := w.SetVector(n.Name, value); err != nil || low == len(p) {
		return err
	}
	number, _ := strings.CutPrefix(n.Name, "xmm")
	return w.SetVector("ymm"+number+"h", p[low:])
}
