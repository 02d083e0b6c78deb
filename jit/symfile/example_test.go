// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile_test

import (
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/symfile"
	"github.com/clewdev/clew/jit/symfile/reader"
)

// Each of two batches becomes an image. Merge makes one image of both without the
// withdrawn function, and package reader reads it.
func Example() {
	leaf, err := cfi.NewBuilder(cfi.EntryCIE(amd64)).Program()
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := func(address uint64, names ...string) []byte {
		c := &jit.Code{Machine: amd64, Address: address}
		for i, name := range names {
			c.Text = append(c.Text, "\x31\xc0\xc3"...) // xor %eax,%eax; ret
			c.Functions = append(c.Functions, jit.Function{
				Name: name, Offset: uint64(3 * i), Size: 3, Unwind: leaf,
				Lines: []jit.Line{{File: "zero.forth", Line: 1 + i}},
			})
		}
		image, err := symfile.Append(nil, c)
		if err != nil {
			fmt.Println(err)
		}
		return image
	}
	images := [][]byte{batch(0x1000, "zero", "nought"), batch(0x2000, "nil")}
	merged, err := symfile.Merge(nil, images, func(start uint64) bool { return start != 0x1003 })
	if err != nil {
		fmt.Println(err)
		return
	}
	image, err := reader.Open(merged)
	if err != nil {
		fmt.Println(err)
		return
	}
	functions, err := image.Functions()
	for _, f := range functions {
		at, _ := image.Locate(f.Start)
		fmt.Printf("%#x %s %s:%d\n", f.Start, f.Name, at[0].File, at[0].Line)
	}
	fmt.Println(err)
	// Output:
	// 0x1000 zero zero.forth:1
	// 0x2000 nil zero.forth:1
	// <nil>
}
