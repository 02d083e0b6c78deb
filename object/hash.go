// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"crypto/sha256"
	"encoding/binary"
)

// hashedPart is the number of bytes at the start and at the end of a file that Hash reads.
const hashedPart = 4096

// Hash returns the first 16 bytes of the SHA-256 of the first and the last 4096 bytes of the
// file and its size. OpenTelemetry identifies files without a build ID by it, as
// process.executable.build_id.htlhash. It is nil for an image in memory.
func (f *File) Hash() []byte {
	if len(f.data) == 0 {
		return nil
	}
	var sum []byte
	f.noteFault(func() {
		h := sha256.New()
		h.Write(f.data[:min(len(f.data), hashedPart)])
		h.Write(f.data[max(0, len(f.data)-hashedPart):])
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(f.data))))
		sum = h.Sum(nil)[:16]
	})
	return sum
}
