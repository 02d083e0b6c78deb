// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// The package works in programs of every build mode.
func TestBuilds(t *testing.T) {
	if testing.Short() && runtime.GOARCH == "amd64" {
		return // it takes a minute
	}
	type build struct {
		name, cgo string
		flags     []string
	}
	testprogram.RequireTool(t, "go")
	testprogram.RequireTool(t, "gcc")
	builds := []build{
		{"without cgo", "0", nil},
		{"with cgo", "1", nil},
		{"race", "1", []string{"-race"}},
		{"pie", "0", []string{"-buildmode=pie"}},
		{"pie with cgo", "1", []string{"-buildmode=pie"}},
	}
	if !testing.Short() { // scripts/test-arm64 chooses by name
		builds = sample.Of(t, builds, 1)
	}
	for _, tt := range builds {
		t.Run(tt.name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "session.test")
			build := exec.Command("go", append(append([]string{"test", "-c", "-vet=off", "-o", program}, tt.flags...), ".")...)
			build.Env = append(os.Environ(), "CGO_ENABLED="+tt.cgo)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			run := exec.Command(program, "-test.short", "-test.run=^Test(Call.*|States|Host.*|Breakpoint.*|SessionsOverOneImage|Watchpoint|"+
				"FaultsOfProcessor|StackGuard|Fork|ExitOfProcess|KilledFromOutside|SessionsInARow|SessionsAtOnce|NoWorkerSurvives|Locked|GuardedMemory)$")
			run.Env = append(os.Environ(), "GOGC=5")
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
