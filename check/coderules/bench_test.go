// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package coderules

import (
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// functionsOf returns the functions of a library by its call frame information, with a time for
// each: those of libc are like those of musl.
func functionsOf(tb testing.TB, path string) (*object.File, []object.AddressRange) {
	tb.Helper()
	f, err := object.Open(path)
	if err != nil {
		tb.Skipf("skipped: %s is not installed", path)
	}
	tb.Cleanup(func() { f.Close() })
	section, err := f.EHFrame()
	if err != nil {
		tb.Fatal(err)
	}
	var list []object.AddressRange
	for _, r := range section.Index().Ranges() {
		list = append(list, object.AddressRange{Low: r.Start, High: r.End})
	}
	return f, list
}

// BenchmarkRules finds the rules of a function's last byte. The bar for a function that was not
// met before is 50 µs.
func BenchmarkRules(b *testing.B) {
	paths := map[string]string{"amd64": "/usr/lib/x86_64-linux-gnu/libc.so.6"}
	arm64 := testprogram.Emulations["arm64"]
	paths["arm64"] = arm64.Root() + "/lib/libc.so.6"
	for machine, path := range paths {
		for _, again := range []bool{false, true} {
			name := machine + "/new"
			if again {
				name = machine + "/known"
			}
			b.Run(name, func(b *testing.B) {
				f, list := functionsOf(b, path)
				n := 0
				var a *Analyzer
				for b.Loop() {
					if n%len(list) == 0 && (a == nil || !again) {
						a = new(Analyzer)
					}
					r := list[n%len(list)]
					a.Rules(f, r, r.High-1)
					n++
				}
			})
		}
	}
}
