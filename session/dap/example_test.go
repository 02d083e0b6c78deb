// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package dap_test

import (
	"fmt"
	"log"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/dap"
	"github.com/clewdev/clew/session/socket"
)

// A program that generates code lets editors debug its calls.
func Example() {
	// lea 1(%rdi), %rax; ret
	text := []byte{0x48, 0x8d, 0x47, 0x01, 0xc3}
	memory, err := jit.NewMemory(len(text))
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
	copy(memory.Bytes(), text)
	if err := memory.Seal(); err != nil {
		log.Fatal(err)
	}
	image, err := session.NewImage(&jit.Code{Name: "example", Address: memory.Address(), Text: text,
		Functions: []jit.Function{{Name: "next", Size: uint64(len(text))}}})
	if err != nil {
		log.Fatal(err)
	}
	defer image.Close()
	s, err := session.New(&session.Options{Images: []*session.Image{image}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	target := dap.NewTarget(s)
	server := dap.New(dap.Options{Attach: func() (*dap.Target, error) { return target, nil }})
	listener, err := socket.Listen(":0")
	if err != nil {
		log.Fatal(err)
	}
	go server.Serve(listener)
	defer server.Close()

	next, _ := s.Symbol("next")
	stop, err := target.Call(next, session.Arguments{Words: []uint64{41}}) // stops in the editor, if one is attached
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stop.Result)
	// Output: 42
}
