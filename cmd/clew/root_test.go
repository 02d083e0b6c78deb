// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// A plain go build makes a static program, also where there is a C compiler:
// none of the packages that then use cgo is a part of the command.
func TestNoCgo(t *testing.T) {
	testprogram.RequireTool(t, "go")
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=1", "GOOS=linux")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.String())
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, "os") {
		t.Fatalf("%v lists %q", cmd, packages)
	}
	for _, unwanted := range []string{"net", "os/user", "plugin", "runtime/cgo"} {
		if slices.Contains(packages, unwanted) {
			t.Errorf("clew depends on %s: 'go mod why' or 'go list -deps -json' says by whom", unwanted)
		}
	}
}
