// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"github.com/clewdev/clew/cfi"
)

var amd64 = &assembly{
	scan: scanAMD64, switches: switchesAMD64,
	savesFP: func(code []byte) bool { // mov %rbp,n(%rsp), up to Go 1.20
		return bytes.HasPrefix(code, []byte{0x48, 0x89, 0x6c, 0x24}) || bytes.HasPrefix(code, []byte{0x48, 0x89, 0xac, 0x24})
	},
	curg:       curgAMD64,
	callTarget: func([]byte, uint64) (uint64, bool) { return 0, false },
}

// switchesAMD64 holds the functions that change stacks, by name, with the function that
// finds the rules of each.
var switchesAMD64 = map[string]func(*crossing) error{
	"runtime.systemstack": systemstackAMD64,
	"runtime.mcall":       mcallAMD64,
	"runtime.morestack":   morestackAMD64,
	"runtime.asmcgocall":  asmcgocallAMD64,
	"runtime.cgocallback": cgocallbackAMD64,
	"runtime.nanotime1":   vdsoAMD64,
	"runtime.walltime":    vdsoAMD64,
	"time.now":            vdsoAMD64,
}

// columnsAMD64 are the columns of the registers that called functions preserve.
var columnsAMD64 = [256]int{x86asm.RBX: 3, x86asm.RBP: 6, x86asm.R12: 12, x86asm.R13: 13, x86asm.R14: 14, x86asm.R15: 15}

// scanAMD64 follows pushes, stores to the stack, and instructions that move the stack
// pointer by a constant.
func scanAMD64(code []byte, a *assembled) {
	frame := true
	for len(code) > 0 {
		i, err := x86asm.Decode(code, 64)
		if err != nil {
			return
		}
		code = code[i.Len:]
		makes := false // the instruction is one by which the assembler makes the frame
		switch to, isReg := i.Args[0].(x86asm.Reg); i.Op {
		case x86asm.PUSH:
			a.depth += 8
			if column := columnsAMD64[to]; column != 0 {
				a.save(column, int64(-8-a.depth))
			}
			makes = to == x86asm.RBP
		case x86asm.PUSHFQ:
			a.depth += 8
		case x86asm.SUB, x86asm.ADD:
			n, constant := i.Args[1].(x86asm.Imm)
			switch {
			case isReg && to != x86asm.RSP:
			case !isReg || !constant || n < -maxDepth || n > maxDepth:
				return
			case i.Op == x86asm.SUB:
				a.depth += int(n)
				makes = true
			default:
				a.depth -= int(n)
			}
		case x86asm.MOV:
			from, _ := i.Args[1].(x86asm.Reg)
			column := columnsAMD64[from]
			if m, ok := i.Args[0].(x86asm.Mem); ok && m.Base == x86asm.RSP && m.Index == 0 && column != 0 && i.DataSize == 64 {
				a.save(column, m.Disp-int64(a.depth)-8)
				makes = from == x86asm.RBP
			}
			if isReg && to == x86asm.RSP {
				return
			}
			makes = makes || isReg && to == x86asm.RBP
		case x86asm.LEA:
			if isReg && to == x86asm.RSP {
				return
			}
			makes = isReg && to == x86asm.RBP
		case x86asm.CALL, x86asm.JMP, x86asm.RET, x86asm.POP, x86asm.POPFQ, x86asm.AND, x86asm.XCHG, x86asm.LEAVE:
			return
		}
		if frame = frame && makes; frame {
			a.prologue = a.depth
		}
	}
}

// maxDepth is more than the frame of any function in assembly, in bytes.
const maxDepth = 1 << 20

// curgAMD64 reads mov 48(%rax),%rbx; mov curg(%rbx),%rax.
func curgAMD64(code []byte) (int64, bool) {
	load := []byte{0x48, 0x8b, 0x58, gM, 0x48, 0x8b, 0x83}
	i := bytes.Index(code, load)
	if i < 0 || len(code) < i+len(load)+4 {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint32(code[i+len(load):])), true
}

