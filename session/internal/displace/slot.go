// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/x86"
)

// MaxSlot is the maximum size of a slot's code, in bytes.
const MaxSlot = 256

// Lookahead is the maximum number of bytes from the start of an instruction that Make and Decode read.
const Lookahead = 4 * maxSequence

// Kinds of errors, for errors.Is. The error text has the address, the bytes and the reason.
var (
	// ErrMachine: the machine is neither amd64 nor arm64.
	ErrMachine = errors.New("machine without displaced execution")
	// ErrInvalid: the bytes are not a complete instruction.
	ErrInvalid = x86.ErrInvalid
	// ErrFar: an address to which the instruction refers is out of reach of this slot, but within
	// reach of a nearer one.
	ErrFar = errors.New("out of reach of the slot")
	// ErrExclusive: no store exclusive was found after an arm64 load exclusive.
	ErrExclusive = errors.New("exclusive sequence without an end")
	// ErrUnsupported: the instruction can only be executed at its own address.
	ErrUnsupported = errors.New("instruction that cannot be displaced")
)

// A Slot is code that replaces one instruction, or a sequence that must not be interrupted.
type Slot struct {
	// Code is the code for the slot's address. It can have literals at its end. The caller owns it.
	Code []byte

	// Points has an element for every instruction in Code, by ascending offset. The first has offset 0.
	Points []Point

	// Size is the number of original bytes that Code replaces: the size of Instruction or of a
	// sequence.
	Size int

	// Instruction is the first original instruction.
	Instruction Instruction
}

// A Point is a place in the code of a slot at which a worker can be found, and the corresponding state
// of the original. The worker's registers are those of the original, except for the program counter and
// the changes of Fix.
type Point struct {
	Offset int    // bytes from the slot's start
	PC     uint64 // program counter of the original

	// Done: the worker has executed the instruction and continues at PC; after Fix it could continue
	// there at once. In a sequence Done marks the exits. Otherwise the instruction at PC, or the
	// sequence, is not completely executed.
	Done bool

	Fix Fix
}

// FixOp is the operation of a Fix.
type FixOp uint8

const (
	FixNone  FixOp = iota // nothing
	FixAdd                // Value is added to the register, modulo 1<<64
	FixSet                // the register becomes Value
	FixEntry              // the register gets the value with which the worker entered the slot
)

// A Fix changes the registers of a worker in a slot to those of the original.
type Fix struct {
	Op       FixOp
	Register int // DWARF column of the machine
	Value    uint64
}

// point adds a point at the end of the code.
func (s *Slot) point(p Point) {
	p.Offset = len(s.Code)
	s.Points = append(s.Points, p)
}

// At returns the point at an offset in Code. A worker is always at the offset of a point.
func (s *Slot) At(offset int) (Point, bool) {
	for _, p := range s.Points {
		if p.Offset == offset {
			return p, true
		}
	}
	return Point{}, false
}

// Make returns code for the address slot that has the effect of the instruction at the address pc. code
// has the original bytes from pc on, without traps: Lookahead bytes, or fewer if the text ends. Make
// does not keep it.
//
// The addresses are those of the traced program. The distance from pc to slot must be at most Reach
// bytes, otherwise the error can be ErrFar. On arm64 slot is a multiple of 4, and a vector literal needs
// a slot within 1 MiB of the literal (otherwise ErrFar).
//
// On arm64 the slot of an instruction that begins an exclusive sequence replaces the whole sequence. A
// breakpoint must not be inside one: see InExclusive.
func Make(m *arch.Machine, code []byte, pc, slot uint64) (*Slot, error) {
	var s *Slot
	var err error
	if d := decoderOf(m); d != nil {
		s, err = d.displace(code, pc, slot)
	} else {
		err = ErrMachine
	}
	if err != nil {
		return nil, fmt.Errorf("instruction % x at %#x, slot %#x: %w", code[:min(len(code), 15)], pc, slot, err)
	}
	return s, nil
}

// Reach returns the largest distance in bytes from an instruction to its slot: 1 GiB on amd64 and 100 MB
// on arm64. It returns 0 for machines that Make does not know.
func Reach(m *arch.Machine) uint64 {
	if d := decoderOf(m); d != nil {
		return d.reach
	}
	return 0
}

// decoder decodes the instructions of a machine.
type decoder struct {
	decode    func(code []byte, pc uint64) (Instruction, error)
	displace  func(code []byte, pc, slot uint64) (*Slot, error)
	reach     uint64 // see Reach
	exclusive bool   // the machine has exclusive sequences
}

var (
	x86Decoder   = decoder{decode: decodeX86, displace: makeX86, reach: 1 << 30}
	arm64Decoder = decoder{decode: decodeARM64, displace: makeARM64, reach: 100_000_000, exclusive: true}
)

// decoderOf returns the decoder of a machine, or nil.
func decoderOf(m *arch.Machine) *decoder {
	if m == nil || m.Class != elf.ELFCLASS64 {
		return nil
	}
	switch m.ELF {
	case elf.EM_X86_64:
		return &x86Decoder
	case elf.EM_AARCH64:
		return &arm64Decoder
	}
	return nil
}
