// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codeframe

import (
	"encoding/hex"
	"strings"
	"testing"
)

func TestRestored(t *testing.T) {
	for _, test := range []struct {
		name, code string
		column     int
		restored   bool
	}{
		{"ret", "c3", columnRBP, true},
		{"rep ret", "f3c3", columnRBP, true},
		{"ret 16", "c21000", columnRBP, true},
		{"pop others", "5b 415c 415f c3", columnRBP, true},
		{"pop it", "5d c3", columnRBP, false},
		{"pop r12", "415c c3", 12, false},
		{"add", "4883c418 5b c3", columnRBP, true},
		{"leave", "c9 c3", 3, true},
		{"leave, which pops it", "c9 c3", columnRBP, false},
		{"vzeroupper", "c5f877 c3", columnRBP, true},
		{"other code", "31ed c3", columnRBP, false},
		{"a jump", "e900000000", columnRBP, false},
		{"no return", "5b 415c", columnRBP, false},
		{"nothing", "", columnRBP, false},
		{"invalid code", "06 c3", columnRBP, false},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(test.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := Restored(code, test.column); got != test.restored {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
