// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// cached is a batch with everything that a description has.
func cached(tb testing.TB) *jit.Code {
	tb.Helper()
	if jit.Host() != amd64 && jit.Host() != arm64 {
		tb.Skip("skipped: not amd64 or arm64")
	}
	cie := cfi.EntryCIE(jit.Host())
	signal := *cie
	signal.SignalFrame = true
	var programs []*cfi.Program
	for _, b := range []*cfi.Builder{cfi.NewBuilder(cie).At(4).DefCFAOffset(16), cfi.NewBuilder(cie), cfi.NewBuilder(&signal)} {
		p, err := b.Program()
		if err != nil {
			tb.Fatal(err)
		}
		programs = append(programs, p)
	}
	outer := &jit.Call{Function: "outer", File: "a.w", Line: 3, Column: 4}
	inner := &jit.Call{Function: "inner", File: "b.w", Line: 5, Outer: outer}
	return &jit.Code{Name: "cache", Machine: jit.Host(), Address: 0x1000, Text: make([]byte, 64),
		Ranges: []jit.Range{{Address: 0x4000, Text: make([]byte, 16)}},
		Functions: []jit.Function{
			{Name: "a", Offset: 8, Size: 16, Unwind: programs[0], Lines: []jit.Line{
				{File: "a.w", Line: 1, Column: 2}, {Offset: 4, File: "c.w", Line: 9, Inlined: inner}, {Offset: 8, File: "b.w", Line: 7, Inlined: outer}, {Offset: 9}}},
			{},
			{Name: "b", Offset: 24, Size: 16, Unwind: programs[1], SwitchesStack: true, Pointers: []int64{-24, -40}},
			{Name: "a", Range: 1, Size: 16, Unwind: programs[2], Lines: []jit.Line{{File: "a.w", Line: 11, Inlined: &jit.Call{Function: "inner", File: "a.w", Line: 1}}}},
			{Name: "c", Range: 1, Offset: 16},
		}}
}

// normalised is a batch as UnmarshalBinary returns it: without memory, and with what describes CIEs.
func normalised(c *jit.Code) *jit.Code {
	d := *c
	d.Address, d.Text = 0, nil
	d.Ranges = make([]jit.Range, len(c.Ranges))
	d.Functions = append([]jit.Function(nil), c.Functions...)
	for i := range d.Functions {
		f := &d.Functions[i]
		if f.Size == 0 {
			*f = jit.Function{}
		}
		if f.Unwind != nil {
			from := f.Unwind.CIE
			cie := cfi.NewCIE(jit.Host())
			cie.CodeAlign, cie.DataAlign, cie.ReturnAddress = from.CodeAlign, from.DataAlign, from.ReturnAddress
			cie.SignalFrame = from.SignalFrame
			cie.Instructions = from.Instructions
			f.Unwind, _ = cfi.NewProgram(cie, f.Unwind.Instructions, f.Unwind.End)
		}
	}
	return &d
}

func TestBinary(t *testing.T) {
	c := cached(t)
	data, err := c.AppendBinary([]byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.TrimPrefix(data, []byte("before"))
	var d jit.Code
	if err := d.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if want := normalised(c); !reflect.DeepEqual(&d, want) {
		t.Errorf("%+v\nwant %+v", &d, want)
	}
	if a, b := d.Functions[0].Lines[1].Inlined, d.Functions[0].Lines[2].Inlined; a.Outer != b {
		t.Error("a call became two")
	}
	if d.Functions[0].Unwind.CIE != d.Functions[2].Unwind.CIE {
		t.Error("a CIE became two")
	}

	// The code is elsewhere now; a description that is written again is the same.
	d.Address, d.Text = 0x7000, make([]byte, 64)
	d.Ranges[0] = jit.Range{Address: 0x9000, Text: make([]byte, 16)}
	for i := range d.Functions {
		if f := &d.Functions[i]; f.Size > 0 && d.Start(f) != map[int]uint64{0: 0x7008, 2: 0x7018, 3: 0x9000}[i] {
			t.Errorf("function %d is at %#x", i, d.Start(f))
		}
	}
	again, err := d.AppendBinary(nil)
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("%v, %d bytes, %d at first", err, len(again), len(data))
	}

	lazy := *c
	lazy.Functions = append([]jit.Function(nil), c.Functions...)
	for i := range lazy.Functions {
		lazy.Functions[i].Name, lazy.Functions[i].Lines = "", nil
	}
	lazy.NameOf = func(i int) string { return c.Functions[i].Name }
	lazy.LinesOf = func(i int) []jit.Line { return c.Functions[i].Lines }
	if other, err := lazy.AppendBinary(nil); err != nil || !bytes.Equal(other, data) {
		t.Errorf("with functions for names and lines: %v", err)
	}
}

