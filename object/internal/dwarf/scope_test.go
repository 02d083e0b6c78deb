// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"testing"

	"github.com/clewdev/clew/internal/dw"
)

// TestHasScopes checks that functions of every version of C++ have scopes, and those of C
// do not.
func TestHasScopes(t *testing.T) {
	for language, want := range map[uint64]bool{
		dw.LangCPlusPlus: true, dw.LangCPlusPlus03: true, dw.LangCPlusPlus11: true, dw.LangCPlusPlus14: true,
		dw.LangCPlusPlus17: true, dw.LangCPlusPlus20: true, dw.LangCPlusPlus23: true, dw.LangC99: false, dw.LangC23: false,
	} {
		if hasScopes(language) != want {
			t.Errorf("hasScopes(%#x) = %t", language, !want)
		}
	}
}
