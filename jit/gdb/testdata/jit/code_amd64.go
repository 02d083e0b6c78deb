// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import "github.com/clewdev/clew/cfi"

// text is outer, which calls middle, which calls inner. The calls are relative.
const text = "" +
	// outer: no frame pointer, a frame of 24 bytes
	"\x48\x83\xec\x18" + //  0 sub rsp, 24
	"\xe8\x17\x00\x00\x00" + //  4 call middle
	"\x48\x83\xc0\x01" + //  9 add rax, 1
	"\x48\x83\xc4\x18" + // 13 add rsp, 24
	"\xc3" + // 17 ret
	"\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc" +
	// middle: saves rbx
	"\x53" + // 32 push rbx
	"\x31\xdb" + // 33 xor ebx, ebx
	"\xe8\x18\x00\x00\x00" + // 35 call inner
	"\x48\x01\xd8" + // 40 add rax, rbx
	"\x5b" + // 43 pop rbx
	"\xc3" + // 44 ret
	"\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc" +
	// inner(flag *int32): a leaf
	"\xb8\x28\x00\x00\x00" + // 64 mov eax, 40
	"\x83\xc0\x01" + // 69 add eax, 1
	"\x83\x3f\x01" + // 72 cmp dword ptr [rdi], 1
	"\x74\x10" + // 75 je ret
	"\x77\x0f" + // 77 ja ud2
	"\x57" + // 79 push rdi
	"\xb8\x22\x00\x00\x00" + // 80 mov eax, 34 (pause)
	"\x0f\x05" + // 85 syscall
	"\x5f" + // 87 pop rdi
	"\xeb\xe6" + // 88 jmp inner
	"\x90\x90\x90" + // 90
	"\xc3" + // 93 ret
	"\x0f\x0b" // 94 ud2

var (
	outerSize, middleAt, middleSize, innerAt, innerSize uint64 = 18, 32, 13, 64, 32

	outerUnwind  = program(cfi.NewBuilder(entry).At(4).DefCFAOffset(32).At(17).DefCFAOffset(8))
	middleUnwind = program(cfi.NewBuilder(entry).At(1).DefCFAOffset(16).Offset(3, -16).At(12).DefCFAOffset(8).Restore(3))
	innerUnwind  = program(cfi.NewBuilder(entry).At(16).DefCFAOffset(16).At(24).DefCFAOffset(8))

	outerLines  = lines(0, 1, 4, 2, 9, 3, 13, 4)
	middleLines = lines(0, 11, 1, 12, 3, 13, 8, 14, 11, 15)
	innerLines  = lines(0, 21, 5, 22, 8, 23, 29, 24)
)
