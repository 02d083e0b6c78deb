// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/stack/recording"
	"github.com/clewdev/clew/unwind"
)

// whole returns the share of samples that reach the outermost frame, and logs the others. Samples while
// Go's runtime grows a stack do not count: only memory of the runtime says where the goroutine's stack is.
func whole(t *testing.T, rec *recording.Recording, of string) float64 {
	t.Helper()
	reached, all, grows := uint64(0), uint64(0), uint64(0)
	ends := make(map[string]uint64)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		if filepath.Base(rec.Threads[s.Thread].Process) != of {
			continue
		}
		all += s.Samples
		if s.Reason == unwind.EndOfStack || s.Reason == unwind.CallersMissing {
			reached += s.Samples
			continue
		}
		names := functions(rec, s)
		if strings.HasPrefix(names[len(names)-1], "runtime.morestack") {
			all -= s.Samples
			grows += s.Samples
			continue
		}
		ends[fmt.Sprint(s.Reason, " at ", names[max(0, len(names)-3):])] += s.Samples
	}
	for end, n := range ends {
		t.Logf("%d samples end with %s", n, end)
	}
	t.Logf("%d of %d samples reach the outermost frame; %d more grow a stack", reached, all, grows)
	if all < 20*grows {
		return 0
	}
	return float64(reached) / float64(all)
}

// Samples of Go's runtime, which runs on another stack than its caller, reach the outermost frame of the
// caller, in programs with C code too.
func TestGo(t *testing.T) {
	for _, test := range []struct {
		name  string
		build func() string
	}{
		{"plain", func() string { return testprogram.Build(t, "goshares") }},
		{"cgo", func() string { return testprogram.BuildCgo(t, "goshares") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := test.build()
			rec, err := record.Run(context.Background(), record.Options{Command: exec.Command(path, "1000"), Frequency: 999})
			if err != nil {
				t.Fatal(err)
			}
			if share := whole(t, rec, filepath.Base(path)); share < 0.99 || rec.Samples < 200 {
				t.Errorf("%.1f%% of %d samples reach the outermost frame", 100*share, rec.Samples)
			}
		})
	}
}
