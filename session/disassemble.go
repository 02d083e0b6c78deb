// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

// Instruction is a disassembled instruction.
type Instruction struct {
	Address uint64
	Bytes   []byte
	Text    string // GNU syntax, with names of functions
}

// Disassemble returns count instructions from an address on, of the code as it
// would be without breakpoints. Fewer come, with the error, where the memory ends.
func (s *Session) Disassemble(address uint64, count int) ([]Instruction, error) {
	return nil, errNotYet
}
