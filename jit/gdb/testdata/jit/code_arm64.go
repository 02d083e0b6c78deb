// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import "github.com/clewdev/clew/cfi"

// text is outer, which calls middle, which calls inner. The calls are relative.
const text = "" +
	// outer: a frame of 32 bytes with the return address, no frame pointer
	"\xff\x83\x00\xd1" + //  0 sub sp, sp, #32
	"\xfe\x0b\x00\xf9" + //  4 str x30, [sp, #16]
	"\x06\x00\x00\x94" + //  8 bl middle
	"\x00\x04\x00\x91" + // 12 add x0, x0, #1
	"\xfe\x0b\x40\xf9" + // 16 ldr x30, [sp, #16]
	"\xff\x83\x00\x91" + // 20 add sp, sp, #32
	"\xc0\x03\x5f\xd6" + // 24 ret
	"\x00\x00\x00\x00" +
	// middle: saves x19
	"\xf3\x7b\xbf\xa9" + // 32 stp x19, x30, [sp, #-16]!
	"\x13\x00\x80\xd2" + // 36 mov x19, #0
	"\x06\x00\x00\x94" + // 40 bl inner
	"\x00\x00\x13\x8b" + // 44 add x0, x0, x19
	"\xf3\x7b\xc1\xa8" + // 48 ldp x19, x30, [sp], #16
	"\xc0\x03\x5f\xd6" + // 52 ret
	"\x00\x00\x00\x00\x00\x00\x00\x00" +
	// inner(flag *int32): a leaf
	"\xe9\x03\x00\xaa" + // 64 mov x9, x0
	"\x00\x05\x80\xd2" + // 68 mov x0, #40
	"\x00\x04\x00\x91" + // 72 add x0, x0, #1
	"\x2a\x01\x40\xb9" + // 76 ldr w10, [x9]
	"\x5f\x05\x00\x71" + // 80 cmp w10, #1
	"\x40\x01\x00\x54" + // 84 b.eq ret
	"\x48\x01\x00\x54" + // 88 b.hi udf
	"\x00\x00\x80\xd2" + // 92 mov x0, #0
	"\x01\x00\x80\xd2" + // 96 mov x1, #0
	"\x02\x00\x80\xd2" + // 100 mov x2, #0
	"\x03\x00\x80\xd2" + // 104 mov x3, #0
	"\x28\x09\x80\xd2" + // 108 mov x8, #73 (ppoll)
	"\x01\x00\x00\xd4" + // 112 svc #0
	"\xe0\x03\x09\xaa" + // 116 mov x0, x9
	"\xf2\xff\xff\x17" + // 120 b inner
	"\xc0\x03\x5f\xd6" + // 124 ret
	"\x00\x00\x00\x00" // 128 udf

var (
	outerSize, middleAt, middleSize, innerAt, innerSize uint64 = 28, 32, 24, 64, 68

	outerUnwind  = program(cfi.NewBuilder(entry).At(4).DefCFAOffset(32).At(8).Offset(30, -16).At(20).Restore(30).At(24).DefCFAOffset(0))
	middleUnwind = program(cfi.NewBuilder(entry).At(4).DefCFAOffset(16).Offset(19, -16).Offset(30, -8).At(20).Restore(19).Restore(30).DefCFAOffset(0))
	innerUnwind  = program(cfi.NewBuilder(entry))

	outerLines  = lines(0, 1, 8, 2, 12, 3, 16, 4)
	middleLines = lines(0, 11, 4, 12, 8, 13, 12, 14, 16, 15)
	innerLines  = lines(0, 21, 8, 22, 12, 23, 60, 24)
)
