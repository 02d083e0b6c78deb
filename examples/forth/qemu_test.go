// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package forth_test

import (
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// TestARM64 runs the package's tests for arm64 under qemu, except those of tables, which are the
// same here, and those that run tools. scripts/test-arm64 runs most of them on a kernel for
// arm64, so that three a day suffice here.
func TestARM64(t *testing.T) {
	testprogram.PassOnARM64(t, "", sample.Of(t, []string{
		"TestPrograms", "TestCall", "TestFaults", "TestInterpreterAgrees", "TestRandomPrograms", "TestPublish",
		"TestBesideCollections", "TestPause", "TestProfiled", "Example",
	}, 3)...)
}
