// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Spin generates functions, publishes them as the environment variable CLEW_PERF
// says, and spends its time in them while perf samples it. "outer" and
// "middle" each keep 24 bytes of their frame and call the next one; "inner"
// counts down.
//
// Its first argument is how far apart the functions are, in bytes. With a second
// one, "frames", they keep frame pointers. It prints the number of its process.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	_ "github.com/clewdev/clew/jit/perf/environment"
)

// call calls the code at an address on the goroutine's stack.
func call(address, count uint64)

func main() {
	if err := run(os.Args[1], len(os.Args) > 2 && os.Args[2] == "frames"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

//go:noinline
func run(distance string, frames bool) error {
	apart, err := strconv.Atoi(distance)
	if err != nil {
		return err
	}
	memory, err := jit.NewMemory(4096)
	if err != nil {
		return err
	}
	defer memory.Close()
	code, entry, err := generate(memory, uint64(apart), frames)
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
	// The same work on a busy machine as on an idle one. The collector can stop the
	// program only between calls.
	for range 400 {
		call(entry, 1_000_000)
	}
}

const frame = 24

// generate writes the functions, inner first, and returns where outer starts.
func generate(memory *jit.Memory, apart uint64, frames bool) (code *jit.Code, entry uint64, err error) {
	text := memory.Bytes()
	cie := cfi.EntryCIE(jit.Host())
	code = &jit.Code{Name: "spin", Address: memory.Address(), Text: text}
	add := func(name string, at uint64, bytes []byte, lines ...jit.Line) (start, size uint64, err error) {
		// sub is 4 bytes, and so is add, which ret follows.
		b := cfi.NewBuilder(cie).At(4).DefCFAOffset(8 + frame).At(uint64(len(bytes)) - 1).DefCFAOffset(8)
		if frames { // push and pop are 1 byte each, mov 3
			b = cfi.NewBuilder(cie).At(1).DefCFAOffset(16).Offset(6, -16).At(4).DefCFARegister(6).At(uint64(len(bytes))-1).DefCFA(7, 8)
		}
		unwind, err := b.Program()
		copy(text[at:], bytes)
		size = uint64(len(bytes))
		code.Functions = append(code.Functions, jit.Function{Name: name, Offset: at, Size: size, Unwind: unwind, Lines: lines})
		return at, size, err
	}
	enter := []byte{0x48, 0x83, 0xec, frame}       // sub rsp, frame
	leave := []byte{0x48, 0x83, 0xc4, frame, 0xc3} // add rsp, frame; ret
	if frames {
		enter = []byte{0x55, 0x48, 0x89, 0xe5} // push rbp; mov rbp, rsp
		leave = []byte{0x5d, 0xc3}             // pop rbp; ret
	}
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
