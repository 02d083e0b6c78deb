// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// The program opens a plugin while code is published, and publishes afterwards.
package main

import (
	"fmt"
	"os"
	"plugin"
	"runtime"

	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/goruntime"
)

func publish(text []byte, address uint64, name string) jit.Registration {
	unwind, err := preset.Leaf(jit.Host(), preset.Frame{})
	check(err)
	r, err := goruntime.Default.Publish(&jit.Code{Address: address, Text: text, Functions: []jit.Function{{Name: name, Size: uint64(len(text)), Unwind: unwind}}})
	check(err)
	return r
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	m, err := jit.NewMemory(8192)
	check(err)
	at := m.Address()
	before := publish(m.Bytes()[:64], at, "code.before")
	p, err := plugin.Open(os.Args[1])
	check(err)
	f, err := p.Lookup("Name")
	check(err)
	after := publish(m.Bytes()[4096:4160], at+4096, "code.after")
	name := func(pc uint64) string { return runtime.FuncForPC(uintptr(pc)).Name() }
	fmt.Println(name(at), name(at+4096), f.(func() string)())
	check(before.Withdraw())
	runtime.GC()
	fmt.Println(name(at), name(at+4096), f.(func() string)())
	check(after.Withdraw())
}
