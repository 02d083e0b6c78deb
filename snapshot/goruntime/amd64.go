// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import "golang.org/x/arch/x86/x86asm"

// loadsAMD64 finds mov disp(%rip),%reg.
func loadsAMD64(code []byte, at uint64) (list []uint64) {
	for len(code) > 0 {
		i, err := x86asm.Decode(code, 64)
		if err != nil || i.Op == x86asm.CALL {
			break
		}
		code, at = code[i.Len:], at+uint64(i.Len)
		if m, ok := i.Args[1].(x86asm.Mem); ok && i.Op == x86asm.MOV && m.Base == x86asm.RIP && i.DataSize == 64 {
			list = append(list, at+uint64(m.Disp))
		}
	}
	return list
}

// mentionsAMD64 finds lea disp(%rip),%reg and cmp of a number.
func mentionsAMD64(code []byte, at uint64, numbers map[uint64]bool) (addresses []uint64) {
	for len(code) > 0 {
		i, err := x86asm.Decode(code, 64)
		if err != nil {
			break
		}
		code, at = code[i.Len:], at+uint64(i.Len)
		switch i.Op {
		case x86asm.LEA:
			if m, ok := i.Args[1].(x86asm.Mem); ok && m.Base == x86asm.RIP {
				addresses = append(addresses, at+uint64(m.Disp))
			}
		case x86asm.CMP:
			if n, ok := i.Args[1].(x86asm.Imm); ok {
				numbers[uint64(n)] = true
			}
		}
	}
	return addresses
}
