// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/table"
)

// A file that is truncated after its entries were listed gives an error in every format.
func TestCutBeforeWritten(t *testing.T) {
	data, err := os.ReadFile("../../object/testdata/minidebug.elf")
	if err != nil {
		t.Fatal(err)
	}
	for format := range formats {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := object.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		sections, err := f.CFISections()
		if err != nil {
			t.Fatal(err)
		}
		list, err := table.List(sections, f, table.Selection{})
		if err != nil || list.Functions() < 2 {
			t.Fatal(list, err)
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := Write(io.Discard, Format(format), "clew table", list, f, nil); !errors.Is(err, object.ErrFault) {
			t.Errorf("format %v: %v", format, err)
		}
		f.Close()
	}
}
