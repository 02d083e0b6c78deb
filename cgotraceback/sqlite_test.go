// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package cgotraceback_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// buildSQLite builds a program that uses Debian's SQLite.
func buildSQLite(t *testing.T) string {
	t.Helper()
	testprogram.RequireTool(t, "gcc")
	if _, err := os.Stat("/usr/include/sqlite3.h"); err != nil {
		t.Skip("skipped: libsqlite3-dev is not installed")
	}
	path := filepath.Join(t.TempDir(), "sqlite")
	cmd := exec.Command("go", "build", "-o", path, "./testdata/sqlite")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	run(t, cmd)
	return path
}

// TestSQLite profiles SQLite under load. Each sample in it leads to the Go function that called it.
func TestSQLite(t *testing.T) {
	p, c := profiled(t, exec.Command(buildSQLite(t)))
	// While a callback begins or ends, cgo's wrapper and a switch of stacks come in between.
	called := regexp.MustCompile(`query( _cgo_\w+)?( runtime\.(systemstack_switch|asmcgocall\S*))* runtime\.cgocall `)
	inside, whole := 0, 0
	for _, names := range p {
		all := strings.Join(names, " ")
		if i := strings.Index(all, "sqlite3_step"); i >= 0 {
			inside++
			if called.MatchString(all[i:]) && strings.Contains(all, "main.load") {
				whole++
			} else {
				t.Errorf("a sample with missing frames: %q", names)
			}
		}
	}
	if inside < 5 {
		t.Errorf("%d of %d samples are in sqlite3_step", inside, len(p))
	}
	t.Logf("%d of %d samples in sqlite3_step, %+v", inside, len(p), c)
	if c.Cut() > c.Walks/50 {
		t.Errorf("%d of %d walks were cut: %+v", c.Cut(), c.Walks, c)
	}
}
