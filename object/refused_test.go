// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func TestCheckBuildID(t *testing.T) {
	const long = "000102030405060708090a0b0c0d0e0f10111213"
	for _, tt := range []struct {
		has, wanted, reason string
	}{
		{"0102", "0102", ""},
		{"0102", "0103", "its build ID is 0102, and 0103 is expected"},
		{"none", "0102", "it has no build ID, and 0102 is expected"},
		// As perf has them.
		{"0102", "0102" + strings.Repeat("00", 18), ""},
		{long + "1415", long, ""},
		{"0102", "0102" + strings.Repeat("00", 17), "its build ID is 0102, and"},
		{long + "1415", long + "15", "its build ID is " + long + "1415, and"},
	} {
		flag := "-Wl,--build-id=none"
		if tt.has != "none" {
			flag = "-Wl,--build-id=0x" + tt.has
		}
		source := write(t, "empty.c", "int main(void) { return 0; }\n")
		run(t, "gcc", flag, "-o", source+".out", source)
		f := open(t, source+".out")
		id, err := hex.DecodeString(tt.wanted)
		if err != nil {
			t.Fatal(err)
		}
		err = f.CheckBuildID("it", id)
		var refused *RefusedError
		if tt.reason == "" && err != nil || tt.reason != "" && (!errors.As(err, &refused) || refused.Path != "it" || !strings.HasPrefix(refused.Reason, tt.reason)) {
			t.Errorf("%s for %s: %v", tt.has, tt.wanted, err)
		}
	}
}
