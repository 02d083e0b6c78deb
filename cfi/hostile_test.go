// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/corpus"
	"github.com/clewdev/clew/internal/sample"
)

// exercise reads everything in a section, and returns results that are neither an error
// nor a usable value.
func exercise(s *cfi.Section) error {
	var x, at cfi.Interpreter
	next := uint64(0)
	for e, err := range s.Entries() {
		if e.Offset != next || e.Size == 0 || e.Size > uint64(len(s.Data))-e.Offset {
			return fmt.Errorf("an entry of %#x bytes at %#x, expected one at %#x", e.Size, e.Offset, next)
		}
		next += e.Size
		if err != nil && (e.CIE != nil || e.FDE != nil || e.Terminator()) {
			return fmt.Errorf("an entry and %v", err)
		}
		if err != nil {
			var located *cfi.Error
			if !errors.As(err, &located) || located.Offset > uint64(len(s.Data)) {
				return fmt.Errorf("%v does not say where", err)
			}
		}
		if e.CIE != nil {
			d := e.CIE.Decode()
			if err := exerciseDecoder(s, &d, e.CIE.InstructionsOffset, len(e.CIE.Instructions)); err != nil {
				return err
			}
		}
		if e.FDE != nil {
			if err := exerciseFDE(s, e.FDE, &x, &at); err != nil {
				return fmt.Errorf("%v: %w", e.FDE, err)
			}
		}
	}
	if next != uint64(len(s.Data)) {
		return fmt.Errorf("the entries end at %#x of %#x", next, len(s.Data))
	}
	return exerciseIndex(s)
}

func exerciseDecoder(s *cfi.Section, d *cfi.Decoder, at uint64, size int) error {
	var ins cfi.Instruction
	end := at + uint64(size)
	for d.Next(&ins) {
		if ins.Offset != at || ins.Size == 0 || at+ins.Size > end {
			return fmt.Errorf("an instruction of %d bytes at %#x, expected one at %#x below %#x", ins.Size, ins.Offset, at, end)
		}
		at += ins.Size
		if ins.Op.Name(s.Machine) == "" {
			return fmt.Errorf("%#02x has no name", uint8(ins.Op))
		}
	}
	if d.Err() == nil && at != end {
		return fmt.Errorf("the instructions end at %#x of %#x", at, end)
	}
	return nil
}

func exerciseFDE(s *cfi.Section, f *cfi.FDE, x, at *cfi.Interpreter) error {
	if f.Start > f.End || f.CIE == nil || f.InstructionsOffset+uint64(len(f.Instructions)) != f.Offset+f.Size {
		return fmt.Errorf("%+v", *f)
	}
	d := f.Decode()
	if err := exerciseDecoder(s, &d, f.InstructionsOffset, len(f.Instructions)); err != nil {
		return err
	}
	steps := stepRows(f, at)
	end := f.Start
	n := 0
	var eval cfi.Evaluator
	for row := range x.Rows(f) {
		if n < len(steps) {
			if s := &steps[n]; s.Start != row.Start || s.End != row.End || s.CFA != row.CFA || !slices.Equal(s.Registers, row.Registers) ||
				s.Signed != row.Signed || s.ArgumentsSize != row.ArgumentsSize {
				return fmt.Errorf("row %d is %+v, instruction by instruction %+v", n, row, s)
			}
		}
		if row.Start != end || row.End <= row.Start || row.End > f.End {
			return fmt.Errorf("row [%#x, %#x) after %#x", row.Start, row.End, end)
		}
		end = row.End
		if n++; n > 64 {
			continue // checking more rows would only take time
		}
		for i, r := range row.Registers {
			if i > 0 && r.Column <= row.Registers[i-1].Column || r.Kind == cfi.Unspecified {
				return fmt.Errorf("%v at column %d after %d", r.Kind, r.Column, row.Registers[i-1].Column)
			}
			if expression := row.Expression(r.Rule); expression != nil && n == 1 {
				eval.Register(s, r.Rule, 0x1000, testFrame(s.Machine))
			}
		}
		if row.CFA.Kind == cfi.ValExpression {
			eval.CFA(s, row.CFA, testFrame(s.Machine))
		}
		for _, pc := range []uint64{row.Start, row.End - 1} {
			found, err := at.RowAt(f, pc)
			if err != nil || found.Start != row.Start || found.End != row.End || found.CFA != row.CFA || !slices.Equal(found.Registers, row.Registers) {
				return fmt.Errorf("at %#x %+v, %w; the row is %+v", pc, found, err, row)
			}
		}
	}
	if n < min(len(steps), maxSteps) || len(steps) < min(n, maxSteps) {
		return fmt.Errorf("%d rows, instruction by instruction %d", n, len(steps))
	}
	if x.Err() == nil && end != f.End {
		return fmt.Errorf("the rows end at %#x", end)
	}
	return nil
}

