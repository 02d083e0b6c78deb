// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"fmt"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/expression"
)

// Condition returns the condition of a breakpoint at an address from an expression in gdb's
// syntax: "i == 500 && p->next". It compiles the expression once, in the scope at the address, and
// returns an *expression.Error for unknown names and operators that do not fit their operands. The
// condition is for one breakpoint or watchpoint only. It cannot call functions or use convenience
// variables. Its assignments take effect.
func (s *Session) Condition(text string, address uint64) (func(*Frame) (bool, error), error) {
	e, err := expression.Compile(text, s.Context(address))
	if err != nil {
		return nil, err
	}
	if _, err := e.Type(); err != nil {
		return nil, err
	}
	if e.IsType() {
		return nil, &expression.Error{Column: 1, Message: "Attempt to use a type name as an expression"}
	}
	if err := CheckCondition(e); err != nil {
		return nil, err
	}
	return func(f *Frame) (bool, error) {
		holds, err := e.True(f)
		if err != nil {
			return false, fmt.Errorf("condition %s: %w", text, err)
		}
		return holds, nil
	}, nil
}

// CheckCondition returns an *expression.Error for an expression that calls a function. A condition or
// logpoint cannot, because the worker waits at the breakpoint meanwhile.
func CheckCondition(e *expression.Expression) error {
	if e.HasCall() {
		return &expression.Error{Column: 1, Message: "conditions and log messages cannot call functions, because the code is stopped at the breakpoint; compare variables and members instead"}
	}
	return nil
}

// Context returns the context for compiling expressions at an address. It looks names up in the
// scope at the address, in its object, and in the other images. The caller owns it, and may set
// its other fields.
func (s *Session) Context(address uint64) *expression.Context {
	c := &expression.Context{Machine: s.machine, Address: address, Symbol: s.findSymbol}
	if i := s.Image(address); i != nil {
		c.Info = i.Info(address)
	}
	for _, i := range s.images() {
		for _, open := range i.infos {
			if info := open(); info != nil && info != c.Info {
				c.Objects = append(c.Objects, value.Static(s, info, 0))
			}
		}
	}
	return c
}

// findSymbol finds a function or data by name, also a function that is local to its file.
func (s *Session) findSymbol(name string) (address uint64, code, ok bool) {
	for _, i := range s.images() {
		if address, ok := i.Symbol(name); ok {
			return address, i.Contains(address), true
		}
	}
	for _, i := range s.images() {
		for _, f := range i.functions {
			if f.Name == name {
				return f.Start, true, true
			}
		}
	}
	return 0, false, false
}

// NamedRegister returns the bytes of a register without a DWARF column. Only the innermost frame
// has such registers.
func (f *Frame) NamedRegister(name string) (value []byte, ok bool) {
	if !f.Innermost() {
		return nil, false
	}
	err := f.session.onWorker(func() { value, ok = f.session.anyRegister(name) })
	return value, ok && err == nil
}

// SetNamedRegister sets a register without a DWARF column. Conditions cannot call it.
func (f *Frame) SetNamedRegister(name string, p []byte) error {
	if !f.Innermost() {
		return fmt.Errorf("register %s in frame %d: %w", name, f.Level, ErrNotFound)
	}
	return f.session.SetRegister(name, p)
}

// anyRegister returns a register of any class. Only the controlling goroutine may call it.
func (s *Session) anyRegister(name string) ([]byte, bool) {
	if v, ok := s.registers.Get(name); ok {
		b := make([]byte, 8)
		s.machine.Order.PutUint64(b, v)
		return b, true
	}
	if s.worker == nil {
		return nil, false
	}
	b, err := s.worker.Vector(name)
	return b, err == nil
}

var (
	_ value.Frame          = (*Frame)(nil)
	_ value.Writer         = (*Frame)(nil)
	_ expression.Registers = (*Frame)(nil)
)
