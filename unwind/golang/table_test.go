// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

var (
	machineAMD64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	machineARM64 = arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
)

// memory holds words by address.
type memory map[uint64]uint64

var errUnreadable = errors.New("not readable")

func (m memory) ReadMemory(p []byte, addr uint64) error {
	v, ok := m[addr]
	if !ok || len(p) != 8 {
		return fmt.Errorf("%#x: %w", addr, errUnreadable)
	}
	binary.LittleEndian.PutUint64(p, v)
	return nil
}

// image is code from codeBase on.
type image []byte

const codeBase = 0x1000

func (m image) ReadMemory(p []byte, addr uint64) error {
	if at := addr - codeBase; addr >= codeBase && at <= uint64(len(m)) && uint64(len(p)) <= uint64(len(m))-at {
		copy(p, m[at:])
		return nil
	}
	return errUnreadable
}

// program has one function with all its code.
func program(m *arch.Machine, code []byte, fn Function) Program {
	fn.Entry, fn.End = codeBase, codeBase+uint64(len(code))
	return Program{
		Machine: m, Code: image(code),
		Function: func(address uint64) (Function, bool) { return fn, address-fn.Entry < fn.End-fn.Entry },
		Named:    func(name string) (Function, bool) { return fn, name == fn.Name },
	}
}

// text writes rules of offsets as the tables of readelf do.
func text(m *arch.Machine, r *unwind.Rules) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s+%d", m.RegisterName(uint64(r.CFA.Register)), r.CFA.Offset)
	for _, rule := range r.Registers {
		fmt.Fprintf(&b, " %s:", m.RegisterName(uint64(rule.Column)))
		switch rule.Kind {
		case cfi.Offset:
			fmt.Fprintf(&b, "c%+d", rule.Offset)
		case cfi.SameValue:
			b.WriteString("s")
		case cfi.Undefined:
			b.WriteString("u")
		default:
			fmt.Fprintf(&b, "%v", rule.Kind)
		}
	}
	return b.String()
}

func bytesOf(hex string) []byte {
	var b []byte
	fmt.Sscanf(strings.ReplaceAll(hex, " ", ""), "%x", &b)
	return b
}

