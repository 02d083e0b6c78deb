// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import "github.com/clewdev/clew/session"

// program is the part of session.Session that the server uses.
type program interface {
	State() session.State
	PID() int
	Images() []*session.Image
	AddImage(*session.Image) error
	RemoveImage(*session.Image) error
	Image(address uint64) *session.Image
	ReturnImage() *session.Image

	CallWith(function uint64, a session.Arguments) (*session.Stop, error)
	CallMain(function uint64, arguments []string, a session.Arguments) (*session.Stop, error)
	Continue() (*session.Stop, error)
	StepInstruction() (*session.Stop, error)
	StepRange(start, end uint64) (*session.Stop, error)
	Abort() (*session.Stop, error)
	Interrupt() error

	ReadMemory(p []byte, address uint64) error
	WriteMemory(p []byte, address uint64) error
	Registers() (session.Registers, error)
	RegisterInfos() []session.RegisterInfo
	Register(name string) ([]byte, error)
	SetRegister(name string, value []byte) error

	Break(address uint64, o *session.BreakpointOptions) (*session.Breakpoint, error)
	Breakpoints() []*session.Breakpoint
	Watch(address uint64, size int, access session.Access, o *session.BreakpointOptions) (*session.Watchpoint, error)
	Watchpoints() []*session.Watchpoint
	Remove(id int) error
}

var _ program = (*session.Session)(nil)
