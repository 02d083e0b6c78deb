// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"testing"

	"github.com/clewdev/clew/unwind"
)

// FrameRegisters have the same values as the Registers that they were made of.
func TestKept(t *testing.T) {
	for _, columns := range [][]uint64{nil, {0}, {63}, {64}, {127}, {0, 6, 7, 16, 63, 64, 65, 126, 127}, {49, 58, 59}} {
		var r unwind.Registers
		for i, column := range columns {
			r.Set(column, uint64(1000+i))
		}
		want := r
		kept := r.Kept()
		if kept == nil {
			t.Errorf("%d: nil, which means no registers", columns)
		}
		for column := range uint64(unwind.MaxColumns) {
			r.Set(column, 1)
		}
		for column := range uint64(unwind.MaxColumns + 2) {
			v, ok := want.Get(column)
			if got, known := kept.Get(column); got != v || known != ok {
				t.Errorf("%d: column %d is %d, %t, and %d, %t was kept", columns, column, v, ok, got, known)
			}
		}
	}
	if v, ok := unwind.FrameRegisters(nil).Get(7); ok {
		t.Errorf("nil has %d", v)
	}
}
