// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table_test

import (
	"bytes"
	"flag"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/outputtest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/table"
)

var update = flag.Bool("update", false, "write the golden files anew: go test ./report/table -update")

func open(t testing.TB, path string) *object.File {
	t.Helper()
	f, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func list(t testing.TB, f *object.File, selection table.Selection) *table.Listing {
	t.Helper()
	sections, err := f.CFISections()
	if err != nil {
		t.Fatal(err)
	}
	l, err := table.List(sections, f, selection)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestGolden(t *testing.T) {
	colours := style.Colors()
	for _, test := range []struct {
		source, suffix string
		printer        func() table.Printer
		faults         bool
	}{
		{"asm/directives.s", ".table", func() table.Printer { return &table.Text{Mark: []uint64{0xc, 0x15}} }, false},
		{"asm/directives.s", ".raw", func() table.Printer { return &table.RawText{} }, false},
		{"asm/directives.s", ".colour", func() table.Printer { return &table.Text{Palette: colours} }, false},
		{"asm/expressions.s", ".table", func() table.Printer { return &table.Text{} }, false},
		{"asm/expressions.s", ".raw", func() table.Printer { return &table.RawText{} }, false},
		{"asm/expressions.s", ".json", func() table.Printer { return &table.JSON{} }, false},
		{"asm/personality.s", ".table", func() table.Printer { return &table.Text{} }, false},
		{"asm/personality.s", ".raw.json", func() table.Printer { return &table.RawJSON{} }, false},
		{"asm/debug_frame.s", ".json", func() table.Printer { return &table.JSON{} }, false},
		{"asm/debug_frame.s", ".raw", func() table.Printer { return &table.RawText{} }, false},
	} {
		base := filepath.Base(test.source)
		name := base[:len(base)-len(".s")] + test.suffix
		t.Run(name, func(t *testing.T) {
			f := open(t, testprogram.Assemble(t, test.source))
			var out bytes.Buffer
			summary, err := list(t, f, table.Selection{}).Write(&out, test.printer, nil)
			if err != nil {
				t.Fatal(err)
			}
			if (summary.Faults > 0) != test.faults {
				t.Errorf("%d faults, the first: %v", summary.Faults, summary.First)
			}
			outputtest.Golden(t, name, out.Bytes(), *update)
		})
	}
}
