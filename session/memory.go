// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"bytes"
	"fmt"
	"runtime/debug"

	"github.com/clewdev/clew/arch/disasm"
)

// MemoryError is the error of a read or write of memory.
type MemoryError struct {
	Address uint64 // the first address that cannot be accessed
	Write   bool
	Err     error
}

func (e *MemoryError) Error() string {
	what := "read"
	if e.Write {
		what = "write"
	}
	return fmt.Sprintf("cannot %s memory at %#x: %v", what, e.Address, e.Err)
}

func (e *MemoryError) Unwrap() error { return e.Err }

// ReadMemory fills p with memory of this process, without traps of breakpoints. The address may be
// any of this process. If the error is a *MemoryError, p holds the bytes before its Address.
// ReadMemory works in every state but Closed, and implements cfi.Memory.
func (s *Session) ReadMemory(p []byte, address uint64) error {
	if s.closed.Load() {
		return ErrClosed
	}
	for len(p) > 0 {
		n, code := s.piece(address, len(p))
		var done int
		var err error
		if code != nil {
			done, err = code.traps.read(p[:n], address)
		} else {
			done, err = readProcess(p[:n], address)
		}
		if err != nil {
			return &MemoryError{Address: address + uint64(done), Err: err}
		}
		p, address = p[n:], address+uint64(n)
	}
	return nil
}

// WriteMemory writes p to the memory at an address. It can write code of the images although that
// is mapped read-only; breakpoints in it stay set. If the error is a *MemoryError, the bytes before
// its Address are written.
func (s *Session) WriteMemory(p []byte, address uint64) error {
	if s.closed.Load() {
		return ErrClosed
	}
	for len(p) > 0 {
		n, code := s.piece(address, len(p))
		var err error
		done := n
		if code != nil {
			if err = code.traps.write(p[:n], address); err != nil {
				done = 0
			}
		} else {
			done, err = writeProcess(p[:n], address)
		}
		if err != nil {
			return &MemoryError{Address: address + uint64(done), Write: true, Err: err}
		}
		p, address = p[n:], address+uint64(n)
	}
	return nil
}

// readOnStack reads the worker's stack without a system call, and reports false for other memory.
// Only the controlling goroutine may call it, during a run: otherwise the stack may be unmapped.
func (s *Session) readOnStack(p []byte, address uint64) bool {
	low, high := s.worker.Stack()
	if address < low || address >= high || uint64(len(p)) > high-address {
		return false
	}
	return reachable(func() { copy(p, memoryAt(address, uint64(len(p)))) })
}

// reachable runs f, which accesses code or the worker's stack without a system call. It reports
// false if f faults: the running code may have unmapped or protected that memory.
func reachable(f func()) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if _, fault := p.(interface{ Addr() uintptr }); !fault {
				panic(p)
			}
			ok = false
		}
	}()
	f()
	return true
}

// piece divides n bytes at an address where code begins or ends. It returns the size of the first
// part, and its image, or nil if it is not code of an image.
func (s *Session) piece(address uint64, n int) (int, *Image) {
	for _, i := range s.images() {
		for _, r := range i.ranges {
			if address-r.Start < r.End-r.Start {
				return int(min(uint64(n), r.End-address)), i
			}
			if r.Start > address {
				n = int(min(uint64(n), r.Start-address))
			}
		}
	}
	return n, nil
}

func (s *Session) readString(address uint64, limit int) (string, error) {
	var text []byte
	for len(text) < limit {
		// The next page may not be mapped.
		part := make([]byte, min(limit-len(text), 256, int(4096-address%4096)))
		if err := s.ReadMemory(part, address); err != nil {
			return string(text), err
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return string(append(text, part[:end]...)), nil
		}
		text = append(text, part...)
		address += uint64(len(part))
	}
	return string(text), nil
}

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
