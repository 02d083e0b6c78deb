// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/arch"
)

// maxSequence is the maximum length of an exclusive sequence, in instructions. The architecture
// guarantees progress for twice as many, 128 bytes (Arm ARM B2.12.5); compilers use far fewer.
const maxSequence = 16

// HasExclusive reports whether a machine has exclusive sequences.
func HasExclusive(m *arch.Machine) bool {
	d := decoderOf(m)
	return d != nil && d.exclusive
}

// InExclusive reports whether the instruction at an offset in code is inside an arm64 exclusive sequence
// but not its first instruction, and returns the offset of that. A trap inside clears the monitor each
// time, so that the store never succeeds: a breakpoint must be at the start. code has the original
// bytes, if possible Lookahead bytes before the offset and as many after it. Offsets are in bytes. On
// other machines InExclusive returns false.
func InExclusive(m *arch.Machine, code []byte, offset int) (start int, inside bool) {
	if !HasExclusive(m) || offset < 0 || offset%4 != 0 || offset > len(code)-4 {
		return 0, false
	}
	for start = max(0, offset-4*(maxSequence-1)); start < offset; start += 4 {
		text := code[start:min(start+Lookahead, len(code))]
		if arm64FormOf(binary.LittleEndian.Uint32(text)) != arm64LoadExclusive {
			continue
		}
		if n, err := exclusiveSequence(text, 0); err == nil && start+4*n > offset {
			return start, true
		}
	}
	return 0, false
}

// exclusiveSequence returns the number of instructions from the load exclusive at the start of code to
// the store exclusive, or to the branch after it that repeats the sequence.
func exclusiveSequence(code []byte, pc uint64) (n int, err error) {
	words := min(len(code)/4, maxSequence)
	for k := 1; k < words; k++ {
		op := binary.LittleEndian.Uint32(code[4*k:])
		switch form := arm64FormOf(op); form {
		case arm64StoreExclusive:
			return retryBranch(code[:4*words], pc, k+1), nil
		case arm64Plain, arm64Address, arm64Literal, arm64Branch, arm64Conditional, arm64Test, arm64LoadExclusive:
		default:
			return 0, fmt.Errorf("%w: it contains %08x", ErrExclusive, op)
		}
	}
	return 0, fmt.Errorf("%w in %d instructions", ErrExclusive, words)
}

// retryBranch returns the number of instructions up to a branch back into the first n, if there is one
// within maxDistance instructions after them, otherwise n.
func retryBranch(code []byte, pc uint64, n int) int {
	const maxDistance = 3
	for k := n; k < min(n+maxDistance, len(code)/4); k++ {
		op := binary.LittleEndian.Uint32(code[4*k:])
		switch form := arm64FormOf(op); form {
		case arm64Plain:
		case arm64Branch, arm64Conditional, arm64Test:
			if arm64Target(op, form, pc+uint64(4*k))-pc < uint64(4*n) {
				return k + 1
			}
			if form == arm64Branch {
				return n
			}
		default:
			return n
		}
	}
	return n
}
