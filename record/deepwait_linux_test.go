// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
)

// The waits of a thread count while it has an event of its own for samples with larger copies.
func TestDeepWaits(t *testing.T) {
	program := testprogram.Build(t, "deepwork.c", "-O2", "-fomit-frame-pointer", "-pthread")
	cmd := exec.Command(program, "500", "1", "100")
	rec, err := record.Run(context.Background(), record.Options{Command: cmd, Wall: true, Frequency: 999})
	if os.Geteuid() != 0 && errors.Is(err, record.ErrRefused) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var slept, ran time.Duration
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		switch names := functions(rec, s); {
		case slices.Contains(names, "nap"):
			slept += time.Duration(s.Weight)
		case slices.Contains(names, "deep"):
			ran += time.Duration(s.Weight)
		}
	}
	if slept < 950*time.Millisecond || ran < 400*time.Millisecond {
		t.Errorf("the thread slept for %v and computed for %v, expected 1 s and 500 ms", slept, ran)
	}
}
