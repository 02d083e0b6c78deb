// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// A copied recording leaves no file, whenever the process ends: the copy never has a name.
func TestCopyHasNoName(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	check := readerFunc(func([]byte) (int, error) {
		if names, err := os.ReadDir(temporary); err != nil || len(names) != 0 {
			t.Errorf("%v, %v", names, err)
		}
		return 0, io.EOF
	})
	header := append([]byte("PERFILE2"), make([]byte, 100)...)
	r, err := perfdata.NewReader(io.MultiReader(bytes.NewReader(header), check))
	if err == nil {
		r.Close()
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