// maxSteps is the number of rows that stepRows returns at most.
const maxSteps = 64

// stepRows returns the first rows of an FDE, by executing single instructions.
func stepRows(f *cfi.FDE, x *cfi.Interpreter) []cfi.Row {
	x.Start(f)
	if x.Err() != nil {
		return nil
	}
	var out []cfi.Row
	emit := func(start, end uint64) {
		if start < end {
			row := *x.Row()
			row.Start, row.End, row.Registers = start, end, slices.Clone(row.Registers)
			out = append(out, row)
		}
	}
	var ins cfi.Instruction
	d := f.Decode()
	for d.Next(&ins) && len(out) < maxSteps {
		start := x.Location()
		if !x.Execute(f.CIE, &ins) {
			return out
		}
		if x.Location() > f.End {
			emit(start, f.End)
			return out
		}
		emit(start, x.Location())
	}
	if d.Err() == nil && len(out) < maxSteps {
		emit(x.Location(), f.End)
	}
	return out
}

// exerciseIndex compares the index with the linear scan at some addresses.
func exerciseIndex(s *cfi.Section) error {
	x := s.Index()
	ranges := x.Ranges()
	for i, r := range ranges {
		if r.Start >= r.End || i > 0 && r.Start < ranges[i-1].End {
			return fmt.Errorf("range [%#x, %#x) in the index", r.Start, r.End)
		}
	}
	for i := 0; i < len(ranges); i += 1 + len(ranges)/4 {
		for _, pc := range []uint64{ranges[i].Start - 1, ranges[i].Start, ranges[i].End - 1, ranges[i].End} {
			var linear, indexed cfi.FDE
			failed, err := s.Find(pc, &linear), x.Find(pc, &indexed)
			if (failed == nil) != (err == nil) || err == nil && (indexed.Start > pc || indexed.End <= pc || indexed.Start < linear.Start) {
				return fmt.Errorf("%#x: linear %v %w, indexed %v %w", pc, &linear, failed, &indexed, err)
			}
		}
	}
	return nil
}

// realSections returns the beginnings of the sections of real files, of all installed
// machines, cut between entries.
func realSections(tb testing.TB) []*cfi.Section {
	tb.Helper()
	const most = 4096
	paths := append(corpus.CrossLibraries(tb), llvm, "/usr/lib/x86_64-linux-gnu/libgcrypt.so.20", "/usr/lib/x86_64-linux-gnu/libc.so.6")
	if self, err := os.Executable(); err == nil {
		paths = append(paths, self)
	}
	var sections []*cfi.Section
	for _, path := range paths {
		f, err := elf.Open(path)
		if err != nil {
			continue
		}
		for _, section := range f.Sections {
			kind := cfi.EHFrame
			switch section.Name {
			case ".eh_frame":
			case ".debug_frame", ".zdebug_frame":
				kind = cfi.DebugFrame
			default:
				continue
			}
			data, err := section.Data()
			if err != nil {
				tb.Fatal(err)
			}
			s := &cfi.Section{Name: section.Name, Kind: kind, Data: data, Address: section.Addr,
				Machine: arch.Lookup(f.Machine, f.Class, f.Data)}
			end := uint64(0)
			for e := range s.Entries() {
				if e.Offset+e.Size > most {
					break
				}
				end = e.Offset + e.Size
			}
			if end > 64 {
				sections = append(sections, like(s, bytes.Clone(data[:end])))
			}
		}
		f.Close()
	}
	for _, test := range instructionTests[:8] {
		sections = append(sections, program(tb, x86, usual, test.instructions))
	}
	return sections
}

func like(s *cfi.Section, data []byte) *cfi.Section {
	return &cfi.Section{Name: s.Name, Kind: s.Kind, Data: data, Address: s.Address, Machine: s.Machine}
}

// bound is the memory limit for reading n bytes.
func bound(n int) uint64 { return 16*uint64(n) + 64<<20 }

