// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session_test

import (
	"fmt"
	"log"
	"runtime"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
)

// A call of a generated function stops at a fault, the cause is repaired, and the call returns.
func Example() {
	code := map[string][]byte{
		"amd64": {0x48, 0x8b, 0x07, 0xc3},                         // mov rax, [rdi]; ret
		"arm64": {0x00, 0x00, 0x40, 0xf9, 0xc0, 0x03, 0x5f, 0xd6}, // ldr x0, [x0]; ret
	}[runtime.GOARCH]
	argument := map[string]string{"amd64": "rdi", "arm64": "x0"}[runtime.GOARCH]

	// A compiler writes code to memory and describes it.
	memory, err := jit.NewMemory(len(code))
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
	copy(memory.Bytes(), code)
	if err := memory.Seal(); err != nil {
		log.Fatal(err)
	}
	unwind, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).Program()
	if err != nil {
		log.Fatal(err)
	}
	image, err := session.NewImage(&jit.Code{
		Name: "example", Address: memory.Address(), Text: memory.Bytes()[:len(code)],
		Functions: []jit.Function{{Name: "load", Size: uint64(len(code)), Unwind: unwind}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer image.Close()

	s, err := session.New(&session.Options{Images: []*session.Image{image}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	load, _ := s.Symbol("load")
	stop, err := s.Call(load, 0x10) // an address where nothing is
	if err != nil {
		log.Fatal(err)
	}
	stack, err := s.Stack(0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: signal %d at %#x in %s\n", stop.Reason, stop.Signal.Number, stop.Signal.Address, stack.Frames[0].Function.Name)

	r, err := s.Registers()
	if err != nil {
		log.Fatal(err)
	}
	r.Set(argument, memory.Address()) // one that can be read
	if err := s.SetRegisters(r); err != nil {
		log.Fatal(err)
	}
	stop, err = s.Continue()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stop.Reason, s.State())
	// Output:
	// signal: signal 11 at 0x10 in load
	// return exited
}

// While a call is stopped at a breakpoint, a debugger calls the function again, nested.
func ExampleSession_CallNested() {
	code := map[string][]byte{
		"amd64": {0x48, 0x8d, 0x04, 0x3f, 0xc3},                   // lea rax, [rdi+rdi]; ret
		"arm64": {0x00, 0x00, 0x00, 0x8b, 0xc0, 0x03, 0x5f, 0xd6}, // add x0, x0, x0; ret
	}[runtime.GOARCH]
	memory, err := jit.NewMemory(len(code))
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
	copy(memory.Bytes(), code)
	if err := memory.Seal(); err != nil {
		log.Fatal(err)
	}
	image, err := session.NewImage(&jit.Code{
		Name: "example", Address: memory.Address(), Text: memory.Bytes()[:len(code)],
		Functions: []jit.Function{{Name: "double", Size: uint64(len(code))}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer image.Close()
	s, err := session.New(&session.Options{Images: []*session.Image{image}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	double, _ := s.Symbol("double")
	stop, err := s.CallWith(double, session.Arguments{Words: []uint64{4}, StopAtEntry: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stop.Reason)
	nested, err := s.CallNested(double, session.Arguments{Words: []uint64{100}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(nested.Reason, nested.Result, nested.Outer == stop, s.State())
	stop, err = s.Continue()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stop.Reason, stop.Result, s.State())
	// Output:
	// entry
	// return 200 true stopped
	// return 8 exited
}
