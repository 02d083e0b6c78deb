// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Spin generates functions without a frame pointer, publishes them as the
// environment variable CLEW_PERF says, and spends its time in them: what perf is
// asked about. "outer" and "middle" each keep 24 bytes of their frame and call
// the next one; "inner" counts down.
//
// Its argument is how far apart the functions are, in bytes. It prints the number
// of its process.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	_ "github.com/clewdev/clew/jit/perf"
)

// call calls the code at an address on the goroutine's stack.
func call(address, count uint64)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

//go:noinline
func run(distance string) error {
	apart, err := strconv.Atoi(distance)
	if err != nil {
		return err
	}
	memory, err := jit.NewMemory(4096)
	if err != nil {
		return err
	}
	defer memory.Close()
	code, entry, err := generate(memory, uint64(apart))
	if err != nil {
		return err
	}
	if err := memory.Seal(); err != nil {
		return err
	}
	p, err := jit.Publish(code)
	if err != nil {
		return err
	}
	if err := p.Failed(); err != nil {
		return err
	}
	fmt.Println(os.Getpid())
	spin(entry)
	return p.Withdraw()
}

//go:noinline
func spin(entry uint64) {
	// As much work on a busy machine as on an idle one; the collector can stop the
	// program between calls only.
	for range 400 {
		call(entry, 1_000_000)
	}
}

const frame = 24

// generate writes the functions, inner first, and returns where outer starts.
func generate(memory *jit.Memory, apart uint64) (code *jit.Code, entry uint64, err error) {
	text := memory.Bytes()
	cie := cfi.EntryCIE(jit.Host())
	code = &jit.Code{Name: "spin", Address: memory.Address(), Text: text}
	add := func(name string, at uint64, bytes []byte, lines ...jit.Line) (start, size uint64, err error) {
		// sub is 4 bytes, and so is add, which ret follows.
		unwind, err := cfi.NewBuilder(cie).At(4).DefCFAOffset(8 + frame).At(uint64(len(bytes)) - 1).DefCFAOffset(8).Program()
		copy(text[at:], bytes)
		size = uint64(len(bytes))
		code.Functions = append(code.Functions, jit.Function{Name: name, Offset: at, Size: size, Unwind: unwind, Lines: lines})
		return at, size, err
	}
	enter := []byte{0x48, 0x83, 0xec, frame}                  // sub rsp, frame
	leave := []byte{0x48, 0x83, 0xc4, frame, 0xc3}            // add rsp, frame; ret
	body := append(enter[:4:4], 0x48, 0xff, 0xc9, 0x75, 0xfb) // dec rcx; jnz -5
	target, size, err := add("inner", 0, append(body, leave...),
		jit.Line{Offset: 0, File: "/src/spin.lang", Line: 10}, jit.Line{Offset: 4, File: "/src/spin.lang", Line: 11, Column: 5},
		jit.Line{Offset: 9, File: "/src/other.lang", Line: 3})
	for _, name := range []string{"middle", "outer"} {
		if err != nil {
			return nil, 0, err
		}
		at := target + size + apart
		body := append(enter[:4:4], 0xe8)
		body = binary.LittleEndian.AppendUint32(body, uint32(target-(at+9)))
		target, size, err = add(name, at, append(body, leave...))
	}
	return code, memory.Address() + target, err
}
