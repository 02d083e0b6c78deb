// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package console_test

import (
	"fmt"
	"log"
	"os"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/console"
)

// A program gives commands to a console for its generated code.
func Example() {
	memory, err := jit.NewMemory(16)
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
	text := memory.Bytes()[:copy(memory.Bytes(), []byte{0x8d, 0x04, 0x37, 0xc3})] // lea (%rdi,%rsi),%eax; ret
	if err := memory.Seal(); err != nil {
		log.Fatal(err)
	}
	image, err := session.NewImage(&jit.Code{
		Name: "sum", Address: memory.Address(), Text: text,
		Functions: []jit.Function{{Name: "add", Size: 4}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer image.Close()
	s, err := session.New(&session.Options{Images: []*session.Image{image}})
	if err != nil {
		fmt.Println(err) // the machine forbids ptrace
		return
	}
	defer s.Close()
	c := console.New(s, &console.Options{Output: os.Stdout})
	for _, command := range []string{"call add(20, 22)", "print $ / 2", "print $nothing"} {
		if err := c.Execute(command); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// add(20, 22) = 42
	// $2 = 21
	// $3 = void
}
