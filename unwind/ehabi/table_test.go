// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package ehabi_test

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
	"github.com/clewdev/clew/unwind/ehabi"
)

var arm = arch.Lookup(elf.EM_ARM, elf.ELFCLASS32, elf.ELFDATA2LSB)

// image is memory at address 0.
type image []byte

func (m image) ReadMemory(p []byte, addr uint64) error {
	if addr > uint64(len(m)) || uint64(len(m))-addr < uint64(len(p)) {
		return errors.New("not there")
	}
	copy(p, m[addr:])
	return nil
}

// words are words in memory.
func words(w ...uint32) (b []byte) {
	for _, v := range w {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// index is an index at 0x100 of one entry, of a function at address 0.
func index(word uint32) []byte { return words(0x7fffff00, word) }

func text(r *unwind.Rules) string {
	s := fmt.Sprintf("r%d%+d", r.CFA.Register, r.CFA.Offset)
	for _, reg := range r.Registers {
		if reg.Kind == cfi.Undefined {
			s += fmt.Sprintf(" r%d undefined", reg.Column)
			continue
		}
		s += fmt.Sprintf(" r%d@%d", reg.Column, reg.Offset)
	}
	if r.SignalFrame {
		s += " signal"
	}
	return s
}

// TestRules checks entries of real libraries and of EHABI32 §10.3.
func TestRules(t *testing.T) {
	for _, test := range []struct {
		name    string
		word    uint32
		extab   []uint32 // at 0x180
		address uint64
		want    string // or a part of the error
	}{
		{"nothing", 0x80b0b0b0, nil, 1, "r13+0"},
		{"pop {r4,r5,r6,r14}", 0x80aab0b0, nil, 1, "r13+16 r4@-16 r5@-12 r6@-8 r14@-4"},
		{"vsp += 12; pop {r4-r11,r14}", 0x8002afb0, nil, 1, "r13+48 r4@-36 r5@-32 r6@-28 r7@-24 r8@-20 r9@-16 r10@-12 r11@-8 r14@-4"},
		{"pop {r7,r14}", 0x808408b0, nil, 1, "r13+8 r7@-8 r14@-4"},
		{"vsp = r7; vsp += 8; pop {r7,r14}", 0x80970184, nil, 1, "opcode 0x84 is truncated"},
		{"vsp = r11; vsp -= 4; pop {r4}", 0x809b40a0, nil, 1, "r11+0 r4@-4"},
		{"pop {r3}", 0x80b108b0, nil, 1, "r13+4 r3@-4"},
		{"a long frame", 0x80b28100, nil, 1, "r13+520"},
		{"VFP registers", 0x80b800d0, nil, 1, "r13+24"},
		{"refused", 0x808000b0, nil, 1, "opcode 0x8000"},
		{"reserved", 0x809db0b0, nil, 1, "0x9d"},
		{"spare", 0x80b5b0b0, nil, 1, "0xb5"},
		{"another model in the index", 0x81b0b0b0, nil, 1, "compact model 1"},
		{"model 1", 0x7c, []uint32{0x81010c3f, 0x8400b0b0}, 1, "r13+312 r14@-4"},
		{"a personality routine", 0x7c, []uint32{0x7fffff00, 0x00a8b0b0}, 1, "r13+8 r4@-8 r14@-4"},
		{"the kernel's signal frame", 0x7c, []uint32{0x810107b1, 0x0f8fffb0}, 1,
			"r13+96 r0@-64 r1@-60 r2@-56 r3@-52 r4@-48 r5@-44 r6@-40 r7@-36 r8@-32 r9@-28 r10@-24 r11@-20 r12@-16 r13@-12 r14@-8 r15@-4 signal"},
		{"the table is truncated", 0x7c, []uint32{0x81ff0c3f}, 1, "not there"},
		{"cantunwind, called", 1, nil, 1, "r13+0 r14 undefined"},
		{"cantunwind, interrupted", 1, nil, 2, "does not describe"},
		{"interrupted", 0x80aab0b0, nil, 0x40, "interrupted"},
		{"interrupted in a leaf", 0x80b0b0b0, nil, 0x40, "r13+0"},
		{"after a system call", 0x80aab0b0, nil, 0x20, "r13+16 r4@-16 r5@-12 r6@-8 r14@-4"},
		{"after a system call in Thumb", 0x80aab0b0, nil, 0x26, "r13+16 r4@-16 r5@-12 r6@-8 r14@-4"},
	} {
		memory := make(image, 0x180)
		copy(memory[0x1c:], words(0xef000000, 0xdf000000))
		memory[0x24], memory[0x25] = 0x00, 0xdf
		memory = append(memory, words(test.extab...)...)
		rules, err := ehabi.New(index(test.word), 0x100, 0, arm, memory).Rules(test.address)
		switch {
		case err != nil && (!strings.Contains(err.Error(), test.want) || !errors.Is(err, cfi.ErrNoFDE)):
			t.Errorf("%s: %v", test.name, err)
		case err == nil && text(rules) != test.want:
			t.Errorf("%s: %s, expected %s", test.name, text(rules), test.want)
		}
	}
}

// An address before all functions, and an index of half an entry.
func TestNoEntry(t *testing.T) {
	for _, b := range [][]byte{nil, words(0x7fffff10, 1), words(0x7fffff00)} {
		if r, err := ehabi.New(b, 0x100, 0, arm, image{}).Rules(1); !errors.Is(err, cfi.ErrNoFDE) {
			t.Errorf("% x: %v, %v", b, r, err)
		}
	}
}

// Any table gives rules, or an error that wraps cfi.ErrNoFDE.
func FuzzTable(f *testing.F) {
	f.Add(words(0x7fffff00, 0x80aab0b0), words(0), uint32(1))
	f.Add(words(0x7fffff00, 0x7c, 0x7fffff10, 1), words(0x81010c3f, 0x8400b0b0), uint32(3))
	f.Fuzz(func(t *testing.T, index, extab []byte, at uint32) {
		memory := append(make(image, 0x180), extab...)
		rules, err := ehabi.New(index, 0x100, 0, arm, memory).Rules(uint64(at))
		if (rules == nil) != (err != nil) || err != nil && !errors.Is(err, cfi.ErrNoFDE) {
			t.Fatalf("%v, %v", rules, err)
		}
	})
}

func ExampleTable() {
	// A function at address 0 that saves r4 to r6 and lr: pop {r4,r5,r6,r14}; finish.
	index := []byte{0x00, 0xff, 0xff, 0x7f, 0xb0, 0xb0, 0xaa, 0x80}
	table := ehabi.New(index, 0x100, 0, arm, image{})
	rules, err := table.Rules(0x11) // the last byte of a call
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(arm.RegisterName(uint64(rules.CFA.Register)), rules.CFA.Offset, len(rules.Registers))
	// Output: sp 16 4
}
