// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// Live stacks on arm64 lead through the example's generated code too, for each way of
// publishing it. (TestRuntimes has more for amd64.)
func TestForth(t *testing.T) {
	for _, r := range testprogram.Runtimes() {
		if strings.HasPrefix(r.Name, "forth ") {
			t.Run(r.Name, func(t *testing.T) { testLiveRuntime(t, r, r.Start(t).PID) })
		}
	}
}
