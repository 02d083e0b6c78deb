// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cgotraceback_test

import (
	"sync"
	"testing"

	"github.com/clewdev/clew/cgotraceback"
)

// TestPrepare calls the functions of the package at the same time.
func TestPrepare(t *testing.T) {
	if !cgotraceback.Active() {
		t.Skip("skipped: cgo is not available")
	}
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			cgotraceback.Configure(cgotraceback.Options{MaxFrames: i})
			if err := cgotraceback.Prepare(); err != nil {
				t.Error(err)
			}
			if c := cgotraceback.ReadCounters(); c.TableMemory == 0 || c.Cut() > c.Walks {
				t.Errorf("%+v", c)
			}
		})
	}
	wait.Wait()
}