func TestBinaryErrors(t *testing.T) {
	c := cached(t)
	good, err := c.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	seal := func(b []byte) []byte {
		b = b[:len(b)-4]
		sum := crc32.ChecksumIEEE(b)
		return append(b, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
	}
	version, machine := bytes.Clone(good), bytes.Clone(good)
	version[len("clew-jit")] = 2
	machine[len("clew-jit")+1] ^= 1
	for _, test := range []struct {
		data []byte
		kind error
		says string
	}{
		{nil, jit.ErrCode, `0 bytes that do not start with "clew-jit"`},
		{good[:8], jit.ErrVersion, "version 0, expected 1"},
		{seal(version), jit.ErrVersion, "version 2, expected 1"},
		{seal(machine), jit.ErrVersion, "not for the machine of this program"},
		{good[:len(good)-1], jit.ErrCode, "the checksum of"},
		{seal(append(bytes.Clone(good), 0)), jit.ErrCode, "damaged, 1 bytes before its end"},
	} {
		d := jit.Code{Name: "unchanged"}
		if err := d.UnmarshalBinary(test.data); !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) || d.Name != "unchanged" {
			t.Errorf("%v, want one that says %q", err, test.says)
		}
	}

	cie := *c.Functions[0].Unwind.CIE
	cie.LSDAEncoding = cfi.EncAbsptr
	c.Functions[0].Unwind = &cfi.Program{CIE: &cie}
	if b, err := c.AppendBinary([]byte("b")); !errors.Is(err, jit.ErrCode) || !strings.Contains(err.Error(), `function "a" at 0x1008: invalid description of generated code: an unwind table with a personality or an LSDA`) || string(b) != "b" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := new(jit.Code).AppendBinary(nil); !errors.Is(err, jit.ErrCode) {
		t.Errorf("no functions: %v", err)
	}
}

// FuzzUnmarshalBinary reads descriptions with a right checksum.
func FuzzUnmarshalBinary(f *testing.F) {
	good, err := cached(f).AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good[:len(good)-4])
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		b := bytes.Clone(good[:len(good)-4])
		for range 1 + random.IntN(3) {
			b[12+random.IntN(len(b)-12)] = byte(random.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		sum := crc32.ChecksumIEEE(b)
		var c jit.Code
		if err := c.UnmarshalBinary(append(b, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))); err != nil {
			if !errors.Is(err, jit.ErrCode) && !errors.Is(err, jit.ErrVersion) {
				t.Errorf("%v", err)
			}
			return
		}
		c.Address, c.Text = 0x1000, make([]byte, 64)
		for i := range c.Ranges {
			c.Ranges[i] = jit.Range{Address: 0x2000 + uint64(i)*0x1000, Text: make([]byte, 64)}
		}
		if c.Check() != nil {
			return
		}
		again, err := c.AppendBinary(nil)
		var d jit.Code
		if err != nil || d.UnmarshalBinary(again) != nil || len(d.Functions) != len(c.Functions) {
			t.Errorf("a valid description does not survive: %v", err)
		}
	})
}
