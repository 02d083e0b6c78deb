// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// HostFunction is a Go function that code can call by its name.
type HostFunction struct {
	Name string

	// Call runs on the goroutine that controls the session while the worker waits. It may call no
	// method of the session except Interrupt. If it panics or returns an error, the session stops
	// with HostFailed; continuing then returns from the function. An *ExitError ends the call.
	Call func(*HostCall) error
}

// ExitError is the error with which a host function ends the call, as C's exit ends a program. The
// stop is ExitedProcess, with the low byte of Code.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("the code called exit(%d)", e.Code) }

const stubSize = 16

// NewHost makes an image of Go functions. Every session with code that calls them must have the image.
func NewHost(name string, functions ...HostFunction) (*Image, error) {
	m := jit.Host()
	if m == nil || m.Processor.Trap == nil {
		return nil, fmt.Errorf("host functions: %w", errors.ErrUnsupported)
	}
	entry, err := cfi.NewBuilder(cfi.EntryCIE(m)).Program()
	if err != nil {
		return nil, err
	}
	code := &jit.Code{Name: name, Machine: m}
	stub := slices.Concat(m.Processor.Trap, m.Processor.Return)
	for n, f := range functions {
		if f.Call == nil {
			return nil, fmt.Errorf("host function %q without Call: %w", f.Name, jit.ErrCode)
		}
		code.Functions = append(code.Functions, jit.Function{Name: f.Name, Offset: uint64(n) * stubSize, Size: uint64(len(stub)), Unwind: entry})
		code.Text = append(code.Text, stub...)
		code.Text = append(code.Text, make([]byte, stubSize-len(stub))...)
	}
	i, err := newStubs(code)
	if err != nil {
		return nil, err
	}
	i.host = functions
	hosts.Lock()
	hosts.images = append(hosts.images, i)
	hosts.Unlock()
	return i, nil
}

// hosts are all images of host functions, for foreignHost.
var hosts struct {
	sync.Mutex
	images []*Image
}

// foreignHost returns an error if an address is the stub of a host function. A session calls it for
// a trap outside its own images.
func foreignHost(address uint64) error {
	hosts.Lock()
	defer hosts.Unlock()
	for _, i := range hosts.images {
		if f := i.hostAt(address); f != nil {
			return failure(ErrNotFound, "the code calls the host function %s of the image %s, which the session does not have", f.Name, i.name)
		}
	}
	return nil
}

// newStubs copies code to new memory and makes an image of it.
func newStubs(code *jit.Code) (*Image, error) {
	memory, err := jit.NewMemory(max(len(code.Text), 1))
	if err != nil {
		return nil, err
	}
	copy(memory.Bytes(), code.Text)
	code.Address, code.Text = memory.Address(), memory.Bytes()[:len(code.Text)]
	err = memory.Seal()
	var i *Image
	if err == nil {
		i, err = NewImage(code)
	}
	if err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	i.memory = memory
	return i, nil
}

// IsHost reports whether the image was made by [NewHost].
func (i *Image) IsHost() bool { return len(i.host) > 0 }

// hostAt returns the host function that has its stub at an address, or nil.
func (i *Image) hostAt(address uint64) *HostFunction {
	if len(i.host) == 0 {
		return nil
	}
	n := address - i.ranges[0].Start
	if n%stubSize != 0 || n/stubSize >= uint64(len(i.host)) {
		return nil
	}
	return &i.host[n/stubSize]
}

// returnImage has the address to which calls return: a trap that ends the call. Its unwind table
// marks the outermost frame.
var returnImage = sync.OnceValues(func() (*Image, error) {
	m := jit.Host()
	if m == nil || m.Processor.Trap == nil {
		return nil, errors.ErrUnsupported
	}
	end, err := cfi.NewBuilder(cfi.EntryCIE(m)).Undefined(uint64(m.ReturnAddress)).Program()
	if err != nil {
		return nil, err
	}
	// The return address is the second instruction, because unwinders look up the address before
	// a return address.
	text := bytes.Repeat(m.Processor.Trap, 4)
	return newStubs(&jit.Code{Name: "session", Machine: m, Text: text,
		Functions: []jit.Function{{Name: "session.return", Size: uint64(len(text)), Unwind: end}}})
})

// ReturnImage returns the code to which calls return. Callers that walk stacks need it: it is the
// last frame of every stack. It is not one of Images. Only hardware breakpoints can be set in it.
// It must not be closed.
func (s *Session) ReturnImage() *Image { return s.returns }

// returnAddress returns the address in returnImage to which calls return.
func returnAddress(i *Image) uint64 {
	return i.ranges[0].Start + uint64(len(i.machine.Processor.Trap))
}

// HostCall is a call of a host function. It is valid until the function returns.
type HostCall struct {
	session *Session
	result  uint64
	failed  error // of reading an argument or setting a result
}

// Word returns the n-th integer or pointer argument, from 0.
func (c *HostCall) Word(n int) uint64 {
	r := &c.session.registers
	if v, ok := r.Word(n); ok {
		return v
	}
	var b [8]byte
	if err := c.ReadMemory(b[:], r.StackWord(n)); err != nil {
		c.failed = err
	}
	return c.session.machine.Order.Uint64(b[:])
}

// Float returns the n-th floating-point argument, from 0, of at most 8.
func (c *HostCall) Float(n int) float64 {
	f, err := c.session.worker.Float(n)
	if err != nil {
		c.failed = err
	}
	return f
}

// Return sets the integer result, which is 0 otherwise.
func (c *HostCall) Return(word uint64) { c.result = word }

// ReturnFloat sets the floating-point result.
func (c *HostCall) ReturnFloat(f float64) {
	if err := c.session.worker.SetFloat(0, f); err != nil {
		c.failed = err
	}
}

// ReadMemory reads memory as Session.ReadMemory does.
func (c *HostCall) ReadMemory(p []byte, address uint64) error {
	return c.session.ReadMemory(p, address)
}

// WriteMemory writes memory as Session.WriteMemory does.
func (c *HostCall) WriteMemory(p []byte, address uint64) error {
	return c.session.WriteMemory(p, address)
}

// ReadString reads a string up to its NUL byte, or limit bytes if there is none among them.
func (c *HostCall) ReadString(address uint64, limit int) (string, error) {
	return c.session.readString(address, limit)
}

// call runs a host function for the worker, and turns a panic into an error.
func (c *HostCall) call(f *HostFunction) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic: %v", f.Name, p)
		} else if err == nil {
			err = c.failed
		}
	}()
	return f.Call(c)
}

// runHost runs the host function f while the worker is at its stub, and leaves the worker at
// the stub's return.
func (s *Session) runHost(f *HostFunction) error {
	c := HostCall{session: s}
	err := c.call(f)
	s.registers.SetResult(c.result)
	s.registers.Enter(s.registers.PC() + uint64(len(s.machine.Processor.Trap)))
	return err
}
