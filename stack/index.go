// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// Index finds equal stacks: it keeps numbers of the caller's by the hash of a stack's frames.
// It is not safe for concurrent use.
type Index struct {
	seed  maphash.Seed
	known map[uint64][]int32
	key   []byte
}

// NewIndex returns an empty index.
func NewIndex() Index { return Index{seed: maphash.MakeSeed(), known: make(map[uint64][]int32)} }

// Hash returns the hash of some frames and words.
func (x *Index) Hash(frames []Frame, words ...uint64) uint64 {
	x.key = x.key[:0]
	for _, w := range words {
		x.key = binary.NativeEndian.AppendUint64(x.key, w)
	}
	for i := range frames {
		x.key = binary.NativeEndian.AppendUint64(x.key, frames[i].PC)
	}
	return maphash.Bytes(x.seed, x.key)
}

// Find returns the first number added with a hash for which equal returns true, or -1.
func (x *Index) Find(hash uint64, equal func(n int32) bool) int32 {
	if i := slices.IndexFunc(x.known[hash], equal); i >= 0 {
		return x.known[hash][i]
	}
	return -1
}

// Add adds a number with a hash.
func (x *Index) Add(hash uint64, n int) { x.known[hash] = append(x.known[hash], int32(n)) }

// Equal reports whether two frames of a target are at the same instruction and were found in the
// same way. It does not compare stack pointers and other registers.
func (f *Frame) Equal(o *Frame) bool {
	return f.PC == o.PC && f.LookupPC == o.LookupPC && f.Object == o.Object && f.Method == o.Method && f.Gap == o.Gap && f.Late == o.Late
}

// EqualFrames reports whether all frames of two stacks of a target are Equal.
func EqualFrames(a, b []Frame) bool {
	for i := range min(len(a), len(b)) {
		if !a[i].Equal(&b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}
