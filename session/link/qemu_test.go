// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package link_test

import (
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// TestLoadARM64 runs TestLoad for arm64, under qemu. scripts/test-arm64 runs it on a kernel for
// arm64, so that one of the two tests a day suffices here.
func TestLoadARM64(t *testing.T) {
	testprogram.PassOnARM64(t, "", sample.Of(t, []string{"TestLoad", "TestLoadMany"}, 1)...)
}
