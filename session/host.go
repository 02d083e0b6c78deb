// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

// HostFunction is a Go function that code can call by its name.
type HostFunction struct {
	Name string

	// Call runs on the goroutine that controls the session while the worker
	// waits. It must not call methods of the session but Interrupt. If it panics
	// or returns an error, the session stops with HostFailed; to continue then
	// returns from the function all the same.
	Call func(*HostCall) error
}

// NewHost makes an image of Go functions.
func NewHost(name string, functions ...HostFunction) (*Image, error) { return nil, errNotYet }

// HostCall is a call of a host function. It is valid until that returns.
type HostCall struct {
	session *Session
}

// Word returns the n-th integer or pointer argument, from 0.
func (c *HostCall) Word(n int) uint64 { return 0 }

// Float returns the n-th floating-point argument, from 0, of at most 8.
func (c *HostCall) Float(n int) float64 { return 0 }

// Return sets the integer result; without it, it is 0.
func (c *HostCall) Return(word uint64) {}

// ReturnFloat sets the floating-point result.
func (c *HostCall) ReturnFloat(f float64) {}

// ReadMemory reads memory as Session.ReadMemory does.
func (c *HostCall) ReadMemory(p []byte, address uint64) error { return errNotYet }

// WriteMemory writes memory as Session.WriteMemory does.
func (c *HostCall) WriteMemory(p []byte, address uint64) error { return errNotYet }

// ReadString reads a string that ends with NUL, of at most limit bytes.
func (c *HostCall) ReadString(address uint64, limit int) (string, error) { return "", errNotYet }
