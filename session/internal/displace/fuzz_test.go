// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"bytes"
	"testing"

	"github.com/clewdev/clew/arch"
)

// Make returns an error, or a slot within its limits in which every instruction is a point.
func FuzzMake(f *testing.F) {
	for _, text := range []string{
		"\x90", "\xe8\x11\x22\x33\x04", "\xff\x54\x24\x10", "\xff\x15\x00\x00\x00\x00", "\x0f\x05", "\xe3\x10", "\x0f\x84\x00\x00\x00\x00", "\xc7\xf8\x00\x01\x00\x00",
		"\xc4\xe3\x7d\x19\x05\x00\x00\x00\x00\x01", "\x62\xf1\x7c\x48\x10\x05\x00\x00\x00\x00", "\x67\xff\x15\x10\x00\x00\x00",
	} {
		f.Add(false, []byte(text), uint64(0x400000), uint64(0x10000000))
		f.Add(false, []byte(text), uint64(0x400000), uint64(0x7f0010000000))
	}
	f.Add(true, sequence[4:], uint64(0x10004), uint64(0x4000000))
	for _, op := range []uint32{0x10000045, 0x94000004, 0x54ffffe1, 0xd63f0040, 0x18000041, 0x0420bc20, 0x9c000041} {
		f.Add(true, words(op, 0xd503201f), uint64(0x10000), uint64(0x4000000))
		f.Add(true, words(op, 0xd503201f), uint64(0x10000), uint64(0x20000))
	}
	f.Fuzz(func(t *testing.T, isARM64 bool, code []byte, pc, at uint64) {
		m, boundaries := amd64(), x86Boundaries
		if isARM64 {
			m, boundaries = arm64(), arm64Boundaries
		}
		checkSlot(t, m, code, pc, at, boundaries)
		if start, inside := InExclusive(m, code, int(pc%256)); inside && (start < 0 || start >= int(pc%256)) {
			t.Errorf("sequence at %d", start)
		}
	})
}

func checkSlot(t *testing.T, m *arch.Machine, code []byte, pc, at uint64, boundaries func(s *Slot) []int) {
	t.Helper()
	before := bytes.Clone(code)
	s, err := Make(m, code, pc, at)
	if !bytes.Equal(code, before) {
		t.Fatal("the original was changed")
	}
	i, decodeErr := Decode(m, code, pc)
	if err != nil {
		if s != nil {
			t.Fatal("an error and a slot")
		}
		return
	}
	if decodeErr != nil || i != s.Instruction {
		t.Fatalf("Decode: %+v %v, the slot has %+v", i, decodeErr, s.Instruction)
	}
	if i.Size <= 0 || i.Size > len(code) || s.Size < i.Size || s.Size > min(len(code), Lookahead) || i.Next != pc+uint64(i.Size) {
		t.Fatalf("size %d, of the instruction %+v", s.Size, i)
	}
	if len(s.Code) == 0 || len(s.Code) > MaxSlot {
		t.Fatalf("%d bytes of code", len(s.Code))
	}
	want := boundaries(s)
	if len(want) != len(s.Points) {
		t.Fatalf("% x: points %v, instructions at %v", s.Code, s.Points, want)
	}
	for k, p := range s.Points {
		if q, ok := s.At(p.Offset); p.Offset != want[k] || !ok || q != p {
			t.Fatalf("% x: points %v, instructions at %v", s.Code, s.Points, want)
		}
	}
	if p := s.Points[0]; p.PC != pc || p.Done || p.Fix != (Fix{}) {
		t.Fatalf("first point %+v", p)
	}
}

// x86Boundaries disassembles a slot up to its literals. The displacement of one of its pushes
// and jumps is that of the first literal.
func x86Boundaries(s *Slot) []int {
	var out []int
	end := len(s.Code)
	for at := 0; at < end; {
		i, err := decodeX86Parts(s.Code[at:end])
		if err != nil {
			return nil
		}
		out = append(out, at)
		at += len(i.Code)
		if i.RIPRelative && i.Opcode == 0xff && i.Displacement == 2 && len(i.Code) == 6 {
			if d := int(i.Code[2]) | int(i.Code[3])<<8 | int(i.Code[4])<<16 | int(i.Code[5])<<24; d >= 0 && at+d < end {
				end = at + d
			}
		}
		for end > at && end < len(s.Code) && s.Code[end-1] == 0xcc && s.Points[len(s.Points)-1].Offset < at {
			end-- // alignment
		}
	}
	return out
}

func arm64Boundaries(s *Slot) []int {
	end := len(s.Code)
	for k := 0; k < end; k += 4 {
		op := uint32(s.Code[k]) | uint32(s.Code[k+1])<<8 | uint32(s.Code[k+2])<<16 | uint32(s.Code[k+3])<<24
		// A load of an address in the slot.
		if d := op >> 5 & 0x7ffff; op>>24 == 0x58 && k+4*int(d) <= len(s.Code)-8 {
			end = min(end, k+4*int(d))
		}
	}
	if at := s.Points[len(s.Points)-1].Offset + 4; at == end-4 {
		end = at // alignment
	}
	var out []int
	for k := 0; k < end; k += 4 {
		out = append(out, k)
	}
	return out
}
