// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package link_test

import (
	"fmt"
	"log"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session/link"
)

// The file imports one function. The ELF of the object describes the loaded program, as any other
// file.
func Example() {
	file, err := object.Open("testdata/seed-amd64.o")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	p, err := link.Load(&link.Options{Resolve: func(name string) (uint64, bool) {
		return 0x1000, name == "host"
	}}, file)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	f, _ := p.Symbol("f")
	image, err := object.NewFile(p.Objects[0].ELF, p.Objects[0].Name)
	if err != nil {
		log.Fatal(err)
	}
	lines, err := image.Locate(f)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lines[0].Function, lines[0].File, lines[0].Line)
	fmt.Println(len(p.Init), "constructor,", p.TLS.Size, "bytes of thread-local variables")
	// Output:
	// f /src/seed.c 15
	// 1 constructor, 4 bytes of thread-local variables
}

// Errors have the undefined symbols and the places that use them.
func ExampleLoad_undefined() {
	file, err := object.Open("testdata/seed-amd64.o")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	_, err = link.Load(nil, file)
	fmt.Println(err)
	// Output: undefined symbol: host, used at testdata/seed-amd64.o: .text+0x5b
}
