// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import "github.com/clewdev/clew/unwind"

// Registers are the general registers of the worker, a copy. The zero value has
// none.
type Registers struct{}

// PC returns the address of the instruction that runs next.
func (r *Registers) PC() uint64 { return 0 }

// SP returns the stack pointer.
func (r *Registers) SP() uint64 { return 0 }

// Get returns a register by gdb's name: "rax", "eflags", "x0", "pc", "sp".
func (r *Registers) Get(name string) (uint64, bool) { return 0, false }

// Set sets a register by its name.
func (r *Registers) Set(name string, value uint64) bool { return false }

// Unwind returns the registers by DWARF column.
func (r *Registers) Unwind() unwind.Registers { return unwind.Registers{} }

// Registers returns the general registers of a stopped session, or, in the states
// Idle and Exited, those that the worker was left with.
func (s *Session) Registers() (Registers, error) { return Registers{}, errNotYet }

// SetRegisters sets the general registers of a stopped session. To set the
// program counter outside of the images is an error that wraps ErrAddress, unless
// it is outside already.
func (s *Session) SetRegisters(r Registers) error { return errNotYet }

// RegisterClass is the group that a register belongs to.
type RegisterClass uint8

const (
	GeneralRegister RegisterClass = iota // and program counter, flags, segments
	FloatRegister                        // x87: st0 to st7, and its control words
	VectorRegister                       // and its control words
)

// RegisterInfo is a register of the worker, with gdb's name for it.
type RegisterInfo struct {
	Name   string
	Size   int // bytes
	Column int // DWARF column, -1 where it has none
	Class  RegisterClass
}

// RegisterInfos returns all registers that the worker has on this machine, in
// gdb's order: on amd64 also st0–st7, xmm or ymm (with AVX) or zmm and k (with
// AVX-512), fs_base, gs_base, orig_rax; on arm64 also v0–v31, fpsr, fpcr, tpidr.
func (s *Session) RegisterInfos() []RegisterInfo { return nil }

// Register returns the bytes of a register of a stopped session, least
// significant first.
func (s *Session) Register(name string) ([]byte, error) { return nil, errNotYet }

// SetRegister sets a register of a stopped session.
func (s *Session) SetRegister(name string, value []byte) error { return errNotYet }
