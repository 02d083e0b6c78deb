// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype_test

import (
	"encoding/binary"
	"fmt"
	"log"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
	"github.com/clewdev/clew/value/stdtype"
)

// words is memory of 64-bit words by address.
type words map[uint64]uint64

func (w words) ReadMemory(p []byte, address uint64) error {
	for i := range p {
		at := address + uint64(i)
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], w[at&^7])
		p[i] = word[at&7]
	}
	return nil
}

func Example() {
	file, err := object.Open("testdata/gcc12.debug")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := value.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	variable, err := info.Global("vector", 0) // std::vector<int> vector
	if err != nil {
		log.Fatal(err)
	}
	memory := words{
		0x1000: 0x2000, 0x1008: 0x200c, 0x1010: 0x2010, // begin, end, end of the capacity
		0x2000: 5 | 6<<32, 0x2008: 7,
	}
	v := value.At(variable.Type, 0x1000, value.Static(memory, info, 0))
	fmt.Println((&print.Printer{Present: stdtype.Present}).Print(v))

	// Output:
	// std::vector of length 3, capacity 4 = {5, 6, 7} <nil>
}
