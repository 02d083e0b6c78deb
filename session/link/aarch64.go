// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import "debug/elf"

var (
	branch26 = field{size: 4, bits: 26, shift: 2, check: isSigned, exact: true}
	branch19 = field{size: 4, low: 5, bits: 19, shift: 2, check: isSigned, exact: true}
	branch14 = field{size: 4, low: 5, bits: 14, shift: 2, check: isSigned, exact: true}
	adr21    = field{size: 4, bits: 21, check: isSigned, form: adr}
	adrp21   = field{size: 4, bits: 21, shift: 12, check: isSigned, form: adr}
	adrpWrap = field{size: 4, bits: 21, shift: 12, form: adr}

	// Immediates of add and of loads and stores, in units of the access.
	low12   = field{size: 4, low: 10, bits: 12}
	whole12 = field{size: 4, low: 10, bits: 12, check: isUnsigned} // the value has no more bits
	high12  = field{size: 4, low: 10, bits: 12, shift: 12, check: isUnsigned}
	low15   = field{size: 4, low: 10, bits: 12, shift: 3, check: isUnsigned, exact: true}
)

// low12of and whole12of are low12 and whole12 of loads and stores of 1<<shift bytes.
func low12of(shift uint8) field {
	return field{size: 4, low: 10, bits: 12 - shift, shift: shift, exact: true}
}

func whole12of(shift uint8) field {
	return field{size: 4, low: 10, bits: 12 - shift, shift: shift, check: isUnsigned, exact: true}
}

func move16(group uint8, c check, f form) field {
	return field{size: 4, low: 5, bits: 16, shift: 16 * group, check: c, form: f}
}

