// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import "testing"

func TestDecimal(t *testing.T) {
	for text, want := range map[string]int{"12\x00": 12, ".\x00": 0, "..\x00": 0, "1x\x00": 0, "": 0, "99999999999999999999\x00": 0} {
		if got := decimal([]byte(text)); got != want {
			t.Errorf("%q: %d, expected %d", text, got, want)
		}
	}
}
