// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import "github.com/clewdev/clew/arch/disasm"

// Instruction is a disassembled instruction.
type Instruction struct {
	Address uint64
	Bytes   []byte
	Text    string // GNU syntax, with names of functions
}

// maxInstruction is the size in bytes of the longest instruction of the supported machines.
const maxInstruction = 15

// Disassemble returns count instructions from an address on, without traps of breakpoints. If the
// memory ends before, it returns fewer instructions and an error.
func (s *Session) Disassemble(address uint64, count int) ([]Instruction, error) {
	name := func(address uint64) (string, uint64) {
		if i := s.Image(address); i != nil {
			if f, ok := i.Function(address); ok {
				return f.Name, f.Start
			}
		}
		return "", 0
	}
	var list []Instruction
	for range count {
		code := make([]byte, maxInstruction)
		err := s.ReadMemory(code, address)
		if e, ok := err.(*MemoryError); ok {
			code = code[:e.Address-address]
		} else if err != nil {
			return list, err
		}
		if i := s.Image(address); i != nil {
			if r, ok := i.rangeOf(address); ok {
				code = code[:min(uint64(len(code)), r.End-address)]
			}
		}
		if len(code) == 0 {
			return list, err
		}
		text, size := disasm.Decode(s.machine, code, address, name)
		list = append(list, Instruction{address, code[:size:size], text})
		address += uint64(size)
	}
	return list, nil
}