// calls reports whether the code ends with an indirect call through the register, or
// through any register if it is rax, 0.
func calls(before []byte, register byte) bool {
	n := len(before)
	return n >= 3 && before[n-2] == 0xff && before[n-1]&^7 == 0xd0 && (register == 0 || before[n-1]&7 == register)
}

const (
	rax = 0
	rdi = 7
)

func systemstackAMD64(c *crossing) error {
	curg, ok := curgAMD64(c.after)
	if !ok || !calls(c.before, rdi) {
		return errNotThere
	}
	c.fromSystemStack(curg)
	return nil
}

// mcallAMD64 handles mcall, which passes the calling g to a function on the scheduler's
// stack. If that g, in the argument's slot, still runs on the thread, its stack continues at
// g.sched; else the scheduler's stack starts here.
func mcallAMD64(c *crossing) error {
	curg, err := c.curg()
	if err != nil {
		return err
	}
	if !calls(c.before, 0) {
		return errNotThere
	}
	// The argument if it is curg, else 0.
	g := append(c.current(curg), c.register(c.layout.sp, 0), operation{op: cfi.OpDeref}, operation{op: cfi.OpOver},
		operation{op: cfi.OpEq}, operation{op: cfi.OpMul})
	c.rules.CFA = c.expression(cfi.ValExpression, sched(g, gobufSP)...)
	c.add(c.layout.ra, c.expression(cfi.ValExpression, sched(g, gobufPC)...))
	c.add(c.layout.g, c.expression(cfi.ValExpression, g...))
	for _, s := range c.entry.saved {
		if s.column == c.layout.fp {
			c.add(s.column, cfi.Rule{Kind: cfi.Offset, Offset: s.offset})
		}
	}
	return nil
}

// morestackAMD64 finds the place where morestack saves the frame pointer.
func morestackAMD64(c *crossing) error {
	for at := 0; at < len(c.before); {
		i, err := x86asm.Decode(c.before[at:], 64)
		if err != nil {
			break
		}
		at += i.Len
		m, ok := i.Args[0].(x86asm.Mem)
		if ok && i.Op == x86asm.MOV && i.Args[1] == x86asm.RBP && m.Base != x86asm.RSP && m.Disp > gSched {
			return c.fromMorestack(m.Disp-gSched, 0)
		}
	}
	return errNotThere
}

// asmcgocallAMD64 handles asmcgocall, which saves the calling g and its distance from the
// top of its stack on the thread's stack. If it was called on the thread's stack, it saves no
// g, and the stack pointer in place of the distance.
func asmcgocallAMD64(c *crossing) error {
	g, depth := int64(-1), int64(-1)
	for code := c.after; ; {
		i, err := x86asm.Decode(code, 64)
		if err != nil {
			return errNotThere
		}
		code = code[i.Len:]
		to, _ := i.Args[0].(x86asm.Reg)
		m, ok := i.Args[1].(x86asm.Mem)
		onStack := ok && m.Base == x86asm.RSP && m.Index == 0 && m.Disp >= 0
		switch {
		case i.Op == x86asm.MOV && to == x86asm.RDI && onStack:
			g = m.Disp
		case (i.Op == x86asm.SUB && g >= 0 || i.Op == x86asm.MOV && g < 0) && to == x86asm.RSI && onStack:
			depth = m.Disp
		case to == x86asm.RSP, i.Op == x86asm.CALL, i.Op == x86asm.RET:
			if i.Op != x86asm.MOV || i.Args[1] != x86asm.RSI || depth < 0 {
				return errNotThere
			}
			c.fromC(g, depth)
			return nil
		}
	}
}

// cgocallbackAMD64 handles cgocallback's call of cgocallbackg, which lea fn+0(FP),%rax
// follows.
func cgocallbackAMD64(c *crossing) error {
	if !calls(c.before, rax) || !bytes.HasPrefix(c.after, []byte{0x48, 0x8d, 0x44, 0x24}) {
		return errNotThere
	}
	return c.fromCallback(8, 0, 8)
}

// vdsoAMD64 handles the functions that call the vDSO on the thread's stack. They keep their
// own stack pointer in R12.
func vdsoAMD64(c *crossing) error {
	if !calls(c.before, rax) {
		return errNotThere
	}
	c.ownFrame(c.register(12, 0))
	return nil
}
