// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// choices makes decisions from fuzzed bytes, and decides 0 when they are used up.
type choices []byte

func (c *choices) next(n int) int {
	if len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return int(b) % n
}

func (c *choices) one(of []uint64) uint64 { return of[c.next(len(of))] }

// model is the expected meaning of a random table, computed without the Builder.
type model struct {
	cfa       string
	register  uint64
	offset    int64
	registers map[uint64]string
	signed    bool
}

func (m *model) setCFA(register uint64, offset int64) {
	m.register, m.offset = register, offset
	m.cfa = fmt.Sprintf(" cfa=r%d%+d", register, offset)
}

func (m model) clone() model {
	m.registers = maps.Clone(m.registers)
	return m
}

func (m *model) text(from, to uint64) string {
	text := fmt.Sprintf("%x-%x%s", from, to, m.cfa)
	for _, c := range slices.Sorted(maps.Keys(m.registers)) {
		text += fmt.Sprintf(" r%d=%s", c, m.registers[c])
	}
	if m.signed {
		text += " signed"
	}
	return text
}

// randomTable builds a random table of a function at start. It returns the table and
// the expected rows.
func randomTable(c *choices, cie *cfi.CIE, initial model, start, size uint64) (*cfi.Program, []string, error) {
	m := cie.Section.Machine
	b := cfi.NewBuilder(cie)
	now := initial.clone()
	var states []model
	var rows []string
	from, at := uint64(0), uint64(0)
	offset := func() int64 { return int64(c.next(256)-128) * cie.DataAlign * int64(c.one([]uint64{1, 1, 70})) }
	column := func() uint64 { return c.one([]uint64{0, 3, 6, 29, 63, 64, 1000, 1<<32 - 2}) }
	for range c.next(40) {
		switch r, n := column(), offset(); c.next(14) {
		case 0:
			step := c.one([]uint64{1, 2, 0x3f, 0x40, 0xff, 0x100, 0x10000}) * cie.CodeAlign
			if at+step < size {
				at += step
				b.At(at)
			}
			continue
		case 1:
			b.DefCFA(r, n)
			now.setCFA(r, n)
		case 2, 3:
			if now.cfa == "" || now.cfa[5] == '(' {
				continue
			}
			if n%2 == 0 {
				b.AdjustCFAOffset(n - now.offset)
				now.setCFA(now.register, n)
			} else {
				b.DefCFARegister(r)
				now.setCFA(r, now.offset)
			}
		case 4:
			b.DefCFAExpression([]byte{0x70, byte(n) & 0x3f})
			now.cfa = fmt.Sprintf(" cfa=(70%02x)", byte(n)&0x3f)
		case 5, 6:
			b.Offset(r, n)
			now.registers[r] = fmt.Sprintf("[cfa%+d]", n)
		case 7:
			b.ValOffset(r, n)
			now.registers[r] = fmt.Sprintf("cfa%+d", n)
		case 8:
			b.Register(r, 12)
			now.registers[r] = "r12"
		case 9:
			b.Expression(r, []byte{0x23, byte(n) & 0x7f}).ValExpression(r+1, []byte{0x30})
			now.registers[r] = fmt.Sprintf("[23%02x]", byte(n)&0x7f)
			now.registers[r+1] = "(30)"
		case 10:
			b.Restore(r)
			if rule, ok := initial.registers[r]; ok {
				now.registers[r] = rule
			} else {
				delete(now.registers, r)
			}
		case 11:
			b.Undefined(r).SameValue(r + 1)
			now.registers[r], now.registers[r+1] = cfi.Undefined.String(), cfi.SameValue.String()
		case 12:
			b.RememberState()
			states = append(states, now.clone())
		case 13:
			if len(states) == 0 {
				if m.ELF != elf.EM_AARCH64 {
					continue
				}
				b.NegateRAState()
				now.signed = !now.signed
				break
			}
			b.RestoreState()
			now, states = states[len(states)-1], states[:len(states)-1]
		}
		if at > from {
			// The previous row ended at the first rule of this one: at that place.
			rows, from = append(rows, "?"), at
		}
		// The rules that hold from here until the next row.
		if n := len(rows); n > 0 && rows[n-1] == "?" {
			rows[n-1] = fmt.Sprint("end ", start+at)
		}
		rows = append(rows, now.text(start+from, 0))
	}
	p, err := b.Program()
	return p, settle(rows, initial, start, start+size), err
}

// settle keeps the last of the rows at one location, and sets the ends of rows.
func settle(log []string, initial model, start, end uint64) []string {
	var out []string
	last := initial.text(start, 0)
	finish := func(to uint64) {
		var from uint64
		var rest string
		fmt.Sscanf(last, "%x-", &from)
		rest = last[bytes.IndexByte([]byte(last), ' '):]
		out = append(out, fmt.Sprintf("%x-%x%s", from, to, rest))
	}
	for _, line := range log {
		var to uint64
		if n, _ := fmt.Sscanf(line, "end %d", &to); n == 1 {
			finish(to)
		} else {
			last = line
		}
	}
	finish(end)
	return out
}

