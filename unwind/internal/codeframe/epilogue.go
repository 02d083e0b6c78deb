// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codeframe

import (
	"bytes"

	"golang.org/x/arch/x86/x86asm"
)

// MostEpilogue is the number of bytes that Restored needs at most.
const MostEpilogue = 32

// columns are the columns of RAX to RDI in the order of their encodings (psABI amd64, Figure 3.36).
var columns = [8]int{0, 2, 1, 3, columnRSP, columnRBP, 4, 5}

func columnOf(r x86asm.Reg) int {
	if n := int(r - x86asm.RAX); n >= len(columns) {
		return n
	}
	return columns[r-x86asm.RAX]
}

var vzeroupper = []byte{0xc5, 0xf8, 0x77}

// Restored reports whether a function has its caller's value in the register of a column at the start of
// code: the code only pops other registers and returns. A callee-saved register has its value back then
// (psABI amd64 §3.2.1).
func Restored(code []byte, column int) bool {
	for len(code) > 0 {
		if bytes.HasPrefix(code, vzeroupper) {
			code = code[len(vzeroupper):]
			continue
		}
		i, ok := decode(code)
		if !ok {
			return false
		}
		code = code[i.Len:]
		to, _ := i.Args[0].(x86asm.Reg)
		switch {
		case i.Op == x86asm.RET:
			return true
		case i.Op == x86asm.NOP:
		case i.Op == x86asm.ADD && to == x86asm.RSP, i.Op == x86asm.LEAVE && column != columnRBP:
		case i.Op == x86asm.POP && to >= x86asm.RAX && to <= x86asm.R15 && columnOf(to) != column:
		default:
			return false
		}
	}
	return false
}
