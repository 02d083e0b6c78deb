// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"os"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
)

// small returns the debugging information of a small program in C.
func small(tb testing.TB) *value.Info {
	tb.Helper()
	data, err := os.ReadFile("../testdata/small5.elf")
	if err != nil {
		tb.Fatal(err)
	}
	file, err := object.NewFile(data, "small5.elf")
	if err != nil {
		tb.Fatal(err)
	}
	info, err := value.Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	return info
}

// filled is memory whose bytes are all 0x41.
type filled struct{}

func (filled) ReadMemory(p []byte, address uint64) error {
	for i := range p {
		p[i] = 0x41
	}
	return nil
}

// BenchmarkPrint prints a structure of six members.
func BenchmarkPrint(b *testing.B) {
	info := small(b)
	v, err := info.Global("first", 0)
	if err != nil {
		b.Fatal(err)
	}
	f := value.Static(filled{}, info, 0)
	var p Printer
	b.ReportAllocs()
	for b.Loop() {
		p.Variable(v, f)
	}
}
