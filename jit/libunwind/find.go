// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// Find returns the address of the dyn-info list in an object of a process: in libunwind
// itself, or in an object that contains a copy of it. The function symbol returns the
// run-time address of one of the object's symbols. libunwind does not export its list, but
// exports a function that returns the list's address. Find also accepts an object with the
// list in its symbol table. The error wraps [ErrNoList] if the object has neither, and
// [ErrList] if Find cannot decode the function.
func Find(m *arch.Machine, memory cfi.Memory, symbol func(name string) (address uint64, ok bool)) (uint64, error) {
	function, found := symbol("_U_dyn_info_list_addr")
	var err error
	if found {
		var list uint64
		if list, err = listAddress(m, memory, function); err == nil {
			return list, nil
		}
	}
	if list, ok := symbol("_U_dyn_info_list"); ok {
		return list, nil
	}
	if found {
		return 0, err
	}
	return 0, ErrNoList
}

// listAddress returns the result of the function _U_dyn_info_list_addr, by decoding it.
// It is a C function that returns the address of a variable.
func listAddress(m *arch.Machine, memory cfi.Memory, function uint64) (uint64, error) {
	var code [16]byte
	n := len(code)
	// The function can be the last one of its mapping.
	for ; n > 0 && memory.ReadMemory(code[:n], function) != nil; n -= 4 {
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: _U_dyn_info_list_addr at %#x cannot be read", ErrList, function)
	}
	address, indirect, ok := uint64(0), false, false
	switch {
	case m.ELF == elf.EM_X86_64 && m.AddressSize == 8:
		address, indirect, ok = returnedAMD64(code[:n], function)
	case m.ELF == elf.EM_AARCH64 && m.AddressSize == 8:
		address, indirect, ok = returnedARM64(code[:n], function)
	}
	if !ok {
		return 0, fmt.Errorf("%w: _U_dyn_info_list_addr at %#x is % x for %s, expected it to return the address of a variable",
			ErrList, function, code[:n], m.Name)
	}
	if indirect {
		var word [8]byte
		if err := memory.ReadMemory(word[:], address); err != nil {
			return 0, fmt.Errorf("%w: the result of _U_dyn_info_list_addr, read from %#x: %w", ErrList, address, err)
		}
		address = m.Order.Uint64(word[:])
	}
	return address, nil
}

// returnedAMD64 decodes [endbr64] lea or mov disp(%rip),%rax; ret.
func returnedAMD64(code []byte, at uint64) (address uint64, indirect, ok bool) {
	if len(code) >= 4 && [4]byte(code) == [4]byte{0xf3, 0x0f, 0x1e, 0xfa} {
		code, at = code[4:], at+4
	}
	if len(code) < 8 || code[0] != 0x48 || code[2] != 0x05 || code[1] != 0x8d && code[1] != 0x8b || code[7] != 0xc3 {
		return 0, false, false
	}
	return at + 7 + uint64(int64(int32(binary.LittleEndian.Uint32(code[3:])))), code[1] == 0x8b, true
}

// returnedARM64 decodes [bti c] adrp x0; add or ldr x0; ret.
func returnedARM64(code []byte, at uint64) (address uint64, indirect, ok bool) {
	word := func(i int) uint32 {
		if len(code) < 4*i+4 {
			return 0
		}
		return binary.LittleEndian.Uint32(code[4*i:]) // code is little-endian on big-endian arm64 too
	}
	if word(0) == 0xd503245f {
		code, at = code[4:], at+4
	}
	adrp, second := word(0), word(1)
	if adrp&0x9f00001f != 0x90000000 || word(2) != 0xd65f03c0 {
		return 0, false, false
	}
	pages := int64(int32((adrp>>5&0x7ffff)<<13|(adrp>>29&3)<<11)) >> 11
	page := at&^0xfff + uint64(pages<<12)
	imm := uint64(second >> 10 & 0xfff)
	switch second &^ (0xfff << 10) {
	case 0x91000000: // add x0, x0, imm
		return page + imm, false, true
	case 0xf9400000: // ldr x0, [x0, imm*8]
		return page + imm*8, true, true
	}
	return 0, false, false
}
