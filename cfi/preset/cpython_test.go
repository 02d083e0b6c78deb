// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
)

var (
	amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	arm64 = arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
)

// TestCPython compares the bytes with those of CPython's builder (testdata/cpython, for
// code at 0x7f0012340000). It also asks for the size, and passes a buffer that is too
// small.
func TestCPython(t *testing.T) {
	const start = 0x7f0012340000
	files := 0
	for _, test := range []struct {
		name    string
		machine *arch.Machine
		cet     bool
	}{{"x86_64", amd64, false}, {"x86_64cet", amd64, true}, {"aarch64", arm64, false}} {
		perf, err := preset.CPythonPerf(test.machine, test.cet)
		if err != nil {
			t.Fatal(err)
		}
		shim, err := preset.CPythonShim(test.machine)
		if err != nil {
			t.Fatal(err)
		}
		gdb, err := preset.CPythonGDB(test.machine, shim)
		if err != nil {
			t.Fatal(err)
		}
		for flavour, p := range map[string]*cfi.Program{"perf": perf, "gdb": gdb} {
			for _, size := range []uint64{0x40, 0x43, 0x10000} {
				file := fmt.Sprintf("testdata/cpython/%s_%s_%x.bin", test.name, flavour, size)
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				files++
				address := preset.PerfAddress(start, size)
				n, err := preset.EHFrame(nil, p, start, size, address)
				if n != len(want) || n != 56 || err != nil {
					t.Errorf("%s: the size is %d, %v; want %d", file, n, err, len(want))
				}
				small := bytes.Repeat([]byte{0xaa}, n-1)
				if n, err := preset.EHFrame(small, p, start, size, address); n != len(want) || !errors.Is(err, io.ErrShortBuffer) || !untouched(small) {
					t.Errorf("%s: in a buffer too small: %d, %v, %x", file, n, err, small)
				}
				if n, err := preset.EHFrame([]byte{}, p, start, size, address); n != len(want) || !errors.Is(err, io.ErrShortBuffer) {
					t.Errorf("%s: in an empty buffer: %d, %v", file, n, err)
				}
				large := bytes.Repeat([]byte{0xaa}, n+8)
				if n, err := preset.EHFrame(large, p, start, size, address); err != nil || !bytes.Equal(large[:n], want) || !untouched(large[n:]) {
					t.Errorf("%s: %v\n got %x\nwant %x", file, err, large, want)
				}
			}
		}
	}
	if files != 18 {
		t.Errorf("%d files", files)
	}
}

// untouched reports whether a buffer of 0xaa is unchanged.
func untouched(b []byte) bool { return bytes.Count(b, []byte{0xaa}) == len(b) }

func TestCPythonRefuses(t *testing.T) {
	riscv := arch.Lookup(elf.EM_RISCV, elf.ELFCLASS64, elf.ELFDATA2LSB)
	if _, err := preset.CPythonPerf(riscv, false); !errors.Is(err, cfi.ErrUse) {
		t.Error(err)
	}
	if _, err := preset.CPythonPerf(arm64, true); !errors.Is(err, cfi.ErrUse) {
		t.Error(err)
	}
	if _, err := preset.CPythonShim(riscv); !errors.Is(err, cfi.ErrUse) {
		t.Error(err)
	}
	shim, _ := preset.CPythonShim(arm64)
	shim.CFAOffset, shim.Saved[0].Slot = 96, -90
	if _, err := preset.CPythonGDB(arm64, shim); !errors.Is(err, cfi.ErrRange) {
		t.Error(err)
	}
	if _, err := preset.EHFrame(nil, nil, 0, 16, 0); !errors.Is(err, cfi.ErrUse) {
		t.Error(err)
	}
	perf, _ := preset.CPythonPerf(amd64, false)
	if _, err := preset.EHFrame(nil, perf, 0x1000, 6, 0x1008); !errors.Is(err, cfi.ErrRange) {
		t.Errorf("6 bytes of code, but the last row starts at 7: %v", err)
	}
}
