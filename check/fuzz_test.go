// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// flat is memory with code at 0x1000.
type flat []byte

func (f flat) ReadMemory(p []byte, addr uint64) error {
	if at := addr - 0x1000; addr >= 0x1000 && at <= uint64(len(f)) && uint64(len(p)) <= uint64(len(f))-at {
		copy(p, f[at:])
		return nil
	}
	return errors.New("unreadable")
}

// FuzzSection checks two functions of arbitrary code with arbitrary call frame instructions.
func FuzzSection(f *testing.F) {
	for _, seed := range []string{
		"5331db5bc3", "554889e54883e4e04883ec20c9c3", "4c8d5424084883e4e041ff72f8554889e5415241 5a5d498d62f8c3",
		"83ff05770f488d0500000000486304b84801c3ffe0c3", "e800000000586690ebfe", "74fe75fc7fffe2fa", "0f0b", "488dc0", "62f17c48100424c5f877",
	} {
		var code []byte
		for _, c := range seed {
			if c != ' ' {
				code = append(code, byte(c))
			}
		}
		b, err := hex.DecodeString(string(code))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, []byte{0x41, 0x0e, 0x10, 0x83, 0x02}, uint16(len(b)/2), false)
	}
	for _, seed := range [][]uint32{
		{0xd503233f, 0xa9be7bfd, 0x910003fd, 0xf9000bf3, 0x94000000, 0xf9400bf3, 0xa8c27bfd, 0xd50323bf, 0xd65f03c0}, // paciasp, stp, mov, str, bl, ldr, ldp, autiasp, ret
		{0x71001c1f, 0x54000128, 0x90000001, 0x91006021, 0x38604821, 0x10000060, 0x8b218801, 0xd61f0020, 0x00000100}, // cmp, b.hi, adrp, add, ldrb, adr, add, br
		{0xd2846810, 0xf2a00030, 0xcb3063ff, 0x9275ec3f, 0xcb2063ff, 0x8b3063ff, 0xd65f0bff},                         // mov, movk, sub sp, and sp, sub sp, add sp, retaa
		{0x045f57ff, 0xe5804000, 0x6dbf27e8, 0x1e604108, 0x9e660113, 0xd4200000, 0x043f5040},                         // addvl, str z0, stp d8, fmov, fmov, brk
	} {
		var b []byte
		for _, word := range seed {
			b = binary.LittleEndian.AppendUint32(b, word)
		}
		f.Add(b, []byte{0x41, 0x2d, 0x41, 0x0e, 0x20, 0x9d, 0x04, 0x9e, 0x03}, uint16(len(b)), true)
	}
	machines := map[bool]*arch.Machine{
		false: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB), true: arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB),
	}
	f.Fuzz(func(t *testing.T, code, instructions []byte, split uint16, arm64 bool) {
		m := machines[arm64]
		if len(code) > 1<<12 || len(instructions) > 1<<10 {
			return
		}
		e := cfi.Encoder{Kind: cfi.EHFrame, Machine: m, Address: 0x100000}
		cie := cfi.EntryCIE(m)
		middle := 0x1000 + uint64(int(split)%(len(code)+1))
		for _, r := range [][2]uint64{{0x1000, middle}, {middle, 0x1000 + uint64(len(code))}} {
			if err := e.FDE(&cfi.FDE{CIE: cie, Start: r[0], End: r[1], Instructions: instructions}); err != nil {
				return
			}
		}
		s := &cfi.Section{Name: ".eh_frame", Data: e.Data, Address: e.Address, Machine: m}
		c := newChecker(s, Code{Memory: flat(code), NoReturn: map[uint64]bool{0x1000: true}})
		r, err := c.run(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Agree+r.Disagree+r.Undecided != r.Instructions {
			t.Errorf("%+v", r.Counters)
		}
		for i := range r.Findings {
			if g := &r.Findings[i]; g.Address < 0x1000 || g.Address >= 0x1000+uint64(len(code)) || g.Expected == g.Found {
				t.Errorf("%+v", g)
			}
		}
	})
}
