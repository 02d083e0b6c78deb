// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region_test

import (
	"testing"

	"github.com/clewdev/clew/region"
)

func BenchmarkProgram(b *testing.B) {
	p := procedure(4096,
		ops(8, join(push(0, rbp), one(region.SaveReg(3, rsp, rbp)), push(4, rbx), one(region.Add(7, rsp, -24)))...),
		ops(-4, region.PopFrames(2, 1)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Program(amd64); err != nil {
			b.Fatal(err)
		}
	}
}
