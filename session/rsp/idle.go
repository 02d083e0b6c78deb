// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
)

// idleName is what debuggers call the stub that a session is stopped in while a
// client looks at it and the program calls nothing.
const idleName = "clew_idle"

// idle is the stub: a function that does nothing for ever. It makes an idle
// session a stopped one, with registers and a stack, in which a client can call
// functions.
type idle struct {
	memory *jit.Memory
	image  *session.Image
	start  uint64
	size   uint64
}

// idleCode is the stub's machine code: a loop of one instruction.
func idleCode() []byte {
	if jit.Host().CodeAlign == 1 {
		return []byte{0xf3, 0x90, 0xeb, 0xfc} // 1: pause; jmp 1b
	}
	return []byte{0x3f, 0x20, 0x03, 0xd5, 0xff, 0xff, 0xff, 0x17} // 1: yield; b 1b
}

func newIdle() (*idle, error) {
	host := jit.Host()
	code := idleCode()
	memory, err := jit.NewMemory(len(code))
	if err != nil {
		return nil, err
	}
	copy(memory.Bytes(), code)
	if err := memory.Seal(); err != nil {
		memory.Close()
		return nil, err
	}
	// Its caller is nobody: the stack ends here.
	table, err := cfi.NewBuilder(cfi.NewCIE(host)).DefCFA(uint64(host.StackPointer), -host.DataAlign).
		Undefined(uint64(host.ReturnAddress)).Program()
	if err != nil {
		memory.Close()
		return nil, err
	}
	image, err := session.NewImage(&jit.Code{
		Name: idleName, Address: memory.Address(), Text: memory.Bytes()[:len(code)],
		Functions: []jit.Function{{Name: idleName, Size: uint64(len(code)), Unwind: table}},
	})
	if err != nil {
		memory.Close()
		return nil, err
	}
	return &idle{memory: memory, image: image, start: memory.Address(), size: uint64(len(code))}, nil
}

// addIdle gives the session the stub.
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
		return // arrive has said why
	}
	stop, err := v.program.CallWith(v.idle.start, session.Arguments{StopAtEntry: true})
	if err != nil {
		v.failed.add(fmt.Errorf("no stop in an idle session: %w", err))
		return
	}
	v.stop, v.parked = stop, true
}

// unpark leaves the stub.
func (v *Server) unpark() error {
	if !v.parked {
		return nil
	}
	v.parked = false
	if v.program.State() != session.Stopped {
		return nil
	}
	_, err := v.program.Abort()
	return err
}

// atIdle reports whether a parked session stands in the stub, and not in a
// function that the client calls.
func (v *Server) atIdle() bool {
	st := v.here()
	return st.PC-v.idle.start < v.idle.size
}

func (v *Server) closeIdle() {
	if v.idle == nil {
		return
	}
	if err := v.program.RemoveImage(v.idle.image); err != nil {
		v.failed.add(err) // it is still in use
		return
	}
	v.failed.add(v.idle.close())
	v.idle = nil
}

func (i *idle) close() error {
	if err := i.image.Close(); err != nil {
		return err
	}
	return i.memory.Close()
}
