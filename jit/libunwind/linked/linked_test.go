// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package linked

import (
	"slices"
	"testing"

	"github.com/clewdev/clew/jit"
)

// A program without libunwind publishes nothing, and gets no error.
func TestWithoutLibrary(t *testing.T) {
	p, err := jit.Publish(&jit.Code{Address: 0x10000, Text: make([]byte, 16), Functions: []jit.Function{{Name: "f", Size: 16}}})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(p.Publishers(), "libunwind") || p.Failed() != nil {
		t.Errorf("%v, %v", p.Publishers(), p.Failed())
	}
	if err := p.Withdraw(); err != nil {
		t.Error(err)
	}
}
