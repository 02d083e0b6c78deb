// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import "testing"

// TestRepetitionsAreOneStep would take half an hour if each repetition were a step. arm64 has no
// such instructions.
func TestRepetitionsAreOneStep(t *testing.T) {
	s := stoppedIn(t, "repeat", 7)
	for _, line := range []int{33, 34, 35, 36} {
		stop, err := s.StepLine()
		check(t, stop, err, SteppedLine)
		at(t, s, "repeat", line)
	}
	stop, err := s.StepLine()
	if check(t, stop, err, Returned).Result != 7 {
		t.Error(stop)
	}
}
