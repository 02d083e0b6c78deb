// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"testing"
	"unicode"
)

// TestVisible finds the characters that are visible and do not affect a terminal.
func TestVisible(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if isVisible(r) && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Join_Control, unicode.Variation_Selector) {
			t.Errorf("%U is shown", r)
		}
	}
	for _, r := range "éπ世😀\u0301" {
		if !isVisible(r) {
			t.Errorf("%U is escaped", r)
		}
	}
}
