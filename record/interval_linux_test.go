// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/clewdev/clew/stack/recording"
)

// Intervals contain all samples of a recording, and come although nothing runs.
func TestIntervals(t *testing.T) {
	var last Status
	intervals, samples := 0, uint64(0)
	command := exec.Command("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 0.7")
	rest, err := Run(context.Background(), Options{
		Command: command, Frequency: 499, Every: 200 * time.Millisecond, Status: func(s Status) { last = s },
		Interval: func(r *recording.Recording) error {
			intervals++
			samples += r.Samples
			return nil
		},
	})
	if errors.Is(err, ErrRefused) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if samples += rest.Samples; intervals < 3 || samples == 0 || samples != last.Samples {
		t.Errorf("%d intervals with %d of %d samples", intervals, samples, last.Samples)
	}
}

// Intervals begin at multiples of their length, also after a pause.
func TestCut(t *testing.T) {
	o := Options{Every: time.Hour}
	if o.cut(time.Now())() {
		t.Error("an interval ended early")
	}
	cut := o.cut(time.Now().Add(-150 * time.Minute))
	if !cut() || cut() {
		t.Error("expected one interval after a pause")
	}
}
