// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Static throws a C++ exception through generated code. It prints the caught value, or an
// error if the process has no unwinder.
package main

// #cgo LDFLAGS: -lstdc++
// #include <stdint.h>
// long throws(long);
// long catches(long (*)(long), long);
// static uintptr_t target(void) { return (uintptr_t)throws; }
// static long call(uintptr_t code, long n) { return catches((long (*)(long))code, n); }
import "C"

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/libgcc"
)

func main() {
	if err := run(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run() error {
	memory, err := jit.NewMemory(4096)
	if err != nil {
		return err
	}
	// sub $8, %rsp; mov $throws, %rax; call *%rax; add $8, %rsp; ret
	text := binary.LittleEndian.AppendUint64([]byte{0x48, 0x83, 0xec, 8, 0x48, 0xb8}, uint64(C.target()))
	text = append(text, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3)
	copy(memory.Bytes(), text)
	if err := memory.Seal(); err != nil {
		return err
	}
	size := uint64(len(text))
	unwind, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).At(4).DefCFAOffset(16).At(size - 1).DefCFAOffset(8).Program()
	if err != nil {
		return err
	}
	code := &jit.Code{Address: memory.Address(), Text: memory.Bytes(), Functions: []jit.Function{{Name: "f", Size: size, Unwind: unwind}}}
	for n := range C.long(3) {
		published, err := libgcc.Publisher{}.Publish(code)
		if err != nil {
			return err
		}
		fmt.Println("caught", C.call(C.uintptr_t(code.Address), n))
		if err := published.Withdraw(); err != nil {
			return err
		}
	}
	return memory.Close()
}
