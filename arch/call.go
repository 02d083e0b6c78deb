// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "encoding/binary"

// Call is a call instruction.
type Call struct {
	Target uint64 // address of the function that it calls, 0 where it is not Direct
	Direct bool   // the instruction itself names its target
}

// MaxCallSize is the maximum number of bytes before a return address that CallBefore
// needs: the call and, on some machines, the instruction before it or its delay slot.
const MaxCallSize = 8

// KnowsCalls reports whether CallBefore knows the machine's call instructions.
func (m *Machine) KnowsCalls() bool { return m.code.call != nil }

// CallBefore returns the call instruction before a return address, and whether there is
// one. Code holds up to MaxCallSize bytes before the return address; it is shorter if
// the code begins later. On arm, an odd return address is in Thumb code. CallBefore
// allocates nothing.
//
// On machines with instructions of several lengths (x86, riscv, s390, Thumb) the end of
// another instruction can look like a call; half a percent of them do. On other
// machines none does.
func (m *Machine) CallBefore(code []byte, returns uint64) (c Call, ok bool) {
	if m.code.call == nil {
		return Call{}, false
	}
	if c, ok = m.code.call(m, code, returns); ok && m.AddressSize == 4 {
		c.Target &= 0xffffffff
	}
	return c, ok
}

// tail returns the last n bytes of code, nil where there are fewer.
func tail(code []byte, n int) []byte {
	if len(code) < n {
		return nil
	}
	return code[len(code)-n:]
}

// word returns the instruction of four bytes that starts n bytes before the end
// of code, 0 where it is not all there: on none of the machines that is a call.
func word(order binary.ByteOrder, code []byte, n int) uint32 {
	if b := tail(code, n); len(b) >= 4 {
		return order.Uint32(b)
	}
	return 0
}

// extend returns the signed number in the bits of a word from low on.
func extend(op uint32, low, bits int) uint64 {
	return uint64(int64(op) << (64 - low - bits) >> (64 - bits))
}
