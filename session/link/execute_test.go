// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"errors"
	"strings"
	"testing"
)

const farAway = 0x7e0012340000

// addCode is a function that adds its two arguments, for both machines.
const addSource = `add.c
int host_add(int a, int b) { return a + b; }
`

var smallFlags = []string{
	"-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fPIC", "-O2 -fPIE", "-O0 -fPIC -g", "-O2 -fno-pic", "-O0 -fno-pic -g",
	"-O2 -ffunction-sections -fdata-sections", "-O2 -g -gz", "-O2 -gdwarf-4", "-O2 -DCOMMON -fcommon", "-O2 -fno-plt -fPIC",
	"-O2 -fno-asynchronous-unwind-tables",
}

var fewFlags = []string{"-O0 -fPIC -g", "-O2", "-O2 -fno-pic", "-O2 -ffunction-sections -fdata-sections", "-O2 -fno-plt -fPIC"}

// TestExecute runs code of many kinds, with a function that it imports far away.
func TestExecute(t *testing.T) {
	for _, tt := range []struct {
		m        *machine
		compiler string
		flags    []string
	}{
		{&amd64, "gcc", append(smallFlags, "-O2 -mcmodel=medium", "-O2 -mcmodel=large -fno-pic", "-O2 -mcmodel=large -fPIC", "-O2 -mcmodel=medium -mlarge-data-threshold=1 -fPIC", "-O2 -mcmodel=medium -mlarge-data-threshold=1 -fno-pic")},
		{&amd64, "clang", append(fewFlags, "-O2 -mcmodel=large -fno-pic")},
		{&arm64, "aarch64-linux-gnu-gcc", append(smallFlags, "-O2 -fpic", "-O2 -mcmodel=tiny -fno-pic", "-O2 -mcmodel=large -fno-pic")},
		{&arm64, "clang --target=aarch64-linux-gnu", append(fewFlags, "-O2 -mcmodel=large -fno-pic")},
	} {
		if !compiled(tt.m) {
			continue
		}
		for _, flags := range few(t, tt.flags, 3) {
			t.Run(tt.compiler+" "+flags, func(t *testing.T) {
				add := compile(t, tt.compiler, addSource, "-O2")
				imported, err := at(t, tt.m, farAway+1<<36, nil, add)
				if err != nil {
					t.Fatal(err)
				}
				address := imported.symbol(t, "host_add")
				resolve := func(name string) (uint64, bool) { return address, name == "host_add" }
				path := compile(t, tt.compiler, "small.c", strings.Fields(flags)...)
				programs := []linked{{}, imported}
				programs[0], err = at(t, tt.m, farAway, resolve, path)
				if errors.Is(err, ErrOverflow) && strings.Contains(flags, "-fno-pic") {
					// It needs the address of the imported function in 32 bits.
					programs = programs[:1]
					programs[0], err = at(t, tt.m, farAway, nil, path, add)
				}
				if err != nil {
					t.Fatal(err)
				}
				if got, want := execute(t, programs, programs[0].symbol(t, "test")), "240388683014"; got != want {
					t.Errorf("%q, want %q", got, want)
				}
			})
		}
	}
}
