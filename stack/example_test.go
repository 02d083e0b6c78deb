// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack_test

import (
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/snapshot"
)

// A thread reads its copied stack, where it has one.
func ExampleSnapshot_ThreadMemory() {
	s := &snapshot.Snapshot{Threads: []snapshot.Thread{{
		ID:           7,
		StackAddress: 0x7ffe0000,
		Stack:        []byte{0x34, 0x12, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4},
	}}}
	memory := s.ThreadMemory(&s.Threads[0])
	var word [8]byte
	err := memory.ReadMemory(word[:], 0x7ffe0000)
	fmt.Printf("%#x, %v\n", binary.LittleEndian.Uint64(word[:]), err)
	err = memory.ReadMemory(word[:], 0x7ffe0008)
	fmt.Println(err)
	// Output:
	// 0x1234, <nil>
	// memory 0x7ffe000c: 4 bytes are beyond the copied stack
}
