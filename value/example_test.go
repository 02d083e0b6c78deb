// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// segments is the memory of a program that has not started: the contents of its file.
type segments struct {
	file *object.File
	data []byte
}

func (s segments) ReadMemory(p []byte, addr uint64) error {
	for _, seg := range s.file.Segments() {
		at := addr - seg.Vaddr
		if seg.Type == elf.PT_LOAD && addr >= seg.Vaddr && at < seg.Filesz && uint64(len(p)) <= seg.Filesz-at {
			copy(p, s.data[seg.Off+at:])
			return nil
		}
	}
	return errors.New("no segment")
}

func Example() {
	data, err := os.ReadFile("testdata/small5.elf")
	if err != nil {
		log.Fatal(err)
	}
	file, err := object.NewFile(data, "small5.elf")
	if err != nil {
		log.Fatal(err)
	}
	info, err := value.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	frame := value.Static(segments{file, data}, info, 0)
	first, err := info.Global("first", 0)
	if err != nil {
		log.Fatal(err)
	}
	var printer print.Printer
	fmt.Println(printer.Variable(first, frame))
	next := first.Read(frame).FieldByName("next")
	fmt.Println(printer.Print(next.Deref().FieldByName("color")))
	fmt.Println(next.Type(), "|", first.Type)

	// Output:
	// first = {x = 1, y = 2, color = GREEN, flags = 0, name = 0x402000 "first", next = 0x4030a0, norm = 0x0}
	// BLUE <nil>
	// struct point * | struct point
}
