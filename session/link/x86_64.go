// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"debug/elf"
	"strings"
)

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

func amd64CallsResolver(typ uint32) bool {
	return typ == uint32(elf.R_X86_64_TLSGD) || typ == uint32(elf.R_X86_64_TLSLD)
}

// mov %fs:0, %rax
const loadThreadPointer = "\x64\x48\x8b\x04\x25\x00\x00\x00\x00"

// threadSequences are the sequences with which compilers call __tls_get_addr. The replacement loads the
// thread pointer in as many bytes; for R_X86_64_TLSGD a lea adds the variable's offset.
var threadSequences = [...][]struct {
	before int    // bytes before the relocation
	from   string // the sequence, with dots for operands
	call   uint64 // offset of the call's relocation from the first one
	to     string // the replacement
}{
	elf.R_X86_64_TLSGD: {
		{4, "\x66\x48\x8d\x3d....\x66\x66\x48\xe8....", 8, loadThreadPointer + leaThread},                                          // call
		{4, "\x66\x48\x8d\x3d....\x66\x48\x67\xe8....", 8, loadThreadPointer + leaThread},                                          // addr32 call
		{4, "\x66\x48\x8d\x3d....\x66\x48\xff\x15....", 8, loadThreadPointer + leaThread},                                          // -fno-plt
		{3, "\x48\x8d\x3d....\x48\xb8........\x48\x01\xd8\xff\xd0", 6, loadThreadPointer + leaThread + "\x66\x0f\x1f\x44\x00\x00"}, // -mcmodel=large, rbx
		{3, "\x48\x8d\x3d....\x48\xb8........\x4c\x01\xf8\xff\xd0", 6, loadThreadPointer + leaThread + "\x66\x0f\x1f\x44\x00\x00"}, // r15
	},
	elf.R_X86_64_TLSLD: {
		{3, "\x48\x8d\x3d....\xe8....", 5, "\x66\x66\x66" + loadThreadPointer},
		{3, "\x48\x8d\x3d....\x67\xe8....", 6, "\x66\x66\x66\x66" + loadThreadPointer},
		{3, "\x48\x8d\x3d....\xff\x15....", 6, "\x66\x66\x66\x66" + loadThreadPointer},
		{3, "\x48\x8d\x3d....\x48\xb8........\x48\x01\xd8\xff\xd0", 6, longNop13 + loadThreadPointer},
		{3, "\x48\x8d\x3d....\x48\xb8........\x4c\x01\xf8\xff\xd0", 6, longNop13 + loadThreadPointer},
	},
}

const (
	leaThread = "\x48\x8d\x80...." // lea x@tpoff(%rax), %rax
	longNop13 = "\x66\x66\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"
)

func amd64Rewrite(w *sequence) error {
	switch typ := elf.R_X86_64(w.r.Type); typ {
	case elf.R_X86_64_GOTPC32_TLSDESC:
		b := w.window(3, 4)
		// lea x@tlsdesc(%rip), %reg becomes mov $x@tpoff, %reg.
		if b == nil || b[0]&^4 != 0x48 || b[1] != 0x8d || b[2]&0xc7 != 5 {
			return errSequence
		}
		v := w.value(w.r.Addend + 4)
		b[0], b[1], b[2] = 0x48|b[0]>>2&1, 0xc7, 0xc0|b[2]>>3&7
		order.PutUint32(b[3:], uint32(v))
		return nil
	case elf.R_X86_64_TLSDESC_CALL:
		b := w.window(0, 2)
		if b == nil || string(b) != "\xff\x10" { // call *(%rax)
			return errSequence
		}
		copy(b, "\x66\x90")
		return nil
	case elf.R_X86_64_TLSGD, elf.R_X86_64_TLSLD:
		for _, s := range threadSequences[typ] {
			b := w.window(uint64(s.before), uint64(len(s.from)-s.before))
			if !matches(b, s.from) || !w.calls(s.call) {
				continue
			}
			copy(b, s.to)
			if at := strings.Index(s.to, leaThread); at >= 0 {
				order.PutUint32(b[at+3:], uint32(w.value(w.r.Addend+4)))
			}
			return nil
		}
	}
	return errSequence
}

// matches reports whether b matches a pattern, in which a dot stands for any byte.
func matches(b []byte, pattern string) bool {
	if len(b) != len(pattern) {
		return false
	}
	for i := range b {
		if b[i] != pattern[i] && pattern[i] != '.' {
			return false
		}
	}
	return true
}