// TestMutatedSections reads thousands of damaged sections of real files. All memory that
// is allocated meanwhile, live or not, stays within the bound.
func TestMutatedSections(t *testing.T) {
	mutants := 2000
	if sample.Full() {
		mutants = 20000
	}
	real := realSections(t)
	offsets := make([][]uint64, len(real))
	machines := make(map[string]bool)
	for i, s := range real {
		machines[s.Machine.Name] = true
		if err := exercise(s); err != nil {
			t.Fatalf("%s of %s as it is: %v", s.Name, s.Machine.Name, err)
		}
		for e := range s.Entries() {
			offsets[i] = append(offsets[i], e.Offset)
		}
	}
	r := sample.Rand(t)
	faulty, worst := 0, uint64(0)
	var before, after runtime.MemStats
	for n := range mutants {
		i := n % len(real)
		s := like(real[i], corpus.Mutate(r, real[i].Data, offsets[i], real[i].Machine.Order))
		runtime.ReadMemStats(&before)
		err := exercise(s)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatalf("mutant %d, %s of %s, %x: %v", n, s.Name, s.Machine.Name, s.Data, err)
		}
		used := after.TotalAlloc - before.TotalAlloc
		if worst = max(worst, used); used > bound(len(s.Data)) {
			t.Fatalf("mutant %d of %d bytes: %d bytes allocated", n, len(s.Data), used)
		}
		for _, err := range s.Entries() {
			if err != nil {
				faulty++
				break
			}
		}
	}
	t.Logf("%d sections of %d machines; %d of %d mutants are malformed; at most %d bytes allocated for one",
		len(real), len(machines), faulty, mutants, worst)
	if faulty < mutants/10 {
		t.Errorf("only %d of %d mutants are malformed", faulty, mutants)
	}
}

// TestTruncatedSections reads every prefix of a section: complete entries are read.
func TestTruncatedSections(t *testing.T) {
	for _, s := range realSections(t) {
		whole := 0
		var ends []uint64
		for e := range s.Entries() {
			ends = append(ends, e.Offset+e.Size)
		}
		for n := 0; n <= min(len(s.Data), 1024); n++ {
			cut := like(s, s.Data[:n])
			for whole < len(ends) && ends[whole] <= uint64(n) {
				whole++
			}
			read := 0
			for _, err := range cut.Entries() {
				if err == nil {
					read++
				}
			}
			// A truncated section can lack a CIE that follows its FDE.
			if read > whole || read == 0 && whole > 0 {
				t.Fatalf("%s of %s, %d bytes: %d entries, expected %d", s.Name, s.Machine.Name, n, read, whole)
			}
			if err := exercise(cut); err != nil {
				t.Fatalf("%s of %s, %d bytes: %v", s.Name, s.Machine.Name, n, err)
			}
		}
	}
}

// peak returns the growth of the live heap while f runs. Frequent collections keep the
// measured size close to the live one.
func peak(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base, most := m.HeapAlloc, m.HeapAlloc
	done, sampled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	}()
	f()
	runtime.ReadMemStats(&m)
	close(done)
	<-sampled
	return max(most, m.HeapAlloc) - base
}

// fdes appends n FDEs of 17 bytes, of one byte of code each, whose CIE pointers point to
// the given offsets in turn.
func fdes(data []byte, n int, cies ...uint64) []byte {
	for i := range n {
		at := uint64(len(data))
		data = append(data, 13, 0, 0, 0)
		data = append(data, number(i386, 4, at+4-cies[i%len(cies)])...)
		data = append(data, word(i386, uint64(i))...)
		data = append(data, word(i386, 1)...)
		data = append(data, 0)
	}
	return data
}

