// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package cgotraceback_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

func TestConflict(t *testing.T) {
	testprogram.RequireTool(t, "gcc")
	path := filepath.Join(t.TempDir(), "conflict")
	cmd := exec.Command("go", "build", "-o", path, "./testdata/conflict")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	run(t, cmd)
	if out := output(t, path); !strings.Contains(out, "panic: cgotraceback: another package has already called runtime.SetCgoTraceback, and only one can: remove one of the two imports") {
		t.Error(out)
	}
}

// TestWithoutCgo builds a program without cgo, in which the package does nothing.
func TestWithoutCgo(t *testing.T) {
	cmd := exec.Command("go", "build", "-o", os.DevNull, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	run(t, cmd)
}
