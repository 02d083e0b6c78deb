// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/stack/recording"
)

// Of more busy programs than processors, each has its whole time: on a processor, or ready to run.
func TestRunnable(t *testing.T) {
	var pids []int
	for range runtime.NumCPU() + 1 {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		pids = append(pids, cmd.Process.Pid)
	}
	rec, err := record.Run(context.Background(), record.Options{Targets: pids, Wall: true, Duration: time.Second})
	if errors.Is(err, record.ErrRefused) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var total, runnable time.Duration
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		total += time.Duration(s.Weight)
		if functions(rec, s)[0] == recording.RunnableName {
			runnable += time.Duration(s.Weight)
		}
	}
	// At each moment one program at least has no processor.
	want := time.Duration(len(pids)) * rec.Span()
	if total < want*3/4 || total > want*5/4 || runnable < rec.Span()/2 {
		t.Errorf("%d programs have %v, %v of that without a processor, in %v", len(pids), total, runnable, rec.Span())
	}
}
