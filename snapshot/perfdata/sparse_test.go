// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package perfdata_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// The IDs of a recording's events are limited by the bytes that the file stores. A tail that
// is a hole adds none.
func TestSparseRecording(t *testing.T) {
	records := newEncoder(orders["little"])
	records.sampleAt(1, 1)
	e := newEncoder(orders["little"])
	b := e.file(records.b, e.features(), timed)
	attrSize, attrs := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
	ids := b[attrs+attrSize-16:]
	binary.LittleEndian.PutUint64(ids, 1<<30)
	binary.LittleEndian.PutUint64(ids[8:], 1<<39)
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skip(err)
	}
	r, err := perfdata.Open(path)
	if !errors.Is(err, perfdata.ErrFormat) {
		t.Errorf("%v", err)
	}
	if r != nil {
		r.Close()
	}
}
