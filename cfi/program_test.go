// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/corpus"
	"github.com/clewdev/clew/object"
)

// TestProgramOfFDE converts the FDEs of real files to Programs and writes them for the
// same addresses: the rows are the same.
func TestProgramOfFDE(t *testing.T) {
	paths := append(corpus.CrossLibraries(t), llvm, "/usr/lib/x86_64-linux-gnu/libc.so.6")
	programs := 0
	for _, path := range paths {
		f, err := object.Open(path)
		if err != nil {
			continue // not installed
		}
		sections, err := f.CFISections()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sections {
			var was, is cfi.Interpreter
			n := 0
			for f := range s.FDEs() {
				if n++; n > 2000 {
					break
				}
				p, err := f.Program()
				if err != nil {
					t.Errorf("%s: %v", path, err)
					continue
				}
				e := cfi.Encoder{Kind: s.Kind, Machine: s.Machine, Address: s.Address, TextBase: s.TextBase, DataBase: s.DataBase}
				if f.End == f.Start || f.CIE.SegmentSize > 0 {
					continue
				}
				if err := e.Program(p, f.Start, f.End-f.Start); err != nil {
					t.Errorf("%s: %v: %v", path, f, err)
					continue
				}
				again := cfi.Section{Name: s.Name, Kind: s.Kind, Data: e.Data, Address: e.Address, Machine: s.Machine,
					TextBase: s.TextBase, DataBase: s.DataBase}
				for g := range again.FDEs() {
					programs++
					if a, b := rowsOf(&was, f), rowsOf(&is, g); a != b {
						t.Errorf("%s: %v:\n got %s\nwant %s", path, f, b, a)
					}
				}
			}
		}
		f.Close()
	}
	if programs == 0 {
		t.Skip("skipped: libllvm14 is not installed")
	}
}

func rowsOf(x *cfi.Interpreter, f *cfi.FDE) string {
	var b strings.Builder
	for row := range x.Rows(f) {
		b.WriteString(rowText(row) + "\n")
	}
	return b.String()
}

func TestProgramOfFDESetLoc(t *testing.T) {
	for _, test := range []struct {
		name, instructions, want string
		end                      uint64
	}{
		{"an advance", "01 2000010000000000 0e10", "480e10", 0x20},
		{"before the function", "01 fcff000000000000 0e10", "", 0},
		{"backwards", "01 2000010000000000 0e10 01 1000010000000000 0e18", "", 0},
		{"between two instructions", "01 2200010000000000 0e10", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := onlyFDE(t, program(t, x86, usual, test.instructions)).Program()
			if test.want == "" {
				if !errors.Is(err, cfi.ErrRange) {
					t.Errorf("%v, expected ErrRange", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := bytes.TrimRight(p.Instructions, "\x00")
			if !bytes.Equal(got, unhex(t, test.want)) || p.End != test.end {
				t.Errorf("% x, end %#x", got, p.End)
			}
		})
	}
}
