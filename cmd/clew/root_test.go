// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// None of the command's packages uses cgo, so it is a static program even if a C compiler is
// installed.
func TestNoCgo(t *testing.T) {
	testprogram.RequireTool(t, "go")
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", ".")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=1", "GOOS=linux")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.String())
	}
	for _, name := range strings.Fields(string(out)) {
		t.Errorf("clew depends on %s, which uses cgo: 'go mod why' or 'go list -deps -json' shows the importers", name)
	}
}