// FuzzEncode writes random tables of random functions in a random layout. Decoding
// returns the same tables, or encoding returned an error.
func FuzzEncode(f *testing.F) {
	for i := range fuzzMachines {
		for n := range uint8(4) {
			f.Add(uint8(i), []byte{n, n, n, n, n, 3, 200, 100, 20, 1, 2, 3, 0, 5, 1, 4, 140, 5, 7, 6, 0, 9, 9, 2, 8, 8, 12, 0, 0, 3, 1, 1, 1, 0, 4, 1, 13, 7, 5, 10, 10, 10, 40, 41, 42, 43, 44, 45})
		}
	}
	f.Fuzz(func(t *testing.T, machine uint8, data []byte) {
		m, c := fuzzMachine(machine), choices(data)
		e := cfi.Encoder{Kind: cfi.Kind(c.next(2)), Machine: m, Address: 0x400000 + uint64(c.next(16)), TextBase: 0x1000, DataBase: 0x500000}
		cie := cfi.NewCIE(m)
		cie.PointerEncoding = cfi.Encoding(c.one([]uint64{0x1b, 0x00, 0x01, 0x02, 0x03, 0x04, 0x09, 0x0a, 0x0b, 0x0c, 0x10, 0x11, 0x19, 0x1c, 0x23, 0x3b, 0x50, 0x05, 0x9b}))
		cie.Version = uint8(c.one([]uint64{0, 1, 3, 4, 5, 2}))
		cie.DWARF64, cie.SignalFrame = c.next(2) > 0, c.next(2) > 0
		if c.next(2) > 0 {
			cie.LSDAEncoding = cfi.Encoding(c.one([]uint64{0x1b, 0x00, 0x03, 0x43, 0x50, 0x01, 0x9b}))
		}
		if cie.Version >= 4 {
			cie.SegmentSize = uint8(c.one([]uint64{0, 2, 8}))
		}
		initial := model{registers: map[uint64]string{16: "[cfa-8]", 3: "undefined"}}
		initial.setCFA(7, 8)
		cie, err := cfi.NewBuilder(cie).DefCFA(7, 8).Offset(16, -8).Undefined(3).CIE()
		if errors.Is(err, cfi.ErrRange) { // the factor does not divide 8
			return
		} else if err != nil {
			t.Fatal(err)
		}
		type written struct {
			rows []string
			lsda cfi.Pointer
		}
		want := make(map[uint64]written)
		start := uint64(0x1000)
		for range 1 + c.next(3) {
			size := c.one([]uint64{0x20000, 0x100, 1, 0x10, 0x7fff, 0x8000, 1 << 31}) * cie.CodeAlign
			p, rows, err := randomTable(&c, cie, initial, start, size)
			if err != nil {
				t.Fatalf("a table that is sound: %v", err)
			}
			if cie.LSDAEncoding != cfi.EncOmit && c.next(2) > 0 {
				p.LSDA = cfi.Pointer{Address: 0x600000 + uint64(c.next(64)), Indirect: cie.LSDAEncoding&cfi.EncIndirect != 0}
			}
			before := bytes.Clone(e.Data)
			if err := e.Program(p, start, size); err == nil {
				want[start] = written{rows, p.LSDA}
			} else if !bytes.Equal(before, e.Data) {
				t.Fatalf("%v left %x after %x", err, e.Data[len(before):], before)
			}
			start += size
		}
		s := &cfi.Section{Name: "written", Kind: e.Kind, Machine: m, Address: e.Address, TextBase: e.TextBase, DataBase: e.DataBase, Data: e.Data}
		n := 0
		for entry, err := range s.Entries() {
			if err != nil {
				t.Fatal(err)
			}
			f := entry.FDE
			if f == nil {
				continue
			}
			n++
			w, ok := want[f.Start]
			got, err := rows(f)
			if !ok || err != nil || !slices.Equal(got, w.rows) {
				t.Errorf("%v: %v\n got %q\nwant %q", f, err, got, w.rows)
			}
			if e.Kind == cfi.EHFrame && f.LSDA != w.lsda || f.CIE.SignalFrame != cie.SignalFrame || f.DWARF64 != cie.DWARF64 {
				t.Errorf("%v: LSDA %+v, want %+v; %v", f, f.LSDA, w.lsda, f.CIE)
			}
		}
		if n != len(want) {
			t.Errorf("%d FDEs, want %d", n, len(want))
		}
		if e.Kind == cfi.EHFrame && m.AddressSize == 8 {
			header, err := e.AppendHeader(nil, 0x700000)
			if errors.Is(err, cfi.ErrRange) && start > 1<<31 {
				return // the table reaches 2 GiB
			} else if err != nil {
				t.Fatal(err)
			}
			h, err := cfi.ParseHeader(header, 0x700000, m)
			if err != nil || int(h.Count) != n {
				t.Fatalf("%d entries of %d: %v", h.Count, n, err)
			}
			for err := range h.Check(s) {
				t.Error(err)
			}
		}
	})
}

