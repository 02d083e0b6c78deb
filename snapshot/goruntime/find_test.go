// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// The starts of runtime.forEachGRace, up to its call, in programs of the oldest and the
// newest version.
func TestLoads(t *testing.T) {
	for _, tt := range []struct {
		name string
		find func([]byte, uint64) []uint64
		code string
		at   uint64
		want []uint64 // the length, the list
	}{
		{"amd64, Go 1.18", loadsAMD64, "493b6610 766e 4883ec28 48896c2420 488d6c2420 4889442430 488b0d00e30c00 48894c2410 488b1d1cf40900" +
			"48895c2418 31d2 eb30 4889542408 90 488b08 488b34d3 4889c7 4889f0 4889fa ffd1 488b0d00e30c00", 0x431080, []uint64{0x4ff3a0, 0x4d04c8}},
		{"amd64, Go 1.26", loadsAMD64, "493b6610 7665 55 4889e5 4883ec20 4889442430 90 488b0dadde1200 48894c2410 488b1d31d91000", 0x4484c0, []uint64{0x576388, 0x555e18}},
		{"arm64, Go 1.18", loadsARM64, "900b40f9 f1030091 3f0211eb 09040054 fe0f1df8 fd831ff8 fd2300d1 e01f00f9 810600f0 21000d91 21fcdfc8" +
			"e10f00f9 22050090 42801191 42fcdfc8", 0x409d0, []uint64{0x113340, 0xe4460}},
		{"arm64, a load with an offset", loadsARM64, "810600f0 210840f9 00000094 810600f0 210840f9", 0x409d0, []uint64{0x113010}},
		{"nothing", loadsAMD64, "", 0, nil},
		{"no code", loadsARM64, "ffffffffff", 0, nil},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(tt.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := tt.find(code, tt.at); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %#x, expected %#x", tt.name, got, tt.want)
		}
	}
}
