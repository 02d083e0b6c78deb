// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// Nearly everything is decided in the libraries of C and C++, and hardly a function has a
// finding: those of libgcc, libc and ld.so that replace their frame, and _dl_runtime_profile,
// with an adjustment of the CFA that should have the other sign.
// The printf functions of libc, with jump tables of unknown length, are 2% of its instructions.
func TestLibraries(t *testing.T) {
	arm64 := testprogram.Emulations["arm64"]
	for _, directory := range []string{"/usr/lib/x86_64-linux-gnu", arm64.Root() + "/lib"} {
		t.Run(directory, func(t *testing.T) {
			var all Counters
			for _, name := range []string{"libc.so.6", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1"} {
				f, err := object.Open(directory + "/" + name)
				if err != nil {
					t.Skipf("skipped: %s is not installed", name)
				}
				r, err := File(f, Options{})
				f.Close()
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: %d of %d functions defective, %d of %d instructions undecided", name, r.Defective, r.Functions, r.Undecided, r.Instructions)
				all.Add(&r.Counters)
			}
			if all.Defective*1000 > all.Functions*3 {
				t.Errorf("%d of %d functions have findings", all.Defective, all.Functions)
			}
			// What does not rest on a guess.
			other := all.Undecided - all.Reasons[Guessed] - all.Reasons[MayNotReturn] - all.Reasons[OpenJump]
			if other*1000 > all.Instructions*15 || all.Undecided*1000 > all.Instructions*20 || (all.Functions-all.Decided)*1000 > all.Functions*15 {
				t.Errorf("%+v", all)
			}
		})
	}
}
