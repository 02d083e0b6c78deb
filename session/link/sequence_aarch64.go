// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import "debug/elf"

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
