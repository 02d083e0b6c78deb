// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/expression"
)

// Values has the values that expressions can use: the variables of a frame and of all
// objects, convenience variables, and the history. It implements expression.Convenience.
type Values struct {
	// Convenience are the convenience variables, by their names without $.
	Convenience map[string]value.Value

	// History returns a value of the history for an expression: Past with the front
	// end's errors. If it is nil, expressions have no history.
	History func(n int, relative bool) (value.Value, error)

	session *session.Session
	frames  *Frames
	history []value.Value
}

const maxConvenience = 1 << 14 // convenience variables

// NewValues returns the values of a session and of its frames.
func NewValues(s *session.Session, f *Frames) *Values {
	return &Values{Convenience: map[string]value.Value{}, session: s, frames: f}
}

// Objects returns a frame for each object with debugging information. These frames have
// the variables with fixed addresses, also while no call is stopped.
func (v *Values) Objects() []value.Frame { return v.Context(nil).Objects }

// Outside returns the frame of expressions outside of calls.
func (v *Values) Outside() value.Frame {
	if list := v.Objects(); len(list) > 0 {
		return list[0]
	}
	return &objectFrame{value.Static(v.session, nil, 0), v}
}

// Frame returns the value.Frame of f for evaluation, or Outside if f is nil.
func (v *Values) Frame(f *Frame) value.Frame {
	if f == nil {
		return v.Outside()
	}
	return f.Physical
}

// Context returns the context for compiling expressions in a frame, or outside of calls if f
// is nil. The caller may change it.
func (v *Values) Context(f *Frame) *expression.Context {
	if f == nil {
		return v.contextAt(0)
	}
	c := v.contextAt(f.Physical.LookupPC)
	c.Info, c.Address, c.Inlined = f.Physical.Info(), f.address(), f.Passed
	return c
}

// contextAt returns the meaning of names at an address of an image.
func (v *Values) contextAt(address uint64) *expression.Context {
	c := v.session.Context(address)
	c.Convenience, c.History = v, v.History
	for i, o := range c.Objects {
		c.Objects[i] = &objectFrame{o, v}
	}
	return c
}

// Evaluate evaluates an expression in a context and a frame of this package.
func Evaluate(text string, c *expression.Context, f value.Frame) (value.Value, error) {
	e, err := expression.Compile(text, c)
	if err != nil {
		return value.Value{}, err
	}
	return e.Evaluate(f)
}

// Get returns a convenience variable.
func (v *Values) Get(name string) (value.Value, bool) {
	x, ok := v.Convenience[name]
	return x, ok
}

// Set sets a convenience variable to the current contents of a value.
func (v *Values) Set(name string, x value.Value) error {
	if _, ok := v.Convenience[name]; !ok && len(v.Convenience) >= maxConvenience {
		return fmt.Errorf("there are %d convenience variables already", maxConvenience)
	}
	x, err := v.freeze(x)
	if err == nil {
		v.Convenience[name] = x
	}
	return err
}

// Record adds the current contents of a value to the history, and returns its number.
func (v *Values) Record(x value.Value) int {
	if f, err := v.freeze(x); err == nil {
		x = f
	}
	v.history = append(v.history, x)
	return len(v.history)
}

// Recorded returns the number of values in the history.
func (v *Values) Recorded() int { return len(v.history) }

// Past returns a value of the history and its number, counted from 1. A relative n counts
// back from the last value. The value is zero if the number is not from 1 to Recorded.
func (v *Values) Past(n int, relative bool) (value.Value, int) {
	if relative {
		n = len(v.history) - n
	}
	if n < 1 || n > len(v.history) {
		return value.Value{}, n
	}
	return v.history[n-1], n
}

// Word returns the number in up to 8 bytes of memory or of a register. Sessions run on
// little-endian machines only.
func Word(b []byte) uint64 {
	var word [8]byte
	copy(word[:], b)
	return binary.LittleEndian.Uint64(word[:])
}

// freeze returns a value that does not depend on its frame, which ends with the stop. A
// large object stays in the program's memory.
func (v *Values) freeze(x value.Value) (value.Value, error) {
	if x.Type() == nil {
		return x, nil
	}
	address, ok := x.Address()
	if ok && (x.Type().Size() > value.MaxSize || x.Type().Strip().Kind() == value.Func) {
		return value.At(x.Type(), address, v.Outside()), nil
	}
	b, err := x.Bytes()
	if err != nil {
		return value.Value{}, err
	}
	return value.Constant(x.Type(), b, v.Outside()), nil
}

// objectFrame is a frame for the variables of an object that have fixed addresses.
type objectFrame struct {
	value.Frame
	values *Values
}

// WriteMemory implements value.Writer.
func (o *objectFrame) WriteMemory(p []byte, address uint64) error {
	return o.values.session.WriteMemory(p, address)
}

// SetRegisterBytes implements value.Writer.
func (o *objectFrame) SetRegisterBytes(uint64, []byte) error {
	return errors.New("registers exist only while a call is stopped")
}

// ThreadAddress implements value.ThreadStorage with the thread of the stopped call.
func (o *objectFrame) ThreadAddress(offset uint64) (uint64, error) {
	if o.values.session.State() == session.Stopped {
		frames, _ := o.values.frames.Load(0) // without frames there is no thread
		for _, f := range frames {
			if at, err := f.Physical.ThreadAddress(offset); err == nil {
				return at, nil
			}
		}
	}
	return 0, errors.New("a thread-local variable exists only while a call is stopped: \"start\" one, or set a breakpoint")
}