// arm64Howtos are the howtos by relocation type (AAELF64 §5.7), without the types that only dynamic
// linkers handle.
var arm64Howtos = [...]howto{
	elf.R_AARCH64_NONE: {value: noValue}, 256: {value: noValue},
	elf.R_AARCH64_ABS64: {absoluteValue, word64}, elf.R_AARCH64_ABS32: {absoluteValue, word32}, elf.R_AARCH64_ABS16: {absoluteValue, word16},
	elf.R_AARCH64_PREL64: {relativeValue, word64}, elf.R_AARCH64_PREL32: {relativeValue, word32}, elf.R_AARCH64_PREL16: {relativeValue, word16},
	314: {branchValue, signed32},  // R_AARCH64_PLT32
	315: {slotRelative, signed32}, // R_AARCH64_GOTPCREL32

	elf.R_AARCH64_MOVW_UABS_G0: {absoluteValue, move16(0, isUnsigned, plain)}, elf.R_AARCH64_MOVW_UABS_G0_NC: {absoluteValue, move16(0, wraps, plain)},
	elf.R_AARCH64_MOVW_UABS_G1: {absoluteValue, move16(1, isUnsigned, plain)}, elf.R_AARCH64_MOVW_UABS_G1_NC: {absoluteValue, move16(1, wraps, plain)},
	elf.R_AARCH64_MOVW_UABS_G2: {absoluteValue, move16(2, isUnsigned, plain)}, elf.R_AARCH64_MOVW_UABS_G2_NC: {absoluteValue, move16(2, wraps, plain)},
	elf.R_AARCH64_MOVW_UABS_G3: {absoluteValue, move16(3, wraps, plain)},
	elf.R_AARCH64_MOVW_SABS_G0: {absoluteValue, move16(0, isUnsigned, move)},
	elf.R_AARCH64_MOVW_SABS_G1: {absoluteValue, move16(1, isUnsigned, move)},
	elf.R_AARCH64_MOVW_SABS_G2: {absoluteValue, move16(2, isUnsigned, move)},
	287:                        {relativeValue, move16(0, isUnsigned, move)}, 288: {relativeValue, move16(0, wraps, plain)}, // R_AARCH64_MOVW_PREL_G0, ...
	289: {relativeValue, move16(1, isUnsigned, move)}, 290: {relativeValue, move16(1, wraps, plain)},
	291: {relativeValue, move16(2, isUnsigned, move)}, 292: {relativeValue, move16(2, wraps, plain)},
	293: {relativeValue, move16(3, wraps, move)},

	elf.R_AARCH64_LD_PREL_LO19:     {relativeValue, branch19},
	elf.R_AARCH64_ADR_PREL_LO21:    {relativeValue, adr21},
	elf.R_AARCH64_ADR_PREL_PG_HI21: {pageValue, adrp21}, elf.R_AARCH64_ADR_PREL_PG_HI21_NC: {pageValue, adrpWrap},
	elf.R_AARCH64_ADD_ABS_LO12_NC: {absoluteValue, low12}, elf.R_AARCH64_LDST8_ABS_LO12_NC: {absoluteValue, low12},
	elf.R_AARCH64_LDST16_ABS_LO12_NC: {absoluteValue, low12of(1)}, elf.R_AARCH64_LDST32_ABS_LO12_NC: {absoluteValue, low12of(2)},
	elf.R_AARCH64_LDST64_ABS_LO12_NC: {absoluteValue, low12of(3)}, elf.R_AARCH64_LDST128_ABS_LO12_NC: {absoluteValue, low12of(4)},
	elf.R_AARCH64_TSTBR14: {branchValue, branch14}, elf.R_AARCH64_CONDBR19: {branchValue, branch19},
	elf.R_AARCH64_JUMP26: {branchValue, branch26}, elf.R_AARCH64_CALL26: {branchValue, branch26},

	307: {fromGOT, word64}, 308: {fromGOT, word32}, // R_AARCH64_GOTREL64, R_AARCH64_GOTREL32
	elf.R_AARCH64_GOT_LD_PREL19:     {slotRelative, branch19},
	elf.R_AARCH64_LD64_GOTOFF_LO15:  {slotFromGOT, low15},
	elf.R_AARCH64_ADR_GOT_PAGE:      {slotPage, adrp21},
	elf.R_AARCH64_LD64_GOT_LO12_NC:  {slotAddress, low12of(3)},
	elf.R_AARCH64_LD64_GOTPAGE_LO15: {slotFromPage, low15},

	elf.R_AARCH64_TLSGD_ADR_PAGE21: {rewriteValue, instruction}, elf.R_AARCH64_TLSGD_ADD_LO12_NC: {rewriteValue, instruction},
	elf.R_AARCH64_TLSLD_ADR_PAGE21: {rewriteValue, instruction}, 519: {rewriteValue, instruction}, // R_AARCH64_TLSLD_ADD_LO12_NC
	elf.R_AARCH64_TLSDESC_ADR_PAGE21: {rewriteValue, instruction}, elf.R_AARCH64_TLSDESC_LD64_LO12_NC: {rewriteValue, instruction},
	elf.R_AARCH64_TLSDESC_ADD_LO12_NC: {rewriteValue, instruction}, elf.R_AARCH64_TLSDESC_CALL: {rewriteValue, instruction},

	elf.R_AARCH64_TLSIE_ADR_GOTTPREL_PAGE21:   {threadSlotPage, adrp21},
	elf.R_AARCH64_TLSIE_LD64_GOTTPREL_LO12_NC: {threadSlotAddress, low12of(3)},
	elf.R_AARCH64_TLSIE_LD_GOTTPREL_PREL19:    {threadSlotRelative, branch19},

	elf.R_AARCH64_TLSLE_MOVW_TPREL_G2: {threadValue, move16(2, isUnsigned, move)},
	elf.R_AARCH64_TLSLE_MOVW_TPREL_G1: {threadValue, move16(1, isUnsigned, move)}, elf.R_AARCH64_TLSLE_MOVW_TPREL_G1_NC: {threadValue, move16(1, wraps, plain)},
	elf.R_AARCH64_TLSLE_MOVW_TPREL_G0: {threadValue, move16(0, isUnsigned, move)}, elf.R_AARCH64_TLSLE_MOVW_TPREL_G0_NC: {threadValue, move16(0, wraps, plain)},
	elf.R_AARCH64_TLSLE_ADD_TPREL_HI12: {threadValue, high12}, elf.R_AARCH64_TLSLE_ADD_TPREL_LO12: {threadValue, whole12}, elf.R_AARCH64_TLSLE_ADD_TPREL_LO12_NC: {threadValue, low12},
	552: {threadValue, whole12}, 553: {threadValue, low12}, // R_AARCH64_TLSLE_LDST8_TPREL_LO12, and _NC, ...
	554: {threadValue, whole12of(1)}, 555: {threadValue, low12of(1)},
	556: {threadValue, whole12of(2)}, 557: {threadValue, low12of(2)},
	558: {threadValue, whole12of(3)}, 559: {threadValue, low12of(3)},
	570: {threadValue, whole12of(4)}, 571: {threadValue, low12of(4)},

	// The rewritten code of R_AARCH64_TLSLD_* has the thread pointer.
	523: {threadValue, move16(2, isUnsigned, move)},
	524: {threadValue, move16(1, isUnsigned, move)}, 525: {threadValue, move16(1, wraps, plain)},
	526: {threadValue, move16(0, isUnsigned, move)}, 527: {threadValue, move16(0, wraps, plain)},
	528: {threadValue, high12}, 529: {threadValue, whole12}, 530: {threadValue, low12},
	531: {threadValue, whole12}, 532: {threadValue, low12},
	533: {threadValue, whole12of(1)}, 534: {threadValue, low12of(1)},
	535: {threadValue, whole12of(2)}, 536: {threadValue, low12of(2)},
	537: {threadValue, whole12of(3)}, 538: {threadValue, low12of(3)},
	elf.R_AARCH64_TLSLD_LDST128_DTPREL_LO12: {threadValue, whole12of(4)}, elf.R_AARCH64_TLSLD_LDST128_DTPREL_LO12_NC: {threadValue, low12of(4)},
	elf.R_AARCH64_TLS_DTPREL64: {moduleValue, word64}, // of DWARF expressions
}

