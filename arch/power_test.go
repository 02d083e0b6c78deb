// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"encoding/hex"
	"strings"
	"testing"
)

func TestPowerKeepsStackPointer(t *testing.T) {
	for _, test := range []struct {
		code  string
		keeps bool
	}{
		{"", true},
		{"7c0802a6 f8010010", true},  // mflr r0; std r0,16(r1)
		{"3860002a 4e800020", true},  // li r3,42; blr
		{"80630000 90610008", true},  // lwz r3,0(r3); stw r3,8(r1)
		{"f821ff91", false},          // stdu r1,-112(r1)
		{"9421fff0", false},          // stwu r1,-16(r1)
		{"7c0802a6 f821ff91", false}, // mflr r0; stdu r1,-112(r1)
		{"38210070", false},          // addi r1,r1,112
		{"e8210000", false},          // ld r1,0(r1)
		{"7d615b78", false},          // mr r1,r11
		{"7c21496a", false},          // stdux r1,r1,r9
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(test.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		m := machine(t, "ppc64")
		if got := m.KeepsStackPointer(code); got != test.keeps {
			t.Errorf("%s: %t", test.code, got)
		}
	}
}
