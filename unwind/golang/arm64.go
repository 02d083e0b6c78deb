// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import "encoding/binary"

var arm64 = &assembly{
	scan: scanARM64, switches: switchesARM64,
	savesFP: func(code []byte) bool { // stur x29,[sp,#-8]
		return len(code) >= 4 && binary.LittleEndian.Uint32(code) == 0xf81f83fd
	},
	curg: curgARM64,
	callTarget: func(code []byte, end uint64) (uint64, bool) { // bl
		i := binary.LittleEndian.Uint32(code[len(code)-4:])
		return end - 4 + uint64(int64(int32(i<<6))>>6<<2), i>>26 == 0x25
	},
}

// switchesARM64 is switchesAMD64 for arm64.
var switchesARM64 = map[string]func(*crossing) error{
	"runtime.systemstack": systemstackARM64,
	"runtime.morestack":   morestackARM64,
	"runtime.asmcgocall":  asmcgocallARM64,
	"runtime.cgocallback": cgocallbackARM64,
	"runtime.nanotime1":   vdsoARM64,
	"runtime.walltime":    vdsoARM64,
	"time.now":            vdsoARM64,
	// The function that mcall calls on the scheduler's stack never returns.
	"runtime.mcall": func(c *crossing) error { *c.rules = *c.start; return nil },
}

const spARM64 = 31

// scanARM64 follows stores to the stack, and instructions that move the stack pointer by a
// constant. The assembler makes a frame of more than 255 bytes in R20 first
// (cmd/internal/obj/arm64, obj7.go): aside is its depth.
func scanARM64(code []byte, a *assembled) {
	const r20 = 20
	frame, aside := true, 0
	save := func(register uint32, at int64) {
		if register >= 19 && register <= 30 {
			a.save(int(register), at-int64(a.depth))
		}
	}
	for ; len(code) >= 4; code = code[4:] {
		i := binary.LittleEndian.Uint32(code)
		to, base := i&31, i>>5&31
		signed9 := int64(int32(i<<11) >> 23)
		makes := false
		switch {
		case i&0xffe00c00 == 0xf8000c00 && base == spARM64: // str xt,[sp,#n]!
			a.depth -= int(signed9)
			save(to, 0)
			makes = true
		case i&0xffe00c00 == 0xf8000000 && base == spARM64: // stur xt,[sp,#n]
			save(to, signed9)
			makes = to == 29
		case i&0xffc00000 == 0xf9000000 && base == spARM64: // str xt,[sp,#n]
			save(to, int64(i>>10&0xfff)*8)
		case i&0xffc00000 == 0xa9000000 && base == spARM64: // stp xt,xt2,[sp,#n]
			at := int64(int32(i<<10)>>25) * 8
			save(to, at)
			save(i>>10&31, at+8)
		case i&0xffc00000 == 0xa9000000 && base == r20 && aside > 0: // stp xt,xt2,[x20,#n]
			at := int64(int32(i<<10)>>25)*8 - int64(aside-a.depth)
			save(to, at)
			save(i>>10&31, at+8)
			makes = true
		case i&0xff8003ff == 0xd10003ff: // sub sp,sp,#n
			a.depth += immediate12(i)
			makes = true
		case i&0xff8003ff == 0xd10003e0|r20: // sub x20,sp,#n
			aside = a.depth + immediate12(i)
			makes = true
		case i&0xff8003ff == 0xd1000000|r20<<5|r20 && aside > 0: // sub x20,x20,#n
			aside += immediate12(i)
			makes = true
		case i == 0x9100001f|r20<<5 && aside > 0: // mov sp,x20
			a.depth, aside = aside, 0
			makes = true
		case i&0xff8003e0 == 0xd10003e0 && to == 29: // sub x29,sp,#n
			makes = true
		case i>>26 == 0x25, i>>26 == 5, i&0xfffffc1f == 0xd61f0000, i&0xfffffc1f == 0xd63f0000, i&0xfffffc1f == 0xd65f0000,
			i&0xff8003ff == 0x910003ff, i&0xfffffc1f == 0x9100001f:
			return // bl, b, br, blr, ret, add sp,sp; mov sp,xn
		}
		if frame = frame && makes; frame {
			a.prologue = a.depth
		}
	}
}

// immediate12 returns the constant of an ADD or SUB.
func immediate12(i uint32) int {
	return int(i>>10&0xfff) << (i >> 22 & 1 * 12)
}

// curgARM64 reads ldr x3,[x28,#48]; ldr x28,[x3,#curg].
func curgARM64(code []byte) (int64, bool) {
	for ; len(code) >= 8; code = code[4:] {
		first, second := binary.LittleEndian.Uint32(code), binary.LittleEndian.Uint32(code[4:])
		if m := first & 31; first&^31 == 0xf9400380|gM/8<<10 && second&^(0xfff<<10) == 0xf940001c|m<<5 {
			return int64(second>>10&0xfff) * 8, true
		}
	}
	return 0, false
}

// callsARM64 reports whether the code ends with an indirect call.
func callsARM64(before []byte) bool {
	return len(before) >= 4 && binary.LittleEndian.Uint32(before[len(before)-4:])&0xfffffc1f == 0xd63f0000
}

func systemstackARM64(c *crossing) error {
	curg, ok := curgARM64(c.after)
	if !ok || !callsARM64(c.before) {
		return errNotThere
	}
	c.fromSystemStack(curg)
	return nil
}

// morestackARM64 finds the places where morestack saves the function's frame pointer, and its
// link register, which is in R3.
func morestackARM64(c *crossing) error {
	var bp, lr int64
	for code := c.before; len(code) >= 4; code = code[4:] {
		i := binary.LittleEndian.Uint32(code)
		if i&0xffc003e0 != 0xf9000380 { // str xt,[x28,#n]
			continue
		}
		switch at := int64(i>>10&0xfff)*8 - gSched; i & 31 {
		case 29:
			bp = at
		case 3:
			lr = at
		}
	}
	if bp <= 0 || lr <= 0 {
		return errNotThere
	}
	return c.fromMorestack(bp, lr)
}

// asmcgocallARM64 handles asmcgocall. The word at the stack pointer is the g, and the next
// word its distance from the top of its stack. If the stack was not changed there is no g.
func asmcgocallARM64(c *crossing) error {
	const g, depth = 0, 8
	if !callsARM64(c.before) {
		return errNotThere
	}
	for code := c.after; len(code) >= 4; code = code[4:] {
		switch i := binary.LittleEndian.Uint32(code); {
		case i == 0xf94003fc: // ldr x28,[sp]
			c.fromC(g, depth)
			return nil
		case i&0xffffffe0 == 0xf94007e0: // ldr xn,[sp,#8]
			c.fromC(-1, depth)
			return nil
		case i&0xfffffc1f == 0x9100001f, i>>26 == 0x25:
			return errNotThere
		}
	}
	return errNotThere
}

// cgocallbackARM64 handles the call of cgocallbackg, which ldr x5,[sp] follows.
func cgocallbackARM64(c *crossing) error {
	if !callsARM64(c.before) || len(c.after) < 4 || binary.LittleEndian.Uint32(c.after) != 0xf94003e5 {
		return errNotThere
	}
	return c.fromCallback(16, 16, 16)
}

// vdsoARM64 handles the functions that call the vDSO on the thread's stack. They keep their
// own stack pointer in R20.
func vdsoARM64(c *crossing) error {
	if !callsARM64(c.before) {
		return errNotThere
	}
	c.ownFrame(c.register(20, 0))
	return nil
}