var arm64 = machine{
	elf:      elf.EM_AARCH64,
	howtos:   arm64Howtos[:],
	name:     func(typ uint32) string { return elf.R_AARCH64(typ).String() },
	stubSize: 16,
	stub: func(b []byte, address, slot uint64) {
		// Stubs may use x16 and x17 (AAPCS64 §6.1.1).
		order.PutUint32(b, 0x90000010)      // adrp x16, slot
		order.PutUint32(b[4:], 0xf9400211)  // ldr x17, [x16, #:lo12:slot]
		order.PutUint32(b[8:], 0xd61f0220)  // br x17
		order.PutUint32(b[12:], 0xd4200000) // brk #0
		adrp21.put(b, slot&^0xfff-address&^0xfff)
		load := low12of(3)
		load.put(b[4:], slot)
	},
	branch:        func(uint32, []byte, uint64, int64) bool { return false },
	rewrite:       arm64Rewrite,
	callsResolver: arm64CallsResolver,
	skipsMissing:  true, // AAELF64 §5.7.5
}

const nopARM64 = 0xd503201f

func arm64CallsResolver(typ uint32) bool {
	return typ == uint32(elf.R_AARCH64_TLSGD_ADD_LO12_NC) || typ == tlsldAddLo12
}

const tlsldAddLo12 = 519 // R_AARCH64_TLSLD_ADD_LO12_NC

// arm64Rewrite rewrites one instruction of a sequence, or the last three. The result is in x0 (AAELF64
// §5.7.11). The compiler may choose the register of the function's address.
func arm64Rewrite(w *sequence) error {
	b := w.window(0, 4)
	if b == nil || w.r.Offset%4 != 0 {
		return errSequence
	}
	v := w.value(w.r.Addend)
	word, result := order.Uint32(b), uint32(nopARM64)
	movz := 0xd2a00000 | uint32(v>>16&0xffff)<<5 // movz x0, #v, lsl #16
	movk := 0xf2800000 | uint32(v&0xffff)<<5     // movk x0, #v
	expect := func(mask, want uint32) bool { return word&mask == want }
	ok := false
	switch w.r.Type {
	case uint32(elf.R_AARCH64_TLSDESC_ADR_PAGE21), uint32(elf.R_AARCH64_TLSGD_ADR_PAGE21):
		ok, result = expect(0x9f00001f, 0x90000000), movz // adrp x0
	case uint32(elf.R_AARCH64_TLSDESC_LD64_LO12_NC):
		ok, result = expect(0xffc003e0, 0xf9400000), movk // ldr xN, [x0]
	case uint32(elf.R_AARCH64_TLSDESC_ADD_LO12_NC):
		ok = expect(0xffc003ff, 0x91000000) // add x0, x0
	case uint32(elf.R_AARCH64_TLSDESC_CALL):
		ok = expect(0xfffffc1f, 0xd63f0000) // blr xN
	case uint32(elf.R_AARCH64_TLSGD_ADD_LO12_NC), tlsldAddLo12:
		// add x0, x0; bl __tls_get_addr; nop
		call := w.window(0, 12)
		ok = expect(0xffc003ff, 0x91000000) && call != nil && w.calls(4) &&
			order.Uint32(call[4:])>>26 == 0x25 && order.Uint32(call[8:]) == nopARM64
		if ok && w.r.Type == tlsldAddLo12 {
			order.PutUint32(call[4:], nopARM64)
		} else if ok {
			result = movk
			order.PutUint32(call[4:], 0xd53bd041) // mrs x1, tpidr_el0
			order.PutUint32(call[8:], 0x8b000020) // add x0, x1, x0
		}
	case uint32(elf.R_AARCH64_TLSLD_ADR_PAGE21):
		ok, result = expect(0x9f00001f, 0x90000000), 0xd53bd040 // mrs x0, tpidr_el0
	}
	if !ok {
		return errSequence
	}
	order.PutUint32(b, result)
	return nil
}
