// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android && (amd64 || arm64)

package cgotraceback

import (
	"debug/elf"
	"hash/maphash"
)

// digestSize bounds the bytes of a digest, which become resident.
const digestSize = 4 << 20

var digestSeed = maphash.MakeSeed()

// digest tells loaded objects without a build ID apart, which can have the same name and sizes:
// a program can load a library, unload it, and load its next version. The digest is a hash of the
// start of the segments that nothing writes. It is 0 if the object was unloaded since.
func digest(o *object) uint64 {
	var h maphash.Hash
	h.SetSeed(digestSeed)
	left := uint64(digestSize)
	for _, s := range o.segments {
		if elf.ProgFlag(s.flags)&(elf.PF_R|elf.PF_W) != elf.PF_R {
			continue
		}
		b := make([]byte, min(s.size, left))
		left -= uint64(len(b))
		if (ownMemory{}).ReadMemory(b, o.bias+s.start) != nil {
			return 0
		}
		_, _ = h.Write(b)
	}
	return h.Sum64()
}
