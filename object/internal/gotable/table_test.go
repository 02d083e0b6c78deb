// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package gotable

import (
	"bytes"
	"compress/gzip"
	"debug/gosym"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/clewdev/clew/internal/testprogram"
)

// For the .gopclntab of programs of older toolchains, the name, extent, file and lines of
// each function agree with debug/gosym, and those of a few functions with the nm and
// addr2line of the toolchain. The table of Go 1.15 is test data of debug/gosym. The others
// are from a main package with a function outer that calls inner, built with -trimpath.
func TestTablesOfOldVersions(t *testing.T) {
	root, err := exec.Command(testprogram.RequireTool(t, "go"), "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	type fact struct {
		address uint64
		name    string
		file    string
		line    int
	}
	for _, tt := range []struct {
		file  string
		magic uint32
		text  uint64
		facts []fact
	}{
		{filepath.Join(strings.TrimSpace(string(root)), "src/debug/gosym/testdata/pcln115.gz"), magic12, 0x1001000, []fact{{0x105c280, "main.main", "/tmp/hello.go", 3}}},
		{"testdata/go1.18.gopclntab.xz", magic118, 0x401000, []fact{
			{0x45dd40, "main.outer", "old/main.go", 6}, {0x45dd68, "main.outer", "old/main.go", 7}}},
		{"testdata/go1.20.gopclntab.xz", magic120, 0x401000, []fact{
			{0x461680, "main.outer", "old/main.go", 6}, {0x4616a8, "main.outer", "old/main.go", 7}}},
	} {
		data := unpacked(t, tt.file)
		table, err := New(data)
		if err != nil || table.magic != tt.magic {
			t.Errorf("%s: %+v, %v", tt.file, table, err)
			continue
		}
		if table.text != 0 {
			table.text = tt.text
		}
		for _, want := range tt.facts {
			fn, ok := table.Find(want.address)
			if !ok {
				t.Errorf("%s: no function at %#x", tt.file, want.address)
				continue
			}
			if file, line := table.Position(&fn, want.address); table.Name(&fn) != want.name || file != want.file || line != want.line {
				t.Errorf("%s: %#x is in %s at %s:%d, expected %+v", tt.file, want.address, table.Name(&fn), file, line, want)
			}
		}
		symbols, err := gosym.NewTable(nil, gosym.NewLineTable(data, tt.text))
		if err != nil {
			t.Fatal(err)
		}
		if len(symbols.Funcs) < 1000 || table.count < len(symbols.Funcs) {
			t.Errorf("%s: %d functions, expected %d", tt.file, table.count, len(symbols.Funcs))
		}
		wrong := 0
		for i := range symbols.Funcs {
			want := &symbols.Funcs[i]
			for _, address := range []uint64{want.Entry, (want.Entry + want.End) / 2, want.End - 1} {
				fn, ok := table.Find(address)
				if !ok || table.Name(&fn) != want.Name || fn.Entry != want.Entry || fn.End != want.End {
					t.Errorf("%s: %#x is in %+v, expected %s", tt.file, address, fn, want.Name)
					wrong++
					continue
				}
				wantFile, wantLine, _ := symbols.PCToLine(address)
				wantLine = max(wantLine, 0) // -1 means no line, as in padding
				if file, line := table.Position(&fn, address); line != wantLine || line > 0 && file != wantFile {
					t.Errorf("%s: %#x is at %s:%d, expected %s:%d", tt.file, address, file, line, wantFile, wantLine)
					wrong++
				}
			}
			if wrong > 20 {
				break
			}
		}
	}
}

// unpacked returns the content of a compressed file.
func unpacked(t testing.TB, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r io.Reader
	if filepath.Ext(path) == ".gz" {
		r, err = gzip.NewReader(bytes.NewReader(packed))
	} else {
		r, err = xz.NewReader(bytes.NewReader(packed))
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
