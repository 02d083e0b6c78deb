// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region_test

import (
	"runtime"
	"testing"

	"github.com/clewdev/clew/region"
)

// The largest states, in the largest number of rows and labels: a hostile process can
// contain such a description.
func TestLargest(t *testing.T) {
	regions := make([]*region.Region, 0, 1<<14)
	first := &region.Region{Count: 128}
	for column := range uint64(128) {
		if column != rsp && column != rip {
			first.Ops = append(first.Ops, region.SpillSPRel(int32(column), column, -16-8*int64(column)))
		}
	}
	first.Ops = append(first.Ops, region.LabelState(1<<32))
	regions = append(regions, first)
	for n := range uint64(5000) {
		regions = append(regions, ops(1,
			region.CopyState(1<<32),
			region.SpillSPRel(0, 127, -16-8*127-8*int64(n%2)),
			region.LabelState(n)))
	}
	p := procedure(1<<20, regions...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	program, err := p.Program(amd64)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if program.End == 0 {
		t.Error("no rows")
	}
	// All allocations count, so that the result does not depend on the garbage collector.
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}
