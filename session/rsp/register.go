// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"errors"
	"fmt"
	"slices"
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
	kind    string // type in the description: "int64", "code_ptr", "vec128"
	group   registerGroup
	column  int    // DWARF column, or -1
	generic string // lldb's role: "pc", "arg1"
	alias   string // lldb's second name
}

// registerGroup is a group of registers. The numbers are those of the description's groups.
type registerGroup int

const (
	groupGeneral registerGroup = 1 + iota
	groupFloat
	groupVector
	groupSystem
)

// registerGroups are the names of the groups for gdb and lldb. gdb's name for system registers
// differs between versions.
var registerGroups = [...]struct{ gdb, lldb string }{
	groupGeneral: {"general", "General Purpose Registers"},
	groupFloat:   {"float", "Floating Point Registers"},
	groupVector:  {"vector", "Vector Registers"},
	groupSystem:  {"", "System Registers"},
}

// registers is the register file as clients see it.
type registers struct {
	machine    *arch.Machine
	list       []register
	size       int // bytes of the packet of all registers
	pc, sp, fp int // numbers, or -1

	architecture string // BFD's name
}

// Feature names of gdb (GDB manual, "Standard Target Features").
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

// newRegisters returns the registers of a session.
func newRegisters(m *arch.Machine, infos []session.RegisterInfo) *registers {
	r := &registers{machine: m, pc: -1, sp: -1, fp: -1}
	has := make(map[string]session.RegisterInfo, len(infos))
	for _, i := range infos {
		has[i.Name] = i
	}
	if _, ok := has["x0"]; ok {
		r.architecture = "aarch64"
		r.arm64(has)
	} else {
		r.architecture = "i386:x86-64"
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

// add adds registers that differ only in their names. Names that the session does not have are left
// out.
func (r *registers) add(has map[string]session.RegisterInfo, x register, names ...string) {
	for _, name := range names {
		if info, ok := has[name]; ok {
			x.name, x.column = name, info.Column
			r.list = append(r.list, x)
		}
	}
}

// numbered returns names with the numbers from first to last.
func numbered(prefix string, first, last int, suffix string) []string {
	var names []string
	for n := first; n <= last; n++ {
		names = append(names, prefix+strconv.Itoa(n)+suffix)
	}
	return names
}

// amd64 adds the registers of gdb's own descriptions (features/i386 of its sources), in their order.
// The session has each feature completely or not at all.
func (r *registers) amd64(has map[string]session.RegisterInfo) {
	generic := map[string]string{"rip": "pc", "rsp": "sp", "rbp": "fp",
		"rdi": "arg1", "rsi": "arg2", "rdx": "arg3", "rcx": "arg4", "r8": "arg5", "r9": "arg6"}
	for _, name := range strings.Fields("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip") {
		x := register{size: 8, feature: featureCore, kind: "int64", group: groupGeneral, generic: generic[name]}
		switch name {
		case "rbp", "rsp":
			x.kind, x.alias = "data_ptr", x.generic
		case "rip":
			x.kind, x.alias = "code_ptr", x.generic
		}
		r.add(has, x, name)
	}
	r.add(has, register{size: 4, feature: featureCore, kind: "i386_eflags", group: groupGeneral, generic: "flags", alias: "rflags"}, "eflags")
	r.add(has, register{size: 4, feature: featureCore, kind: "int32", group: groupGeneral}, "cs", "ss", "ds", "es", "fs", "gs")
	r.add(has, register{size: 10, feature: featureCore, kind: "i387_ext", group: groupFloat}, numbered("st", 0, 7, "")...)
	r.add(has, register{size: 4, feature: featureCore, kind: "int", group: groupFloat}, strings.Fields("fctrl fstat ftag fiseg fioff foseg fooff fop")...)
	r.add(has, register{size: 16, feature: featureSSE, kind: "vec128", group: groupVector}, numbered("xmm", 0, 15, "")...)
	r.add(has, register{size: 4, feature: featureSSE, kind: "i386_mxcsr", group: groupVector}, "mxcsr")
	r.add(has, register{size: 8, feature: featureLinux, kind: "int", group: groupSystem}, "orig_rax")
	r.add(has, register{size: 8, feature: featureSegments, kind: "int", group: groupGeneral}, "fs_base", "gs_base")
	r.add(has, register{size: 16, feature: featureAVX, kind: "uint128", group: groupVector}, numbered("ymm", 0, 15, "h")...)
	r.add(has, register{size: 16, feature: featureAVX512, kind: "vec128", group: groupVector}, numbered("xmm", 16, 31, "")...)
	r.add(has, register{size: 16, feature: featureAVX512, kind: "uint128", group: groupVector}, numbered("ymm", 16, 31, "h")...)
	r.add(has, register{size: 8, feature: featureAVX512, kind: "uint64", group: groupVector}, numbered("k", 0, 7, "")...)
	r.add(has, register{size: 32, feature: featureAVX512, kind: "v2ui128", group: groupVector}, numbered("zmm", 0, 31, "h")...)
	r.add(has, register{size: 4, feature: featurePkeys, kind: "pkru_flags", group: groupSystem}, "pkru")
}

func (r *registers) arm64(has map[string]session.RegisterInfo) {
	for n, name := range numbered("x", 0, 30, "") {
		x := register{size: 8, feature: featureARM64Core, kind: "int", group: groupGeneral}
		switch {
		case n < 8:
			x.generic = "arg" + strconv.Itoa(n+1)
		case n == 29:
			x.generic, x.alias = "fp", "fp"
		case n == 30:
			x.generic, x.alias = "ra", "lr"
		}
		r.add(has, x, name)
	}
	r.add(has, register{size: 8, feature: featureARM64Core, kind: "data_ptr", group: groupGeneral, generic: "sp"}, "sp")
	r.add(has, register{size: 8, feature: featureARM64Core, kind: "code_ptr", group: groupGeneral, generic: "pc"}, "pc")
	r.add(has, register{size: 4, feature: featureARM64Core, kind: "cpsr_flags", group: groupGeneral, generic: "flags"}, "cpsr")
	r.add(has, register{size: 16, feature: featureARM64FPU, kind: "aarch64v", group: groupVector}, numbered("v", 0, 31, "")...)
	r.add(has, register{size: 4, feature: featureARM64FPU, kind: "int", group: groupFloat}, "fpsr", "fpcr")
	r.add(has, register{size: 8, feature: featureARM64TLS, kind: "data_ptr", group: groupSystem}, "tpidr")
}

var errRegister = errors.New("no such register")

// read returns the bytes of a register, in the size of the description.
func (r *registers) read(p program, number int) ([]byte, error) {
	if number < 0 || number >= len(r.list) {
		return nil, fmt.Errorf("%w: number %d", errRegister, number)
	}
	x := &r.list[number]
	value, err := p.Register(x.name)
	if err != nil || len(value) == x.size {
		return value, err
	}
	resized := make([]byte, x.size)
	copy(resized, value)
	return resized, nil
}

// write sets a register.
func (r *registers) write(p program, number int, value []byte) error {
	if number < 0 || number >= len(r.list) {
		return fmt.Errorf("%w: number %d", errRegister, number)
	}
	x := &r.list[number]
	if len(value) != x.size {
		return fmt.Errorf("%w: %s has %d bytes, got %d", errRegister, x.name, x.size, len(value))
	}
	return p.SetRegister(x.name, value)
}

// all returns the bytes of all registers, and which of them are known.
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

// savedRegisters are registers that a client saves and restores, as lldb does around a call of a
// function.
type savedRegisters struct {
	id     uint32
	values []byte
	known  []bool
}

// maxSaved limits the saved sets of a client. For another one, the oldest is dropped.
const maxSaved = 64

// saveRegisters handles QSaveRegisterState. The answer is a decimal number.
func (c *client) saveRegisters() string {
	values, known := c.server.registers.all(c.server.program)
	c.lastSaved++
	if len(c.saved) == maxSaved {
		c.saved = slices.Delete(c.saved, 0, 1)
	}
	c.saved = append(c.saved, savedRegisters{c.lastSaved, values, known})
	return strconv.FormatUint(uint64(c.lastSaved), 10)
}

// restoreRegisters handles QRestoreRegisterState, which also drops the set.
func (c *client) restoreRegisters(arguments string) string {
	id, err := strconv.ParseUint(c.unthreaded(";" + arguments)[1:], 10, 32)
	n := slices.IndexFunc(c.saved, func(s savedRegisters) bool { return s.id == uint32(id) })
	if err != nil || n < 0 {
		return invalidPacket
	}
	s := c.saved[n]
	c.saved = slices.Delete(c.saved, n, n+1)
	return answer(c.setRegisters(s.values, s.known))
}
