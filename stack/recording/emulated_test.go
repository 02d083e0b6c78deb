// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package recording

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

// Samples of arm64 in functions without call frame information: the registers and the stack
// come from a core of the emulated program, and x30 has the caller of a leaf.
func TestUncoveredOnARM64(t *testing.T) {
	e := testprogram.Emulations["arm64"]
	plain := e.Build(t, "uncovered_plain.c", "-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-c")
	program := e.Build(t, "uncovered.c", "-O2", "-static", "-no-pie", plain)
	for _, test := range []struct{ way, want string }{
		{"leaf", "leaf direct inner middle outer main"},
		{"indirect", "leaf indirect inner middle outer main"},
		{"tail", "leaf calls_tail inner middle outer main"},
		{"record", "leaf direct record inner middle outer main"},
	} {
		t.Run(test.way, func(t *testing.T) {
			path := testprogram.Core(t, testprogram.CoreOptions{Emulation: &e, Crashes: true}, program, test.way, "crash")
			m := madeOfCore(t, path, program)
			rec, err := readBytes(m.Bytes(), Options{Search: debugfile.Search{Root: "/"}})
			if err != nil {
				t.Fatal(err)
			}
			if len(rec.Stacks) != 1 {
				t.Fatalf("%d stacks, notes %q", len(rec.Stacks), rec.Notes)
			}
			var names []string
			for _, f := range rec.Frames(&rec.Stacks[0]) {
				if names = append(names, f.Symbol.Name); f.Symbol.Name == "main" {
					break
				}
			}
			if !slices.Equal(names, strings.Fields(test.want)) || rec.Stacks[0].Reason != unwind.EndOfStack {
				t.Errorf("%q: %v; notes %q", names, rec.Stacks[0].Reason, rec.Notes)
			}
		})
	}
}

// madeOfCore returns a recording with one sample: the first thread of a core of arm64, of a
// program with a fixed address.
func madeOfCore(t *testing.T, path, program string) *made {
	t.Helper()
	c, err := core.Open(path, &core.Options{Program: program})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	thread := &c.Snapshot().Threads[0]
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const (
		pid       = 7
		registers = 33 // arch/arm64/include/uapi/asm/perf_regs.h: x0 to x30, sp, pc
		copied    = 32 << 10
	)
	m := new(made)
	m.WriteString("PERFILE2")
	m.words(16)
	m.record(perfdata.TypeHeaderAttr, 0, func(m *made) {
		m.halves(1, 96) // PERF_ATTR_SIZE_VER3
		m.words(0, 1, 1<<0|1<<1|1<<2|1<<12|1<<13, 0, 1<<18)
		m.halves(0, 0)
		m.words(0, 0, 0, 1<<registers-1)
		m.halves(copied, 0)
		m.words(1)
	})
	m.record(perfdata.TypeHeaderFeature, 0, func(m *made) { // HEADER_ARCH
		m.words(6)
		m.halves(64)
		m.WriteString("aarch64" + strings.Repeat("\x00", 57))
	})
	m.exec(pid, 1)
	for _, p := range file.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 {
			continue
		}
		start := p.Vaddr &^ 0xfff
		m.record(perfdata.TypeMmap, perfdata.Misc(perfdata.ModeUser), func(m *made) {
			m.halves(pid, pid)
			m.words(start, (p.Vaddr+p.Filesz-start+0xfff)&^0xfff, p.Off&^0xfff)
			m.text(program)
			m.trailer(pid, 2)
		})
	}
	sp, _ := thread.Registers.Get(31)
	stack := make([]byte, copied)
	n := uint64(copied)
	for ; n > 0 && c.Snapshot().Memory.ReadMemory(stack[:n], sp) != nil; n -= 8 {
	}
	m.record(perfdata.TypeSample, perfdata.Misc(perfdata.ModeUser), func(m *made) {
		m.words(thread.Registers.PC)
		m.halves(pid, pid)
		m.words(3, 2) // PERF_SAMPLE_REGS_ABI_64
		for i := range uint64(registers - 1) {
			v, _ := thread.Registers.Get(i)
			m.words(v)
		}
		m.words(thread.Registers.PC, copied)
		m.Write(stack)
		m.words(n)
	})
	return m
}