// words are instructions of arm64.
func words(list ...uint32) (b []byte) {
	for _, w := range list {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func TestRules(t *testing.T) {
	nops := strings.Repeat("90", 8)
	for _, tt := range []struct {
		name    string
		machine *arch.Machine
		code    []byte
		at      uint64
		fn      Function
		want    string
	}{
		{"before the prologue", machineAMD64, bytesOf("55 4889e5" + nops), 0, Function{Name: "f"}, "rsp+8 rip:c-8"},
		{"body", machineAMD64, bytesOf("55 4889e5 4883ec10" + nops), 8, Function{Name: "f", Depth: 24}, "rsp+32 rbp:c-16 rip:c-8"},
		{"the frame pointer is not saved yet", machineAMD64, bytesOf("4883ec18 48896c2410" + nops), 4, Function{Name: "f", Depth: 24}, "rsp+32 rip:c-8"},
		{"assembly without a frame", machineAMD64, bytesOf("4883ec18" + nops), 6, Function{Name: "f", Depth: 24, Assembly: true}, "rsp+32 rip:c-8"},
		// push %rbp; mov %rsp,%rbp; sub $48,%rsp; mov %rbp,40(%rsp); lea 40(%rsp),%rbp; mov %rbx,(%rsp);
		// mov %r12,8(%rsp); sub $24,%rsp; mov %rdi,(%rsp); call
		{"crosscall2", machineAMD64, bytesOf("55 4889e5 4883ec30 48896c2428 488d6c2428 48891c24 4c89642408 4883ec18 48893c24 e800000000" + nops), 43,
			Function{Name: "crosscall2", Depth: 80, Assembly: true}, "rsp+88 rbx:c-64 rbp:c-16 r12:c-56 rip:c-8"},
		// The runtime's tracebacks end in this function, which the kernel calls: pushfq; sub $16,%rsp; mov %rbp,8(%rsp).
		{"handler of signals", machineAMD64, bytesOf("9c 4883ec10 48896c2408" + nops), 11,
			Function{Name: "runtime.sigtramp", Depth: 24, TopFrame: true, Assembly: true}, "rsp+32 rbp:c-24 rip:c-8"},
		{"start", machineAMD64, bytesOf(nops), 1, Function{Name: "runtime.goexit", TopFrame: true, Assembly: true}, "rsp+0 rip:u"},

		{"leaf", machineARM64, words(0xd503201f, 0xd503201f), 4, Function{Name: "f"}, "sp+0 x30:s"},
		{"body", machineARM64, words(0xf81e0ffe, 0xf81f83fd, 0xd10023fd, 0xd503201f), 12, Function{Name: "f", Depth: 32}, "sp+32 x29:c-40 x30:c-32"},
		{"the frame pointer is not saved yet", machineARM64, words(0xf81e0ffe, 0xf81f83fd, 0xd503201f), 4, Function{Name: "f", Depth: 32}, "sp+32 x30:c-32"},
		// sub sp,sp,#192; stp x19,x20,[sp,#32]; stp x29,x30,[sp,#176]; bl
		{"crosscall2", machineARM64, words(0xd10303ff, 0xa90253f3, 0xa90b7bfd, 0x94000000, 0xd503201f), 15,
			Function{Name: "crosscall2", Depth: 192, Assembly: true}, "sp+192 x19:c-160 x20:c-152 x29:c-16 x30:c-8"},
		// runtime.call512, and a function with a frame of 64 KiB that moved the stack pointer by 65024 since.
		{"large frame", machineARM64, words(0xd10843f4, 0xa93ffa9d, 0x9100029f, 0xd10023fd, 0xf94117e3), 16,
			Function{Name: "runtime.call512", Depth: 528, Assembly: true}, "sp+528 x29:c-536 x30:c-528"},
		{"larger frame", machineARM64, words(0xd10043f4, 0xd1404294, 0xa93ffa9d, 0x9100029f, 0xd10023fd, 0xd503201f), 20,
			Function{Name: "f", Depth: 528, Assembly: true}, "sp+528 x29:c-65560 x30:c-65552"},
	} {
		table, ok := New(program(tt.machine, tt.code, tt.fn))
		if !ok {
			t.Fatalf("%s is not known", tt.machine.Name)
		}
		rules, err := table.Rules(codeBase + tt.at)
		if err != nil {
			t.Errorf("%s, %s: %v", tt.machine.Name, tt.name, err)
			continue
		}
		if got := text(tt.machine, rules); got != tt.want {
			t.Errorf("%s, %s: %s, expected %s", tt.machine.Name, tt.name, got, tt.want)
		}
		if again, _ := table.Rules(codeBase + tt.at); text(tt.machine, again) != tt.want {
			t.Errorf("%s, %s: other rules at the second time", tt.machine.Name, tt.name)
		}
	}
}

func TestNoRules(t *testing.T) {
	code := bytesOf("55 4889e5 90909090 ffd0 90")
	for _, fn := range []Function{
		{Name: "f", Depth: -1},
		{Name: "runtime.gogo", WritesSP: true},
		{Name: "runtime.sigreturn__sigaction"},
		{Name: "runtime.systemstack", WritesSP: true},
		{Name: "runtime.mcall"},
		{Name: "runtime.morestack"},
		{Name: "runtime.asmcgocall"},
		{Name: "runtime.cgocallback"},
	} {
		for _, m := range []*arch.Machine{machineAMD64, machineARM64} {
			if m == machineARM64 && fn.Name == "runtime.mcall" {
				continue // a stack starts there
			}
			table, _ := New(program(m, code, fn))
			for at := range uint64(len(code)) + 1 {
				if rules, err := table.Rules(codeBase + at); !errors.Is(err, cfi.ErrNoFDE) {
					t.Errorf("%s, %s at %d: %v, %v", m.Name, fn.Name, at, rules, err)
				}
			}
		}
	}
}
