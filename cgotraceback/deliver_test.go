// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package cgotraceback_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// deliveries returns the number of signals of a test.
func deliveries() int {
	if sample.Full() {
		return 10_000_000
	}
	return 50_000
}

// delivered runs a program that delivers n signals while a profile is taken, and returns what
// it prints.
func delivered(t *testing.T, path string, args ...string) string {
	t.Helper()
	limit := 2 * time.Minute
	if sample.Full() {
		limit = time.Hour
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "NAMES_ONLY=1")
	var text strings.Builder
	cmd.Stderr = &text
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v:\n%.3000s", err, &text)
	}
	return text.String()
}

// TestDeliveries delivers SIGPROF to threads that run C and C++ code: longjmp, a C++ exception
// in flight, a signal on the alternate stack, code without call frame information, a stack that
// is overwritten; called from Go, from a C thread that called Go, and in a C thread. The frames
// of each walk must be those that stepping through the same code has shown there. The reference
// itself is compared with the calls that were seen.
func TestDeliveries(t *testing.T) {
	n := deliveries()
	out := delivered(t, build(t, nil), "deliver", strconv.Itoa(n))
	var steps, mistaken, all, compared, unknown, outside, wrong int
	if _, err := fmt.Sscanf(out, "%d steps, %d mistaken\n%d deliveries, %d compared, %d unknown, %d outside, %d wrong",
		&steps, &mistaken, &all, &compared, &unknown, &outside, &wrong); err != nil {
		t.Fatalf("%v:\n%.3000s", err, out)
	}
	t.Log(out)
	if steps < 10000 || mistaken > steps/100 {
		t.Errorf("%d of %d walks at each step are not what the calls say", mistaken, steps)
	}
	if all < n || wrong != 0 || compared < all*9/10 {
		t.Errorf("%d deliveries, of which %d walks are wrong, and %d equal the reference", all, wrong, compared)
	}
}

// TestDeliveriesInSQLite delivers SIGPROF in a function that SQLite calls.
func TestDeliveriesInSQLite(t *testing.T) {
	testprogram.RequireTool(t, "gcc")
	if _, err := os.Stat("/usr/include/sqlite3.h"); err != nil {
		t.Skip("skipped: libsqlite3-dev is not installed")
	}
	path := filepath.Join(t.TempDir(), "sqlite")
	cmd := exec.Command("go", "build", "-o", path, "./testdata/sqlite")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	run(t, cmd)
	n := deliveries() / 10
	out := delivered(t, path, strconv.Itoa(n))
	_, after, _ := strings.Cut("\n"+out, "\n")
	var all, wrong int
	if _, err := fmt.Sscanf(after, "%d deliveries, %d wrong", &all, &wrong); err != nil {
		t.Fatalf("%v:\n%.3000s", err, out)
	}
	t.Log(out)
	if all < n || wrong != 0 {
		t.Errorf("%d deliveries, %d wrong", all, wrong)
	}
}
