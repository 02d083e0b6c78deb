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
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/sample"
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
// of each walk must be those that stepping through the same code has shown there.
//
// At each step the walk must have the calls that were seen, no more and no less. It may differ only
// where longjmp and libgcc's unwinder replace return addresses and registers.
func TestDeliveries(t *testing.T) {
	n := deliveries()
	out := delivered(t, build(t, nil), "deliver", strconv.Itoa(n))
	for _, line := range regexp.MustCompile(`(?m)^mistaken.*`).FindAllString(out, -1) {
		if !strings.Contains(line, " in longjmp at ") && !strings.Contains(line, "/libgcc_s.so") {
			t.Error(line)
		}
	}
	counts := regexp.MustCompile(`(?m)^\d+ (steps|deliveries), .*`).FindAllString(out, -1)
	text := strings.Join(counts, "\n")
	var steps, mistaken, all, compared, unknown, outside, wrong int
	if _, err := fmt.Sscanf(text, "%d steps, %d mistaken\n%d deliveries, %d compared, %d unknown, %d outside, %d wrong",
		&steps, &mistaken, &all, &compared, &unknown, &outside, &wrong); err != nil {
		t.Fatalf("%v:\n%.3000s", err, out)
	}
	t.Log(text)
	if steps < 10000 || mistaken > steps/100 {
		t.Errorf("%d of %d walks at each step are not what the calls say", mistaken, steps)
	}
	if all < n || wrong != 0 || compared < all*9/10 {
		t.Errorf("%d deliveries, of which %d walks are wrong, and %d equal the reference:\n%.3000s", all, wrong, compared, out)
	}
}

// TestDeliveriesInSQLite delivers SIGPROF in a function that SQLite calls. The frames of each walk
// must be those that libgcc finds.
func TestDeliveriesInSQLite(t *testing.T) {
	n := deliveries() / 10
	out := delivered(t, buildSQLite(t), strconv.Itoa(n))
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
