// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import "debug/elf"

var (
	word8       = field{size: 1, bits: 8, check: isEither}
	word16      = field{size: 2, bits: 16, check: isEither}
	word32      = field{size: 4, bits: 32, check: isEither}
	unsigned32  = field{size: 4, bits: 32, check: isUnsigned}
	signed8     = field{size: 1, bits: 8, check: isSigned}
	signed16    = field{size: 2, bits: 16, check: isSigned}
	signed32    = field{size: 4, bits: 32, check: isSigned}
	word64      = field{size: 8, bits: 64}
	instruction = field{size: 4}
)

// amd64Howtos are the howtos by relocation type (psABI amd64 Table 4.10), without the types that only
// dynamic linkers handle.
var amd64Howtos = [...]howto{
	elf.R_X86_64_NONE:            {value: noValue},
	elf.R_X86_64_64:              {absoluteValue, word64},
	elf.R_X86_64_PC32:            {relativeValue, signed32},
	elf.R_X86_64_GOT32:           {slotFromGOT, signed32},
	elf.R_X86_64_PLT32:           {branchValue, signed32},
	elf.R_X86_64_GOTPCREL:        {slotRelative, signed32},
	elf.R_X86_64_32:              {absoluteValue, unsigned32},
	elf.R_X86_64_32S:             {absoluteValue, signed32},
	elf.R_X86_64_16:              {absoluteValue, word16},
	elf.R_X86_64_PC16:            {relativeValue, signed16},
	elf.R_X86_64_8:               {absoluteValue, word8},
	elf.R_X86_64_PC8:             {relativeValue, signed8},
	elf.R_X86_64_DTPOFF64:        {moduleValue, word64},
	elf.R_X86_64_TPOFF64:         {threadValue, word64},
	elf.R_X86_64_TLSGD:           {rewriteValue, signed32},
	elf.R_X86_64_TLSLD:           {rewriteValue, signed32},
	elf.R_X86_64_DTPOFF32:        {moduleValue, signed32},
	elf.R_X86_64_GOTTPOFF:        {threadSlotRelative, signed32},
	elf.R_X86_64_TPOFF32:         {threadValue, signed32},
	elf.R_X86_64_PC64:            {relativeValue, word64},
	elf.R_X86_64_GOTOFF64:        {fromGOT, word64},
	elf.R_X86_64_GOTPC32:         {gotRelative, signed32},
	elf.R_X86_64_GOT64:           {slotFromGOT, word64},
	elf.R_X86_64_GOTPCREL64:      {slotRelative, word64},
	elf.R_X86_64_GOTPC64:         {gotRelative, word64},
	elf.R_X86_64_GOTPLT64:        {slotFromGOT, word64},
	elf.R_X86_64_PLTOFF64:        {fromGOT, word64}, // 64 bits reach without a stub
	elf.R_X86_64_SIZE32:          {sizeValue, unsigned32},
	elf.R_X86_64_SIZE64:          {sizeValue, word64},
	elf.R_X86_64_GOTPC32_TLSDESC: {rewriteValue, signed32},
	elf.R_X86_64_TLSDESC_CALL:    {rewriteValue, field{size: 2}},
	39:                           {relativeValue, signed32}, // R_X86_64_PC32_BND, of gcc with -fcheck-pointer-bounds
	40:                           {branchValue, signed32},   // R_X86_64_PLT32_BND
	elf.R_X86_64_GOTPCRELX:       {slotRelative, signed32},
	elf.R_X86_64_REX_GOTPCRELX:   {slotRelative, signed32},
}

var amd64 = machine{
	elf:      elf.EM_X86_64,
	howtos:   amd64Howtos[:],
	name:     func(typ uint32) string { return elf.R_X86_64(typ).String() },
	stubSize: 16,
	stub: func(b []byte, address, slot uint64) {
		// jmp *slot(%rip) changes no register.
		copy(b, "\xff\x25\x00\x00\x00\x00\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc")
		order.PutUint32(b[2:], uint32(slot-address-6))
	},
	branch:        amd64Branch,
	rewrite:       amd64Rewrite,
	callsResolver: amd64CallsResolver,
	largeCommon:   0xff02, // SHN_X86_64_LCOMMON, psABI amd64 §4.3.2
}

// amd64Branch finds calls and jumps with R_X86_64_PC32, which assemblers before binutils 2.31 wrote.
func amd64Branch(typ uint32, data []byte, offset uint64, addend int64) bool {
	if typ != uint32(elf.R_X86_64_PC32) || addend != -4 || offset < 1 {
		return false
	}
	switch op := data[offset-1]; {
	case op == 0xe8, op == 0xe9:
		return true
	case op&0xf0 == 0x80:
		return offset >= 2 && data[offset-2] == 0x0f
	}
	return false
}
