// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"fmt"

	"github.com/clewdev/clew/session/internal/worker"
	"github.com/clewdev/clew/unwind"
)

// Registers is a copy of the worker's general registers. In the zero value all are 0.
type Registers struct{ general worker.General }

// PC returns the address of the next instruction.
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

// Registers returns the general registers of a stopped session. In the states Idle and Exited it
// returns the worker's last ones.
func (s *Session) Registers() (Registers, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := unlessRunning(s.state); err != nil {
		return Registers{}, err
	}
	return Registers{s.registers}, nil
}

// SetRegisters sets the general registers of a stopped session. A program counter outside the images
// is an error that wraps ErrAddress, unless the current one is outside too, or the new one is on the
// session's stack, where no code can run.
func (s *Session) SetRegisters(r Registers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := whileStopped(s.state); err != nil {
		return err
	}
	return s.setRegisters(r)
}

// checkPC checks a program counter that replaces another one.
func (s *Session) checkPC(pc, old uint64) error {
	if s.Image(pc) == nil && s.Image(old) != nil && pc != returnAddress(s.returns) && !s.isOnStack(pc) {
		return failure(ErrAddress, "the program counter %#x is in no image of the session", pc)
	}
	return nil
}

// isOnStack reports whether an address is on the worker's stack. gdb has the return addresses of its
// own calls there: to run to one is a fault.
func (s *Session) isOnStack(address uint64) bool {
	if s.worker == nil {
		return false
	}
	low, high := s.worker.Stack()
	return address-low < high-low
}

func (s *Session) setRegisters(r Registers) error {
	pc := r.PC()
	if err := s.checkPC(pc, s.registers.PC()); err != nil {
		return err
	}
	if pc != s.registers.PC() {
		s.considered = 0 // a breakpoint there counts
	}
	s.registers = r.general
	return nil
}

// Pop removes the frames of up to the given level (0 is the innermost), and runs no code: the registers
// become those of the caller of the last one, as far as they are known. The registers of results stay,
// so that the caller gets what they have. At the outermost level, Continue then ends the call. The
// error wraps ErrNotFound if there is no such frame or its caller is unknown, and ErrStopped if the
// frame is outside of a nested call.
func (s *Session) Pop(level int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := whileStopped(s.state); err != nil {
		return err
	}
	stack := s.frames(level + 1)
	if level < 0 || level >= len(stack.Frames) {
		return fmt.Errorf("frame %d of %d: %w", level, len(stack.Frames), ErrNotFound)
	}
	if f := &stack.Frames[level]; f.Marker || f.outer != nil {
		return failure(ErrStopped, "frame %d waits for the end of the nested call; finish or abort that first", level)
	}
	start := s.unwindRegisters()
	n := -1
	for f := range s.walk().Walk(&start) {
		if n++; n <= level {
			continue
		}
		r := Registers{s.registers}
		for column := range uint64(unwind.MaxColumns) {
			if v, ok := f.Registers.Get(column); ok {
				r.general.SetColumn(column, v)
			}
		}
		r.general.SetPC(f.PC)
		return s.setRegisters(r)
	}
	return failure(ErrNotFound, "the caller of frame %d is not known", level)
}

// setColumn sets a general register by its DWARF column. The caller holds mu.
func (s *Session) setColumn(column, v uint64) error {
	if err := whileStopped(s.state); err != nil {
		return err
	}
	r := Registers{s.registers}
	if err := s.changeColumn(&r, column, v); err != nil {
		return err
	}
	return s.setRegisters(r)
}

func (s *Session) changeColumn(r *Registers, column, v uint64) error {
	if column == uint64(s.machine.ReturnAddress) && s.machine.CFAOffset != 0 || !r.general.SetColumn(column, v) {
		return failure(ErrNotFound, "register %d cannot be set", column)
	}
	return nil
}

// setSuspended is setColumn for a call that waits for the end of a nested call.
func (s *Session) setSuspended(o *suspended, column, v uint64) error {
	if err := whileStopped(s.state); err != nil {
		return err
	}
	r := Registers{o.registers}
	if err := s.changeColumn(&r, column, v); err != nil {
		return err
	}
	if err := s.checkPC(r.PC(), o.registers.PC()); err != nil {
		return err
	}
	if r.PC() != o.registers.PC() {
		o.considered = 0
	}
	o.registers = r.general
	return nil
}

// RegisterClass is the group that a register belongs to.
type RegisterClass uint8

const (
	GeneralRegister RegisterClass = iota // also program counter, flags, segments
	FloatRegister                        // x87: st0 to st7, and its control words
	VectorRegister                       // also its control words
)

// RegisterInfo describes a register of the worker.
type RegisterInfo struct {
	Name   string // gdb's
	Size   int    // bytes
	Column int    // DWARF column, or -1
	Class  RegisterClass
}

// RegisterInfos returns all registers that the worker has on this machine, in gdb's order. On amd64
// they include st0–st7, xmm0–15, fs_base, gs_base and orig_rax; with AVX the upper halves as ymm0h and
// so on; with AVX-512 k0–k7 and the other parts of zmm0–31. On arm64 they include v0–v31, fpsr, fpcr
// and tpidr.
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

// Register returns the bytes of a register of a stopped session, least significant first. The name is
// a name from RegisterInfos, "pc" or "sp". The error wraps ErrNotFound.
func (s *Session) Register(name string) (value []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := unlessRunning(s.state); err != nil {
		return nil, err
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

// SetRegister sets a register of a stopped session. Missing bytes are 0. The error wraps ErrNotFound,
// or ErrAddress as in [Session.SetRegisters].
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

// onWorker runs f on the controlling thread. Callers are on that thread, in a condition, or have a
// frame of a stopped session.
func (s *Session) onWorker(f func()) error {
	s.mu.Lock()
	switch s.state {
	case Running:
		// The caller is on the controlling thread: only conditions, logpoints and host functions
		// have frames during a run.
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
