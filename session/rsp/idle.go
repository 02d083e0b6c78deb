// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
)

// idleName is the name of the stub in which the session is stopped while the program calls nothing
// and a client is attached.
const idleName = "clew_idle"

// idle is the stub: a function that loops forever. An idle session is stopped in it, so that it has
// registers and a stack, and the client can call functions.
type idle struct {
	memory *jit.Memory
	image  *session.Image
}

func newIdle() (*idle, error) {
	host := jit.Host()
	code := host.Processor.Idle
	// The stack ends here: the return address is undefined.
	table, err := cfi.NewBuilder(cfi.NewCIE(host)).DefCFA(uint64(host.StackPointer), -host.DataAlign).
		Undefined(uint64(host.ReturnAddress)).Program()
	if err != nil {
		return nil, err
	}
	memory, err := jit.NewMemory(len(code))
	if err != nil {
		return nil, err
	}
	copy(memory.Bytes(), code)
	image, err := sealImage(memory, idleName, len(code), table)
	if err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	return &idle{memory, image}, nil
}

// sealImage makes memory executable, and an image of one function in its first size bytes.
func sealImage(memory *jit.Memory, name string, size int, unwind *cfi.Program) (*session.Image, error) {
	if err := memory.Seal(); err != nil {
		return nil, err
	}
	return session.NewImage(&jit.Code{
		Name: name, Address: memory.Address(), Text: memory.Bytes()[:size],
		Functions: []jit.Function{{Name: name, Size: uint64(size), Unwind: unwind}},
	})
}

// addIdle adds the stub to the session.
func (v *Server) addIdle() error {
	if v.idle != nil {
		return nil
	}
	stub, err := newIdle()
	if err == nil {
		if err = v.program.AddImage(stub.image); err != nil {
			_ = stub.close()
		}
	}
	if err != nil {
		return fmt.Errorf("no stub for an idle session: %w", err)
	}
	v.idle = stub
	return nil
}

// park stops an idle session in the stub.
func (v *Server) park() {
	v.parked = false
	v.stop = &session.Stop{Reason: session.Interrupted}
	if v.idle == nil {
		return // arrive has recorded the reason
	}
	stop, err := v.program.CallWith(v.idle.memory.Address(), session.Arguments{StopAtEntry: true})
	if err != nil {
		v.failed.Add(fmt.Errorf("stopping an idle session: %w", err))
		return
	}
	v.stop, v.parked = stop, true
}

// unpark leaves the stub.
func (v *Server) unpark() error {
	parked := v.parked
	v.parked = false
	if !parked || v.program.State() != session.Stopped {
		return nil
	}
	_, err := v.program.Abort()
	return err
}

// atIdle reports whether a parked session is in the stub, not in a function that the client calls.
func (v *Server) atIdle() bool { return v.idle.image.Contains(v.here().PC) }

func (v *Server) closeIdle() {
	if v.idle == nil {
		return
	}
	if err := v.program.RemoveImage(v.idle.image); err != nil {
		if !errors.Is(err, session.ErrStopped) { // Call has returned a fault, which the program reports
			v.failed.Add(err)
		}
		return // it is still in use
	}
	v.failed.Add(v.idle.close())
	v.idle = nil
}

func (i *idle) close() error {
	if err := i.image.Close(); err != nil {
		return err
	}
	return i.memory.Close()
}
