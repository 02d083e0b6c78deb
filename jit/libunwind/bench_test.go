// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind_test

import (
	"testing"

	"github.com/clewdev/clew/jit/libunwind"
	"github.com/clewdev/clew/region"
)

func BenchmarkRead(b *testing.B) {
	e := libunwind.Encoder{Machine: amd64, Address: 0x8000}
	r := &region.Region{Count: 4, Ops: []region.Op{region.Add(0, 7, -8), region.SpillSPRel(0, 6, 0), region.SaveReg(3, 7, 6)}}
	var infos []uint64
	for i := range uint64(1000) {
		at, err := e.Info(&libunwind.Info{Start: i * 64, End: i*64 + 64, Procedure: &region.Procedure{Name: "procedure", Regions: r}})
		if err != nil {
			b.Fatal(err)
		}
		infos = append(infos, at)
	}
	head := e.List(1, 1, infos...)
	e.Data = append(e.Data, make([]byte, 64)...) // names are read in pieces of 64 bytes
	m := memory{0x8000: e.Data}
	b.SetBytes(int64(len(e.Data)))
	b.ReportAllocs()
	for b.Loop() {
		if l, err := libunwind.Read(amd64, m, head); err != nil || len(l.Infos) != 1000 {
			b.Fatal(err)
		}
	}
}
