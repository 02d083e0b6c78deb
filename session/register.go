// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"fmt"

	"github.com/clewdev/clew/session/internal/worker"
	"github.com/clewdev/clew/unwind"
)

// Registers are the general registers of the worker, a copy. The zero value is
// all zero.
type Registers struct{ general worker.General }

// PC returns the address of the instruction that runs next.
func (r *Registers) PC() uint64 { return r.general.PC() }

// SP returns the stack pointer.
func (r *Registers) SP() uint64 { return r.general.SP() }

// Get returns a register by gdb's name: "rax", "eflags", "x0", "pc", "sp".
func (r *Registers) Get(name string) (uint64, bool) {
	switch name {
	case "pc":
		return r.PC(), true
	case "sp":
		return r.SP(), true
	}
	return r.general.Get(name)
}

// Set sets a register by its name, and reports whether there is one.
func (r *Registers) Set(name string, value uint64) bool {
	switch name {
	case "pc":
		r.general.SetPC(value)
		return true
	case "sp":
		r.general.SetSP(value)
		return true
	}
	return r.general.Set(name, value)
}

// Unwind returns the registers by DWARF column.
func (r *Registers) Unwind() unwind.Registers {
	var u unwind.Registers
	u.PC = r.PC()
	for column := range uint64(unwind.MaxColumns) {
		if v, ok := r.general.Column(column); ok {
			u.Set(column, v)
		}
	}
	return u
}

// Registers returns the general registers of a stopped session, or, in the states
// Idle and Exited, those that the worker was left with.
func (s *Session) Registers() (Registers, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case Closed:
		return Registers{}, ErrClosed
	case Running:
		return Registers{}, ErrRunning
	}
	return Registers{s.registers}, nil
}

// SetRegisters sets the general registers of a stopped session. A program counter outside of
// the images is an error that wraps ErrAddress, unless the current one is outside too.
func (s *Session) SetRegisters(r Registers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := whileStopped(s.state); err != nil {
		return err
	}
	return s.setRegisters(r)
}

func (s *Session) setRegisters(r Registers) error {
	pc := r.PC()
	if s.Image(pc) == nil && s.Image(s.registers.PC()) != nil && pc != returnAddress(s.returns) {
		return failure(ErrAddress, "the program counter %#x is in no image of the session", pc)
	}
	if pc != s.registers.PC() {
		s.considered = 0 // a breakpoint there is to be met
	}
	s.registers = r.general
	return nil
}

// setColumn sets a general register by its DWARF column. The caller holds mu.
func (s *Session) setColumn(column, v uint64) error {
	if err := whileStopped(s.state); err != nil {
		return err
	}
	r := Registers{s.registers}
	if column == uint64(s.machine.ReturnAddress) && s.machine.CFAOffset != 0 || !r.general.SetColumn(column, v) {
		return failure(ErrNotFound, "register %d cannot be set", column)
	}
	return s.setRegisters(r)
}

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
// gdb's order: on amd64 also st0–st7, xmm0–15, with AVX the upper halves as ymm0h
// and so on, with AVX-512 k0–k7 and the other parts of zmm0–31, fs_base, gs_base,
// orig_rax; on arm64 also v0–v31, fpsr, fpcr, tpidr.
func (s *Session) RegisterInfos() []RegisterInfo {
	var list []RegisterInfo
	for _, n := range worker.Names {
		list = append(list, RegisterInfo{n.Name, n.Size, n.Column, GeneralRegister})
	}
	for _, v := range worker.Vectors() {
		list = append(list, RegisterInfo{v.Name, v.Size, v.Column, RegisterClass(v.Class)})
	}
	return list
}

// generalSize returns the size of a general register, also of "pc" and "sp".
func generalSize(name string) int {
	for _, n := range worker.Names {
		if n.Name == name {
			return n.Size
		}
	}
	return 8
}

// Register returns the bytes of a register of a stopped session, least
// significant first, by the names of RegisterInfos, "pc" and "sp". The error wraps
// ErrNotFound.
func (s *Session) Register(name string) (value []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case Closed:
		return nil, ErrClosed
	case Running:
		return nil, ErrRunning
	}
	r := Registers{s.registers}
	if v, ok := r.Get(name); ok {
		value = make([]byte, 8)
		s.machine.Order.PutUint64(value, v)
		return value[:generalSize(name)], nil
	}
	if s.worker == nil {
		return nil, fmt.Errorf("register %s: there is no worker: %w", name, ErrNotStopped)
	}
	if e := s.do(func() { value, err = s.worker.Vector(name) }); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, fmt.Errorf("register %s: %w", name, notFound(err))
	}
	return value, nil
}

// SetRegister sets a register of a stopped session; missing bytes are zero. The
// error wraps ErrNotFound, or ErrAddress as SetRegisters's does.
func (s *Session) SetRegister(name string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := whileStopped(s.state)
	if err != nil {
		return err
	}
	var b [8]byte
	copy(b[:generalSize(name)], value)
	r := Registers{s.registers}
	if r.Set(name, s.machine.Order.Uint64(b[:])) {
		return s.setRegisters(r)
	}
	if e := s.do(func() { err = s.worker.SetVector(name, value) }); e != nil {
		return e
	}
	if err != nil {
		return fmt.Errorf("register %s: %w", name, notFound(err))
	}
	return nil
}

func notFound(err error) error {
	if err == worker.ErrNoRegister {
		return ErrNotFound
	}
	return err
}

// columnBytes returns the bytes of the register with a DWARF column; of a vector
// register all that belong to it, for AVX the whole ymm.
func (s *Session) columnBytes(column uint64, innermost bool) (value []byte, ok bool) {
	if !innermost {
		return nil, false
	}
	if s.onWorker(func() { value, ok = s.worker.ColumnBytes(column) }) != nil {
		return nil, false
	}
	return value, ok
}

func (s *Session) setColumnBytes(column uint64, p []byte) (err error) {
	if e := s.onWorker(func() { err = s.worker.SetColumnBytes(column, p) }); e != nil {
		return e
	}
	if err != nil {
		return fmt.Errorf("register %d: %w", column, notFound(err))
	}
	return nil
}

// onWorker runs f on the controlling thread; it may be called there, by a
// condition, and by whoever has the session stopped.
func (s *Session) onWorker(f func()) error {
	s.mu.Lock()
	switch s.state {
	case Running:
		// Only conditions, logpoints and host functions have frames now.
		s.mu.Unlock()
		f()
		return nil
	case Stopped:
		defer s.mu.Unlock()
		return s.do(f)
	}
	s.mu.Unlock()
	return ErrNotStopped
}