// TestHostileSections reads sections of 128 KiB or 1 MiB. Each would cost a naive reader
// quadratic time or many times its size in memory. The test asserts the memory, and that
// reading ends.
func TestHostileSections(t *testing.T) {
	size := 1 << 17
	if sample.Full() {
		size = 1 << 20
	}
	cie := func(instructions []byte) []byte {
		return entry(i386, unhex(t, "00000000 01 00 01 7c 08"), instructions)
	}
	for _, test := range []struct {
		name    string
		section func() []byte
	}{
		{"LEB128 without end in the CIE of every FDE", func() []byte {
			return fdes(entry(i386, unhex(t, "00000000 01 00"), bytes.Repeat([]byte{0x80}, size)), size/17, 0)
		}},
		{"a long malformed CIE for every FDE", func() []byte {
			return fdes(entry(i386, unhex(t, "00000000 01"), bytes.Repeat([]byte{'z'}, size)), size/17, 0)
		}},
		{"CIEs of as many instructions as may be, in turn", func() []byte {
			a := cie(bytes.Repeat([]byte{0x86, 1}, 512))
			b := cie(bytes.Repeat([]byte{0x87, 1}, 512))
			return fdes(slices.Concat(a, b), size/17, 0, uint64(len(a)))
		}},
		{"CIEs of more instructions than may be, in turn", func() []byte {
			a := cie(bytes.Repeat([]byte{0x86, 1}, size/2))
			b := cie(bytes.Repeat([]byte{0x87, 1}, size/2))
			return fdes(slices.Concat(a, b), size/17, 0, uint64(len(a)))
		}},
		{"a CIE for every FDE", func() []byte {
			var data []byte
			for len(data) < size {
				at := uint64(len(data))
				data = fdes(append(data, cie(nil)...), 1, at)
			}
			return data
		}},
		{"more CIEs than are kept, in turn", func() []byte {
			data := bytes.Repeat(cie(nil), 40000)
			offsets := make([]uint64, 40000)
			for i := range offsets {
				offsets[i] = uint64(i * len(cie(nil)))
			}
			return fdes(data, 80000, offsets...)
		}},
		{"terminators", func() []byte { return make([]byte, size) }},
		{"entries of one byte", func() []byte { return bytes.Repeat([]byte{1, 0, 0, 0, 0}, size/5) }},
		{"FDEs that point to themselves", func() []byte { return bytes.Repeat([]byte{4, 0, 0, 0, 4, 0, 0, 0}, size/8) }},
		{"FDEs nested in each other", func() []byte {
			data := cie(nil)
			for i := range uint64(size) / 16 {
				data = append(data, entry(i386, number(i386, 4, uint64(len(data)+4)), word(i386, i), word(i386, 1<<30-2*i))...)
			}
			return data
		}},
		{"remembered states of many columns", func() []byte {
			var p []byte
			for c := range 250 {
				p = append(p, 0x05, byte(c)|0x80, byte(c>>7), 1)
			}
			for len(p) < size {
				p = append(p, 0x0a, 0x0a, 0x0b, 0x0b, 0x41)
			}
			data := cie(nil)
			return append(data, entry(i386, number(i386, 4, uint64(len(data)+4)), word(i386, 0), word(i386, 1<<31), p)...)
		}},
		{"columns set from the last to the first", func() []byte {
			var p []byte
			for len(p) < size {
				for c := 250; c >= 0; c-- {
					p = append(p, 0x05, byte(c)|0x80, byte(c>>7), 1)
				}
				for c := range 251 {
					p = append(p, 0x06, byte(c)|0x80, byte(c>>7))
				}
			}
			data := cie(nil)
			return append(data, entry(i386, number(i386, 4, uint64(len(data)+4)), word(i386, 0), word(i386, 16), p)...)
		}},
		{"states that are never restored", func() []byte {
			data := cie(nil)
			return append(data, entry(i386, number(i386, 4, uint64(len(data)+4)), word(i386, 0), word(i386, 16), bytes.Repeat([]byte{0x0a}, size))...)
		}},
		{"an expression that loops over a long number", func() []byte {
			p := append([]byte{0x10}, bytes.Repeat([]byte{0x80}, 31)...)
			p = append(p, 0x00, 0x13, 0x2f, 0xdc, 0xff)
			data := cie(append([]byte{0x0f, byte(len(p))}, p...))
			return fdes(data, 1000, 0)
		}},
	} {
		t.Run(test.name, func(t *testing.T) { checkPeak(t, test.section()) })
	}
}

// checkPeak reads a section, and checks the memory that this needs.
func checkPeak(t *testing.T, data []byte) {
	t.Helper()
	s := &cfi.Section{Name: ".eh_frame", Data: data, Machine: i386}
	var failure error
	most := peak(func() { failure = exercise(s) })
	if failure != nil {
		t.Error(failure)
	}
	if limit := bound(len(s.Data)); most > limit {
		t.Errorf("%d bytes of memory for a section of %d, expected at most %d", most, len(s.Data), limit)
	}
	t.Logf("%d bytes, heap grew by %d", len(s.Data), most)
}
