// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/session"
)

// register is a register of the target description. Its number is its index.
type register struct {
	name    string
	size    int // bytes
	offset  int // in the packet of all registers
	feature string
	kind    string // of the description: "int64", "code_ptr", "vec128"
	group   string // gdb's
	column  int    // DWARF column, -1 where it has none
	generic string // lldb's: "pc", "arg1"
	alias   string // lldb's other name for it
}

// registers is the register file as clients see it.
type registers struct {
	machine *arch.Machine
	list    []register
	size    int // bytes of the packet of all registers
	pc, sp  int // numbers; -1 where there is none
	fp      int
}

// feature names of gdb (GDB manual, "Standard Target Features").
const (
	featureCore     = "org.gnu.gdb.i386.core"
	featureSSE      = "org.gnu.gdb.i386.sse"
	featureLinux    = "org.gnu.gdb.i386.linux"
	featureSegments = "org.gnu.gdb.i386.segments"
	featureAVX      = "org.gnu.gdb.i386.avx"
	featureAVX512   = "org.gnu.gdb.i386.avx512"
	featurePkeys    = "org.gnu.gdb.i386.pkeys"

	featureARM64Core = "org.gnu.gdb.aarch64.core"
	featureARM64FPU  = "org.gnu.gdb.aarch64.fpu"
	featureARM64TLS  = "org.gnu.gdb.aarch64.tls"
)

// newRegisters lays out the registers that a session has.
func newRegisters(m *arch.Machine, infos []session.RegisterInfo) *registers {
	r := &registers{machine: m, pc: -1, sp: -1, fp: -1}
	has := make(map[string]session.RegisterInfo, len(infos))
	for _, i := range infos {
		has[i.Name] = i
	}
	if _, ok := has["x0"]; ok {
		r.arm64(has)
	} else {
		r.amd64(has)
	}
	for i := range r.list {
		x := &r.list[i]
		x.offset = r.size
		r.size += x.size
		switch x.generic {
		case "pc":
			r.pc = i
		case "sp":
			r.sp = i
		case "fp":
			r.fp = i
		}
	}
	return r
}

// add adds a register where the session has it.
func (r *registers) add(has map[string]session.RegisterInfo, x register) {
	if info, ok := has[x.name]; ok {
		x.column = info.Column
		r.list = append(r.list, x)
	}
}

// amd64 adds what gdb has in its own descriptions (features/i386 of its sources),
// and in that order: whole register files, or none.
func (r *registers) amd64(has map[string]session.RegisterInfo) {
	generic := map[string]string{"rip": "pc", "rsp": "sp", "rbp": "fp", "eflags": "flags",
		"rdi": "arg1", "rsi": "arg2", "rdx": "arg3", "rcx": "arg4", "r8": "arg5", "r9": "arg6"}
	for _, name := range strings.Fields("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip") {
		kind := "int64"
		switch name {
		case "rbp", "rsp":
			kind = "data_ptr"
		case "rip":
			kind = "code_ptr"
		}
		alias := ""
		if g := generic[name]; g == "pc" || g == "sp" || g == "fp" {
			alias = g
		}
		r.add(has, register{name: name, size: 8, feature: featureCore, kind: kind, group: "general", generic: generic[name], alias: alias})
	}
	r.add(has, register{name: "eflags", size: 4, feature: featureCore, kind: "i386_eflags", group: "general", generic: "flags", alias: "rflags"})
	for _, name := range strings.Fields("cs ss ds es fs gs") {
		r.add(has, register{name: name, size: 4, feature: featureCore, kind: "int32", group: "general"})
	}
	for n := range 8 {
		r.add(has, register{name: "st" + strconv.Itoa(n), size: 10, feature: featureCore, kind: "i387_ext", group: "float"})
	}
	for _, name := range strings.Fields("fctrl fstat ftag fiseg fioff foseg fooff fop") {
		r.add(has, register{name: name, size: 4, feature: featureCore, kind: "int", group: "float"})
	}
	for n := range 16 {
		r.add(has, register{name: "xmm" + strconv.Itoa(n), size: 16, feature: featureSSE, kind: "vec128", group: "vector"})
	}
	r.add(has, register{name: "mxcsr", size: 4, feature: featureSSE, kind: "i386_mxcsr", group: "vector"})
	r.add(has, register{name: "orig_rax", size: 8, feature: featureLinux, kind: "int", group: "system"})
	for _, name := range []string{"fs_base", "gs_base"} {
		r.add(has, register{name: name, size: 8, feature: featureSegments, kind: "int", group: "general"})
	}
	for n := range 16 {
		r.add(has, register{name: "ymm" + strconv.Itoa(n) + "h", size: 16, feature: featureAVX, kind: "uint128", group: "vector"})
	}
	r.avx512(has)
	r.add(has, register{name: "pkru", size: 4, feature: featurePkeys, kind: "pkru_flags", group: "system"})
}

