// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package compact_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cgotraceback/internal/compact"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/object"
)

var le = binary.LittleEndian

// array returns the bytes of an array of a table, from its start to the end of the table.
func array(t []byte, n int) (b []byte, count int) {
	return t[le.Uint32(t[16+8*n:]):], int(le.Uint32(t[20+8*n:]))
}

// find looks an address up as tables.h describes, and returns the rule in words: "" for none.
func find(t []byte, pc uint64) string {
	groups, _ := array(t, 0)
	blocks, count := array(t, 1)
	rows, _ := array(t, 2)
	rare, rares := array(t, 3)
	rules, _ := array(t, 4)
	saved, _ := array(t, 5)
	at := pc - le.Uint64(t[8:])
	block := int(at >> 8)
	if block+1 >= count {
		return ""
	}
	number := func(b int) int { return int(le.Uint32(groups[b/64*4:])) + int(le.Uint16(blocks[2*b:])) }
	first, n := number(block), number(block+1)-number(block)
	k := 0
	for k < n && rows[2*first+k] <= byte(at) {
		k++
	}
	rule := int(rows[2*first-1])
	if k > 0 {
		rule = int(rows[2*first+n+k-1])
	}
	if rule == 255 {
		i := 0
		for i < rares && int(le.Uint32(rare[8*i:])) != first+k-1 {
			i++
		}
		rule = int(le.Uint32(rare[8*i+4:]))
	}
	if rule == 0 {
		return ""
	}
	r := rules[16*rule:]
	flags := r[13]
	if flags&32 != 0 {
		return "unknown"
	}
	if flags&4 != 0 {
		return "outermost"
	}
	s := fmt.Sprintf("r%d%+d/%d", r[12], int32(le.Uint32(r)), flags)
	for i := range int(r[14]) {
		v := saved[8*(int(le.Uint32(r[8:]))+i):]
		s += fmt.Sprintf(" %d:%d%+d", v[4], v[5], int32(le.Uint32(v)))
	}
	return s
}

// want returns the rule of a row in the same words, if it is one that needs no expression.
func want(row *cfi.Row, cie *cfi.CIE) (s string, ok bool) {
	if row.CFA.Kind != cfi.Register {
		return "", false
	}
	flags := 0
	if cie.SignalFrame {
		flags |= 1
	}
	if row.Signed {
		flags |= 2
	}
	s = fmt.Sprintf("r%d%+d/%d", row.CFA.Register, row.CFA.Offset, flags)
	for _, r := range row.Registers {
		if uint64(r.Column) == cie.ReturnAddress && r.Kind == cfi.Undefined {
			return "outermost", true
		}
		if !slices.Contains([]uint32{3, 6, 7, 12, 13, 14, 15, 16}, r.Column) || r.Kind == cfi.SameValue {
			continue
		}
		switch r.Kind {
		case cfi.Offset:
			s += fmt.Sprintf(" %d:1%+d", r.Column, r.Offset)
		case cfi.Undefined:
			s += fmt.Sprintf(" %d:5+0", r.Column)
		default:
			return "", false
		}
	}
	return s, true
}

