// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package sigchld

import "testing"

func TestQuiet(t *testing.T) {
	// changeStopSignals reports whether the flag changed; the test restores it.
	isQuiet := func() bool {
		if changeStopSignals(true) {
			changeStopSignals(false)
			return false
		}
		return true
	}
	if isQuiet() {
		t.Fatal("at the start")
	}
	first, second := Quiet(), Quiet()
	first()
	if !isQuiet() {
		t.Error("not while one still wants it")
	}
	second()
	if isQuiet() {
		t.Error("still")
	}
}