func (r *registers) avx512(has map[string]session.RegisterInfo) {
	for n := 16; n < 32; n++ {
		r.add(has, register{name: "xmm" + strconv.Itoa(n), size: 16, feature: featureAVX512, kind: "vec128", group: "vector"})
	}
	for n := 16; n < 32; n++ {
		r.add(has, register{name: "ymm" + strconv.Itoa(n) + "h", size: 16, feature: featureAVX512, kind: "uint128", group: "vector"})
	}
	for n := range 8 {
		r.add(has, register{name: "k" + strconv.Itoa(n), size: 8, feature: featureAVX512, kind: "uint64", group: "vector"})
	}
	for n := range 32 {
		r.add(has, register{name: "zmm" + strconv.Itoa(n) + "h", size: 32, feature: featureAVX512, kind: "v2ui128", group: "vector"})
	}
}

func (r *registers) arm64(has map[string]session.RegisterInfo) {
	for n := range 31 {
		x := register{name: "x" + strconv.Itoa(n), size: 8, feature: featureARM64Core, kind: "int", group: "general"}
		switch {
		case n < 8:
			x.generic = "arg" + strconv.Itoa(n+1)
		case n == 29:
			x.generic, x.alias = "fp", "fp"
		case n == 30:
			x.generic, x.alias = "ra", "lr"
		}
		r.add(has, x)
	}
	r.add(has, register{name: "sp", size: 8, feature: featureARM64Core, kind: "data_ptr", group: "general", generic: "sp"})
	r.add(has, register{name: "pc", size: 8, feature: featureARM64Core, kind: "code_ptr", group: "general", generic: "pc"})
	r.add(has, register{name: "cpsr", size: 4, feature: featureARM64Core, kind: "cpsr_flags", group: "general", generic: "flags"})
	for n := range 32 {
		r.add(has, register{name: "v" + strconv.Itoa(n), size: 16, feature: featureARM64FPU, kind: "aarch64v", group: "vector"})
	}
	for _, name := range []string{"fpsr", "fpcr"} {
		r.add(has, register{name: name, size: 4, feature: featureARM64FPU, kind: "int", group: "float"})
	}
	r.add(has, register{name: "tpidr", size: 8, feature: featureARM64TLS, kind: "data_ptr", group: "system"})
}

var errRegister = errors.New("no such register")

// read returns the bytes of a register.
func (r *registers) read(p program, number int) ([]byte, error) {
	if number < 0 || number >= len(r.list) {
		return nil, fmt.Errorf("%w: number %d", errRegister, number)
	}
	x := &r.list[number]
	value, err := p.Register(x.name)
	if err != nil {
		return nil, err
	}
	return x.fit(value), nil
}

// fit gives a value the size that the client knows.
func (x *register) fit(value []byte) []byte {
	if len(value) == x.size {
		return value
	}
	fitted := make([]byte, x.size)
	copy(fitted, value)
	return fitted
}

// write sets a register.
func (r *registers) write(p program, number int, value []byte) error {
	if number < 0 || number >= len(r.list) {
		return fmt.Errorf("%w: number %d", errRegister, number)
	}
	x := &r.list[number]
	if len(value) != x.size {
		return fmt.Errorf("%w: %s has %d bytes, and %d were given", errRegister, x.name, x.size, len(value))
	}
	return p.SetRegister(x.name, value)
}

// all returns the bytes of all registers, and which are known.
func (r *registers) all(p program) (values []byte, known []bool) {
	values = make([]byte, 0, r.size)
	known = make([]bool, len(r.list))
	for i := range r.list {
		value, err := r.read(p, i)
		if err != nil {
			value = make([]byte, r.list[i].size)
		}
		known[i] = err == nil
		values = append(values, value...)
	}
	return values, known
}