// FuzzEncodeDecoded decodes any bytes and encodes them, unchanged and converted. The
// meaning stays the same, or there is an error.
func FuzzEncodeDecoded(f *testing.F) {
	for i, s := range realSections(f) {
		f.Add(s.Data[:min(len(s.Data), 512)], uint8(i), s.Kind == cfi.DebugFrame)
	}
	for i, m := range fuzzMachines {
		for _, enc := range []cfi.Encoding{0x00, 0x01, 0x02, 0x09, 0x1b, 0x23, 0x50, 0x9b} {
			f.Add(encodedSection(f, m, enc, 0x1b, "00100000 10000000 04 00010000 410e10 0f047708060a").Data, uint8(i), false)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, machine uint8, debug bool) {
		if len(data) > 4096 {
			return
		}
		s := &cfi.Section{Name: ".eh_frame", Data: data, Address: 0x400000, Machine: fuzzMachine(machine), Memory: memory{0x500000, little(0x1234)}}
		if debug {
			s.Name, s.Kind = ".debug_frame", cfi.DebugFrame
		}
		m := s.Machine
		other := arch.Lookup(m.ELF, m.Class, elf.ELFDATA2LSB+elf.ELFDATA2MSB-dataOf(m))
		for _, to := range []conversion{
			{kind: s.Kind, machine: m},
			{kind: s.Kind, machine: m, moved: 0x1000003},
			{kind: cfi.EHFrame + cfi.DebugFrame - s.Kind, machine: m},
			{kind: s.Kind, machine: other},
			{kind: s.Kind, machine: m, dwarf64: true},
			{kind: cfi.EHFrame + cfi.DebugFrame - s.Kind, machine: other, dwarf64: true},
		} {
			to.check(t, s)
		}
	})
}

func dataOf(m *arch.Machine) elf.Data {
	if m.Order.String() == "BigEndian" {
		return elf.ELFDATA2MSB
	}
	return elf.ELFDATA2LSB
}

// conversion is a layout to which a section is converted.
type conversion struct {
	kind    cfi.Kind
	machine *arch.Machine
	moved   uint64
	dwarf64 bool // convert to 64-bit DWARF
}

// check converts the section's FDEs and compares those that could be written.
func (to conversion) check(t *testing.T, s *cfi.Section) (fdes int) {
	t.Helper()
	e := cfi.Encoder{Kind: to.kind, Machine: to.machine, Address: s.Address + to.moved}
	cies := make(map[*cfi.CIE]*cfi.CIE)
	var want []string
	for f := range s.FDEs() {
		g := *f
		if to.dwarf64 {
			if cies[f.CIE] == nil {
				c := *f.CIE
				c.DWARF64 = true
				cies[f.CIE] = &c
			}
			g.CIE, g.DWARF64 = cies[f.CIE], true
		}
		before := len(e.Data)
		if err := e.FDE(&g); err == nil {
			want = append(want, substance(&g))
		} else if len(e.Data) != before {
			t.Fatalf("%+v: %v: %v left %x", to, f, err, e.Data[before:])
		}
	}
	again := &cfi.Section{Name: "converted", Kind: to.kind, Machine: to.machine, Address: e.Address, Data: e.Data, Memory: s.Memory}
	if to.machine.Order != s.Machine.Order && s.Memory != nil {
		again.Memory = reversed{s.Memory}
	}
	n := 0
	for entry, err := range again.Entries() {
		if err != nil {
			t.Fatalf("%+v: %v\n%x", to, err, e.Data)
		}
		if f := entry.FDE; f != nil {
			if got := substance(f); n >= len(want) || got != want[n] {
				t.Fatalf("%+v: FDE %d\n got %s\nwant %s", to, n, got, want[n])
			}
			if to.dwarf64 && (!f.DWARF64 || !f.CIE.DWARF64) {
				t.Fatalf("%+v: %v is not DWARF64", to, f)
			}
			n++
		}
	}
	if n != len(want) {
		t.Fatalf("%+v: %d FDEs, want %d", to, n, len(want))
	}
	return n
}

// reversed is memory whose numbers are in the other byte order.
type reversed struct{ of cfi.Memory }

func (r reversed) ReadMemory(p []byte, address uint64) error {
	err := r.of.ReadMemory(p, address)
	slices.Reverse(p)
	return err
}

// substance is the meaning of an FDE, independent of the layout of its section.
func substance(f *cfi.FDE) string {
	c := f.CIE
	text := fmt.Sprint(f.Start, f.End, f.Segment, c.CodeAlign, c.DataAlign, c.ReturnAddress, c.SignalFrame, c.BKey, c.MTETagged)
	for _, d := range []cfi.Decoder{c.Decode(), f.Decode()} {
		var ins cfi.Instruction
		nops := ""
		for d.Next(&ins) {
			if ins.Op == cfi.CFANop {
				nops += " nop"
				continue
			}
			text += fmt.Sprint(nops, " ", ins.Op, ins.Register, ins.Register2, ins.Operand)
			nops = ""
			e := &cfi.Section{Machine: c.Section.Machine, Data: ins.Expression}
			for o, err := range e.Operations(0, uint64(len(ins.Expression))) {
				text += fmt.Sprint(" ", o.Op, o.Operands, o.Block, err != nil)
			}
		}
		text += fmt.Sprint("; ", d.Err())
	}
	return text
}
