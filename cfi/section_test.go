// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"sync"
	"testing"

	"github.com/clewdev/clew/cfi"
)

// Several goroutines read a section at once, under the race detector.
func TestSectionIsShared(t *testing.T) {
	for _, real := range realSections(t) {
		s := like(real, real.Data)
		var readers sync.WaitGroup
		counts := make([]int, 4)
		for i := range counts {
			readers.Go(func() {
				var x cfi.Interpreter
				for f := range s.FDEs() {
					for range x.Rows(f) {
						counts[i]++
					}
				}
			})
		}
		readers.Wait()
		for _, n := range counts {
			if n != counts[0] || n == 0 {
				t.Errorf("%s of %s: %d rows", s.Name, s.Machine.Name, counts)
			}
		}
	}
}