// TestUnwindEqualsRows compares tables with the rows that an interpreter of the section
// yields, at the first and the last address of each.
func TestUnwindEqualsRows(t *testing.T) {
	files, _ := filepath.Glob("/usr/lib/x86_64-linux-gnu/lib*.so.*")
	if len(files) == 0 {
		t.Skip("skipped: no libraries of amd64")
	}
	compared := 0
	for _, file := range sample.Of(t, files, 12) {
		f, err := object.Open(file)
		if err != nil {
			continue
		}
		if err := object.Guard(func() error {
			s, err := f.EHFrame()
			if s == nil {
				return err
			}
			table := compact.Unwind(s, 1<<30)
			if len(table) > len(s.Data)+1<<16 {
				t.Errorf("%s: %d bytes for a section of %d", file, len(table), len(s.Data))
			}
			var x cfi.Interpreter
			var fde cfi.FDE
			for i, r := range s.Index().Ranges() {
				if i%7 != 0 || s.FDEAt(r.FDE, &fde) != nil || fde.Start != r.Start || fde.CIE.ReturnAddress != 16 {
					continue
				}
				for row := range x.Rows(&fde) {
					w, ok := want(row, fde.CIE)
					if row.Start >= r.End || !ok {
						continue
					}
					for _, pc := range []uint64{row.Start, min(row.End, r.End) - 1} {
						compared++
						if got := find(table, pc); got != w {
							return fmt.Errorf("%s: at %#x %q, want %q", file, pc, got, w)
						}
					}
				}
				if i+1 < len(s.Index().Ranges()) && s.Index().Ranges()[i+1].Start > r.End {
					if got := find(table, r.End); got != "" {
						return fmt.Errorf("%s: at %#x, after a function, %q", file, r.End, got)
					}
				}
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		f.Close()
	}
	if compared < 1000 {
		t.Errorf("only %d addresses were compared", compared)
	}
}

func TestNames(t *testing.T) {
	table := compact.Names([]compact.Symbol{
		{Start: 0x1100, Size: 0x10, Name: 3, Rank: 0},
		{Start: 0x1000, Size: 0x100, Name: 1},
		{Start: 0x1020, Size: 0x10, Name: 2},
		{Start: 0x1100, Size: 0x10, Name: 4, Rank: 1},
		{Start: 0x1200, Size: 0, Name: 5},
		{Start: 0x1220, Size: 0, Name: 6},
	}, 0x1230, 1<<20)
	b, count := array(table, 0)
	var got []string
	for i := range count {
		got = append(got, fmt.Sprintf("%#x:%d", le.Uint32(b[8*i:]), int32(le.Uint32(b[8*i+4:]))))
	}
	if got, want := strings.Join(got, " "), "0x0:1 0x20:2 0x30:1 0x100:3 0x110:-1 0x200:5 0x220:6 0x230:-1"; got != want || le.Uint64(table[8:]) != 0x1000 {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLines(t *testing.T) {
	l := compact.Lines{Limit: 1 << 20}
	inlined := []compact.Place{{"inner", "a.c", 7}, {"outer", "a.c", 20}}
	l.Add(0x1000, 0x1010, inlined[1:])
	l.Add(0x1010, 0x1018, inlined)
	l.Add(0x1018, 0x1020, inlined)
	l.Add(0x1008, 0x1030, inlined) // overlaps: omitted
	l.Add(0x1040, 0x1050, inlined[1:])
	table := l.Table()
	b, count := array(table, 0)
	places, _ := array(table, 1)
	var got []string
	for i := range count {
		p := places[16*le.Uint32(b[8*i+4:]):]
		got = append(got, fmt.Sprintf("%#x:%d<%d", le.Uint32(b[8*i:]), le.Uint32(p[8:]), le.Uint32(places[16*le.Uint32(p[12:])+8:])))
	}
	if got, want := strings.Join(got, " "), "0x0:20<0 0x10:7<20 0x20:0<0 0x40:20<0 0x50:0<0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLimits makes tables with less and less memory. Each must be as large as the limit, less a
// little, and begin as the whole table does.
func TestLimits(t *testing.T) {
	files, _ := filepath.Glob("/usr/lib/x86_64-linux-gnu/libc.so.6")
	if len(files) == 0 {
		t.Skip("skipped: no libc of amd64")
	}
	f, err := object.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section, err := f.EHFrame()
	if section == nil {
		t.Fatal(err)
	}
	var symbols []compact.Symbol
	for i := range uint32(5000) {
		symbols = append(symbols, compact.Symbol{Start: uint64(i) * 16, Size: 16, Name: i + 1})
	}
	for name, table := range map[string]func(limit int) []byte{
		"unwind": func(limit int) []byte { return compact.Unwind(section, limit) },
		"names":  func(limit int) []byte { return compact.Names(slices.Clone(symbols), 80000, limit) },
		"lines": func(limit int) []byte {
			l := compact.Lines{Limit: limit}
			full := false
			for i := range 5000 {
				full = !l.Add(uint64(i)*16, uint64(i)*16+16, []compact.Place{{fmt.Sprint("f", i%99), "a.c", i}}) || full
			}
			if b := l.Table(); full == (len(b) < limit/2) {
				t.Errorf("lines of %d bytes with a limit of %d: full %t", len(b), limit, full)
			}
			return l.Table()
		},
	} {
		whole := table(1 << 30)
		for limit := len(whole); limit > 20000; limit -= len(whole)/9 + 1 {
			b := table(limit)
			if len(b) > limit || len(b) < limit-5000 {
				t.Errorf("%s: %d bytes with a limit of %d", name, len(b), limit)
				continue
			}
			compared := 0
			for pc := uint64(0); pc < 1<<21; pc += 61 {
				got, want := first(b, name, pc), first(whole, name, pc)
				if got != "" {
					compared++
					if got != want {
						t.Errorf("%s with a limit of %d: %q at %#x, want %q", name, limit, got, pc, want)
						break
					}
				}
			}
			if compared < 100 {
				t.Errorf("%s with a limit of %d: only %d addresses have an entry", name, limit, compared)
			}
		}
	}
	// The symbol after one without a size can be missing.
	symbols[7].Size = 0
	if b := compact.Names(symbols, 80000, 30000); first(b, "names", 6*16) != "7" || first(b, "names", 7*16) != "" {
		t.Error("a symbol without a size is in a table that lacks symbols")
	}
}

// first returns what a table has for an address, "" for nothing.
func first(table []byte, name string, pc uint64) string {
	if name == "unwind" {
		return find(table, pc)
	}
	b, count := array(table, 0)
	i := sort.Search(count, func(i int) bool { return uint64(le.Uint32(b[8*i:])) > pc })
	if i == 0 {
		return ""
	}
	value := le.Uint32(b[8*i-4:])
	if name == "names" {
		if value == math.MaxUint32 {
			return ""
		}
		return fmt.Sprint(value)
	}
	if value == 0 {
		return ""
	}
	places, _ := array(table, 1)
	return fmt.Sprint(le.Uint32(places[16*value+8:]))
}

// TestCheck damages the heads of tables.
func TestCheck(t *testing.T) {
	var l compact.Lines
	l.Limit = 1 << 20
	l.Add(0x1000, 0x1010, []compact.Place{{"f", "a.c", 7}})
	symbols := []compact.Symbol{{Start: 0x1000, Size: 0x10, Name: 1}}
	for name, table := range map[string][]byte{"names": compact.Names(symbols, 0x1010, 1<<20), "lines": l.Table()} {
		if !compact.Check(table) {
			t.Fatalf("%s: refused", name)
		}
		arrays := int(le.Uint32(table[16:])-16) / 8
		size := uint32(len(table))
		for what, damage := range map[string]func(b []byte) []byte{
			"nothing":        func([]byte) []byte { return nil },
			"a cut head":     func(b []byte) []byte { return b[:20] },
			"a cut end":      func(b []byte) []byte { return b[:len(b)-1] },
			"another kind":   func(b []byte) []byte { b[1]++; return b },
			"another size":   func(b []byte) []byte { le.PutUint32(b[4:], size+1); return b },
			"a cut array":    func(b []byte) []byte { le.PutUint32(b[16+8*arrays-4:], size); return b },
			"a large count":  func(b []byte) []byte { le.PutUint32(b[20:], math.MaxUint32); return b },
			"a large offset": func(b []byte) []byte { le.PutUint32(b[16:], math.MaxUint32-3); return b },
			"an odd offset":  func(b []byte) []byte { b[16]++; b[20] = 0; return b },
			"an early array": func(b []byte) []byte { le.PutUint32(b[16:], 0); return b },
		} {
			if compact.Check(damage(slices.Clone(table))) {
				t.Errorf("%s: %s is accepted", name, what)
			}
		}
	}
	table := l.Table()
	table[len(table)-1] = 'x'
	if compact.Check(table) {
		t.Error("strings without an end are accepted")
	}
}
