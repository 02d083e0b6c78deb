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

// MaxSlot is the most bytes that the code of a slot has.
const MaxSlot = 256

// Lookahead is the number of bytes from an instruction on that Make and Decode
// look at, at most.
const Lookahead = 4 * maxSequence

// Errors that a caller tells apart with errors.Is. The text around them names
// the address, the bytes and the reason.
var (
	// ErrMachine: neither amd64 nor arm64.
	ErrMachine = errors.New("machine without displaced execution")
	// ErrInvalid: the bytes are no instruction, or end within it.
	ErrInvalid = x86.ErrInvalid
	// ErrFar: something the instruction refers to is out of reach of this
	// slot. A slot nearer to both has it in reach.
	ErrFar = errors.New("out of reach of the slot")
	// ErrExclusive: an arm64 load exclusive without a store exclusive that
	// could be found behind it.
	ErrExclusive = errors.New("exclusive sequence without an end")
	// ErrUnsupported: no code elsewhere can do exactly what the instruction
	// does. It has to be executed where it stands.
	ErrUnsupported = errors.New("instruction that runs in its place only")
)

// A Slot is code that stands for one instruction, or for a sequence that can't
// be interrupted.
type Slot struct {
	// Code is to be written to the slot's address. It can have literals at its
	// end. The caller owns it.
	Code []byte

	// Points has an element for every instruction in Code, by ascending
	// offset. The first has offset 0.
	Points []Point

	// Size is the number of bytes at the original address that Code stands
	// for: those of Instruction, but for a sequence.
	Size int

	// Instruction is what stands at the original address.
	Instruction Instruction
}

// A Point is a place in the code of a slot at which a worker can be found, and
// the state of the original that it stands for. The registers are those of the
// original but for the program counter and for what Fix changes.
type Point struct {
	Offset int    // bytes from the slot's start
	PC     uint64 // the program counter of the original

	// Done: the instruction has been executed and PC is where it went. The
	// worker could as well go on there, once Fix is applied. In a sequence
	// Done marks the ways out.
	//
	// Not Done: PC is the instruction, not executed yet (of repeated string
	// instructions: some iterations may have been), or one of the sequence.
	Done bool

	Fix Fix
}

// FixOp is what a Fix does.
type FixOp uint8

const (
	FixNone  FixOp = iota // nothing
	FixAdd                // Value is added to the register, modulo 1<<64
	FixSet                // the register becomes Value
	FixEntry              // the register becomes what it was when the worker entered the slot
)

// A Fix makes the registers of a worker in a slot those of the original.
type Fix struct {
	Op       FixOp
	Register int // DWARF column of the machine
	Value    uint64
}

// At returns the point at an offset in Code. Workers are never found at others.
func (s *Slot) At(offset int) (Point, bool) {
	for _, p := range s.Points {
		if p.Offset == offset {
			return p, true
		}
	}
	return Point{}, false
}

// Make makes the code that does at the address slot what the instruction at
// the address pc does. code holds the original bytes from pc on, without traps:
// Lookahead bytes, or fewer where the text ends. It is not kept.
//
// The addresses are those of the traced program. On amd64 slot may be anywhere
// within 1 GiB of pc, on arm64 it is a multiple of 4 within 100 MB; what is
// farther away can be ErrFar. On arm64 a vector literal needs a slot within
// 1 MiB of the literal (ErrFar else).
//
// On arm64 an instruction that begins an exclusive sequence stands for the whole
// sequence; a breakpoint inside one makes it fail for ever: see InExclusive.
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

// decoder decodes the instructions of a machine.
type decoder struct {
	decode    func(code []byte, pc uint64) (Instruction, error)
	displace  func(code []byte, pc, slot uint64) (*Slot, error)
	exclusive bool // the machine has exclusive sequences
}

var (
	x86Decoder   = decoder{decode: decodeX86, displace: makeX86}
	arm64Decoder = decoder{decode: decodeARM64, displace: makeARM64, exclusive: true}
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
