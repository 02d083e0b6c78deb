// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report"
)

var update = flag.Bool("update", false, "write the golden files anew: go test ./report -update")

// golden compares a print with testdata/NAME.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", path, got, want)
	}
}

func open(t testing.TB, path string) *object.File {
	t.Helper()
	f, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func list(t testing.TB, f *object.File, selection report.Selection) *report.Listing {
	t.Helper()
	sections, err := f.CFISections()
	if err != nil {
		t.Fatal(err)
	}
	l, err := report.List(sections, f, selection)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestGolden(t *testing.T) {
	colours := report.Colors()
	for _, test := range []struct {
		source, suffix string
		printer        func() report.Printer
		faults         bool
	}{
		{"asm/directives.s", ".table", func() report.Printer { return &report.TableText{Mark: []uint64{0xc, 0x15}} }, false},
		{"asm/directives.s", ".raw", func() report.Printer { return &report.RawText{} }, false},
		{"asm/directives.s", ".colour", func() report.Printer { return &report.TableText{Palette: colours} }, false},
		{"asm/expressions.s", ".table", func() report.Printer { return &report.TableText{} }, false},
		{"asm/expressions.s", ".raw", func() report.Printer { return &report.RawText{} }, false},
		{"asm/expressions.s", ".json", func() report.Printer { return &report.TableJSON{} }, false},
		{"asm/personality.s", ".table", func() report.Printer { return &report.TableText{} }, false},
		{"asm/personality.s", ".raw.json", func() report.Printer { return &report.RawJSON{} }, false},
		{"asm/debug_frame.s", ".json", func() report.Printer { return &report.TableJSON{} }, false},
		{"asm/debug_frame.s", ".raw", func() report.Printer { return &report.RawText{} }, false},
	} {
		base := filepath.Base(test.source)
		name := base[:len(base)-len(".s")] + test.suffix
		t.Run(name, func(t *testing.T) {
			f := open(t, testprogram.Assemble(t, test.source))
			var out bytes.Buffer
			summary, err := list(t, f, report.Selection{}).Write(&out, test.printer, nil)
			if err != nil {
				t.Fatal(err)
			}
			if (summary.Faults > 0) != test.faults {
				t.Errorf("%d faults, the first: %v", summary.Faults, summary.First)
			}
			golden(t, name, out.Bytes())
		})
	}
}
