// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import "encoding/binary"

// loadsARM64 finds adrp, add and ldar or ldr (Arm ARM C6.2).
func loadsARM64(code []byte, at uint64) (list []uint64) {
	var pages pagesARM64
	for ; len(code) >= 4; code, at = code[4:], at+4 {
		i := binary.LittleEndian.Uint32(code)
		pages.add(i, at)
		from := i >> 5 & 31
		switch {
		case i&0xfffffc00 == 0xc8dffc00: // ldar
			if pages[from] != 0 {
				list = append(list, pages[from])
			}
		case i&0xffc00000 == 0xf9400000: // ldr
			if pages[from] != 0 {
				list = append(list, pages[from]+uint64(i>>10&0xfff)*8)
			}
		case i&0xfc000000 == 0x94000000, i&0xfffffc1f == 0xd63f0000: // bl, blr
			return list
		}
	}
	return list
}

// pagesARM64 are the addresses that adrp and add have computed, by register; 0 if unknown.
type pagesARM64 [32]uint64

// add adds an instruction, and returns the address that it completes.
func (p *pagesARM64) add(i uint32, at uint64) (address uint64, ok bool) {
	to, from := i&31, i>>5&31
	switch {
	case i&0x9f000000 == 0x90000000: // adrp
		p[to] = at&^0xfff + uint64(int64(int32(i>>5&0x7ffff<<13|i>>29&3<<11))>>11<<12)
	case i&0xffc00000 == 0x91000000 && p[from] != 0: // add
		p[to] = p[from] + uint64(i>>10&0xfff)
		return p[to], true
	}
	return 0, false
}

// mentionsARM64 finds adrp with add, and cmp of a number.
func mentionsARM64(code []byte, at uint64, numbers map[uint64]bool) (addresses []uint64) {
	var pages pagesARM64
	for ; len(code) >= 4; code, at = code[4:], at+4 {
		i := binary.LittleEndian.Uint32(code)
		if address, ok := pages.add(i, at); ok {
			addresses = append(addresses, address)
		}
		if i&0x7fc0001f == 0x7100001f { // cmp
			numbers[uint64(i>>10&0xfff)] = true
		}
	}
	return addresses
}
