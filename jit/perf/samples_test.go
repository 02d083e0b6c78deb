// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

var update = flag.Bool("update", false, "write the golden files anew")

// samples are jitdumps of other writers: two of a small writer that follows perf, and those
// of testdata/make.sh.
var samples = []string{"unwind.dump", "move.dump", "llvm.dump", "v8.dump"}

// TestSamples compares the contents of each sample with a golden text.
func TestSamples(t *testing.T) {
	for _, name := range samples {
		d, err := ReadJitdump("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		fmt.Fprintf(&got, "%v %v, process %d, closed %t, %d bytes\n", d.Order, d.Machine, d.PID, d.Closed, d.End)
		x := d.Index()
		if all, err := x.Damage(); all != 0 || err != nil || d.Damage() != nil {
			t.Errorf("%s: %d bad records: %v, %v", name, all, err, d.Damage())
		}
		for i := range x.Functions() {
			describe(t, &got, x, &x.Functions()[i])
		}
		golden := "testdata/" + name + ".golden"
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, &got, want)
		}
	}
}

// describe formats a function of the index.
func describe(t *testing.T, w *bytes.Buffer, x *Index, f *Function) {
	t.Helper()
	fmt.Fprintf(w, "%d: %q at %#x, %d bytes, at %d\n", f.Index, x.Name(f), f.Address, f.Size, f.Time)
	if n := len(x.Code(f)); n != int(f.Size) {
		t.Errorf("%q: %d bytes of code, want %d", x.Name(f), n, f.Size)
	}
	for l := range x.Lines(f) {
		fmt.Fprintf(w, "\t+%#x %s:%d:%d\n", l.Offset, l.File, l.Line, l.Discriminator)
	}
	section, err := x.EHFrame(f)
	if err != nil {
		t.Errorf("%q: %v", x.Name(f), err)
	}
	if section == nil {
		return
	}
	var fde cfi.FDE
	if err := section.Find(f.Address, &fde); err != nil {
		t.Errorf("%q: %v", x.Name(f), err)
		return
	}
	var interpreter cfi.Interpreter
	for row := range interpreter.Rows(&fde) {
		fmt.Fprintf(w, "\t+%#x CFA=%s%+d", row.Start-f.Address, section.Machine.RegisterName(uint64(row.CFA.Register)), row.CFA.Offset)
		for _, r := range row.Registers {
			fmt.Fprintf(w, " %s=%v%+d", section.Machine.RegisterName(uint64(r.Column)), r.Kind, r.Offset)
		}
		fmt.Fprintln(w)
	}
	if err := interpreter.Err(); err != nil {
		t.Errorf("%q: %v", x.Name(f), err)
	}
}

// A dump that is still being written has the same records up to any byte.
func TestGrowingSamples(t *testing.T) {
	for _, name := range samples {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := ParseJitdump(name, data)
		if err != nil {
			t.Fatal(err)
		}
		all := whole.Index().Functions()
		for n := headerSize; n < len(data); n++ {
			d, err := ParseJitdump(name, data[:n])
			if err != nil {
				t.Fatalf("%s of %d bytes: %v", name, n, err)
			}
			if d.End > uint64(n) || d.Damage() != nil {
				t.Fatalf("%s of %d bytes: end %d, %v", name, n, d.End, d.Damage())
			}
			functions := d.Index().Functions()
			for i, f := range functions {
				want := all[i]
				if f.until == math.MaxUint64 {
					want.until = f.until // the move may come later
				}
				if f != want {
					t.Fatalf("%s of %d bytes: function %d is %+v, want %+v", name, n, i, f, want)
				}
			}
		}
	}
}

// TestMoved looks up the functions of move.dump before, at and after the move.
func TestMoved(t *testing.T) {
	d, err := ReadJitdump("testdata/move.dump")
	if err != nil {
		t.Fatal(err)
	}
	x := d.Index()
	const loaded, moved = 2757277369706, 2757277900258
	for _, test := range []struct {
		address, time uint64
		want          string
	}{
		{0x7f61ced02000, loaded - 1, ""},
		{0x7f61ced02000, loaded, "dump::jit_alpha"},
		{0x7f61ced0202e, moved - 1, "dump::jit_alpha"},
		{0x7f61ced0202f, moved - 1, ""},
		{0x7f61ced02000, moved, ""},
		{0x7f61ced05000, moved - 1, ""},
		{0x7f61ced05000, moved, "dump::jit_alpha"},
		{0x7f61ced0502e, math.MaxUint64, "dump::jit_alpha"},
		{0x7f61ced04fff, math.MaxUint64, ""},
		{0x7f61ced03000, math.MaxUint64, "dump::jit_beta"},
		{0, math.MaxUint64, ""},
		{math.MaxUint64, math.MaxUint64, ""},
	} {
		got := ""
		if f, ok := x.Find(test.address, test.time); ok {
			got = x.Name(f)
		}
		if got != test.want {
			t.Errorf("%#x at %d: %q, want %q", test.address, test.time, got, test.want)
		}
	}
}

// TestCPython encodes the rules of CPython's trampolines (Python/perf_jit_trampoline.c)
// and compares the bytes with CPython's records.
func TestCPython(t *testing.T) {
	for _, test := range []struct {
		name    string
		machine string
		program func(*cfi.Builder) *cfi.Builder
	}{
		// push rbp; mov rbp,rsp; call; pop rbp
		{"x86_64", "amd64", func(b *cfi.Builder) *cfi.Builder {
			return b.At(1).DefCFAOffset(16).Offset(6, -16).At(4).DefCFARegister(6).At(7).DefCFA(7, 8)
		}},
		// stp x29,x30,[sp,-16]!; mov x29,sp; blr; ldp
		{"aarch64", "arm64", func(b *cfi.Builder) *cfi.Builder {
			return b.At(4).DefCFAOffset(16).Offset(29, -16).Offset(30, -8).At(16).DefCFARegister(29).Restore(30).Restore(29).DefCFA(31, 0)
		}},
	} {
		want, err := os.ReadFile("testdata/cpython/" + test.name + "_jitdump_unwinding_40_ts0.bin")
		if err != nil {
			t.Fatal(err)
		}
		machine := machines[test.machine]
		p, err := test.program(cfi.NewBuilder(cfi.EntryCIE(machine))).Program()
		if err != nil {
			t.Fatal(err)
		}
		var e functionEncoder
		e.init(machine)
		f := jit.Function{Name: "f", Size: 0x40, Unwind: p}
		c := jit.Code{Machine: machine, Address: 0x7f0012340000, Text: make([]byte, 0x40), Functions: []jit.Function{f}}
		if err := e.function(&c, &c.Functions[0], 0, 0, math.MaxUint64); err != nil {
			t.Fatal(err)
		}
		if got := e.Data[:min(len(want), len(e.Data))]; !bytes.Equal(got, want) {
			t.Errorf("%s:\n% x, want\n% x", test.name, got, want)
		}
		if n, err := SpaceAfter(p, 0x40); n != 80 || err != nil {
			t.Errorf("%s: %d bytes, %v; want 80", test.name, n, err)
		}
		if n, err := SpaceAfter(p, 0x43); n != 85 || err != nil {
			t.Errorf("%s: %d bytes, %v; want 85", test.name, n, err)
		}
	}
}
