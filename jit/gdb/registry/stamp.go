// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package registry

import (
	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// maxStamp bounds the part of a symbol file that a stamp contains, in bytes.
const maxStamp = 1 << 12

// Stamp returns bytes that differ once a program has registered or unregistered code in the list of a
// descriptor: the descriptor, the entries that it names, and the beginnings of their symbol files. A
// program can free an entry and use its memory for the next one. Stamp reads much less than Read.
func Stamp(m *arch.Machine, memory cfi.Memory, address uint64) (stamp []byte) {
	l := layoutOf(m)
	read := func(size int, address uint64) []byte {
		b := make([]byte, size)
		if memory.ReadMemory(b, address) != nil {
			return nil
		}
		stamp = append(stamp, b...)
		return b
	}
	b := read(l.descriptorSize(), address)
	if b == nil {
		return nil
	}
	d := l.descriptor(b)
	for _, at := range []uint64{d.relevant, d.first} {
		if at == 0 {
			continue
		}
		if b := read(l.entrySize(), at); b != nil {
			e := l.entry(b)
			read(int(min(e.size, maxStamp)), e.symfile)
		}
	}
	return stamp
}
