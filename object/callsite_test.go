// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// The call sites of each compiler in each version of DWARF are those of the program: caller,
// callee, and whether the call returns.
func TestCallSites(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang"} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			t.Run(compiler+" "+version, func(t *testing.T) {
				f, err := Open(testprogram.BuildWith(t, compiler, "tailcall.c", "-O2", version))
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				entry := func(name string) uint64 {
					s, ok := f.Symbol(name)
					if !ok {
						t.Fatalf("no symbol %s", name)
					}
					return s.Address
				}
				end := func(name string) uint64 {
					s, _ := f.Symbol(name)
					return s.Address + s.Size
				}
				// All tail calls of a function.
				for from, to := range map[string][]string{
					"chained": {"linked"}, "linked": {"waiting"}, "ambiguous": {"left", "right"}, "left": {"last"}, "right": {"last"},
					"indirect": {""}, "elsewhere": {"isatty"}, "twice": {}, "waiting": {},
				} {
					calls, ok, err := f.TailCalls(entry(from))
					if !ok || err != nil {
						t.Errorf("%s: %t, %v", from, ok, err)
					}
					var names []string
					for _, c := range calls {
						name := c.Name
						if c.Entry != 0 {
							s, _ := f.FindSymbols([]uint64{c.Entry})
							name = s[0].Name
							if c.Entry != s[0].Address {
								t.Errorf("%s: calls %s+%#x", from, name, c.Entry-s[0].Address)
							}
						}
						names = append(names, name)
						at := c.PC
						if !c.At {
							at--
						}
						if at < entry(from) || at >= end(from) {
							t.Errorf("%s: a tail call at %#x", from, c.PC)
						}
						if c.At != (compiler == "clang" && version == "-gdwarf-5") {
							t.Errorf("%s: At is %t", from, c.At)
						}
					}
					slices.Sort(names)
					if !slices.Equal(names, to) {
						t.Errorf("%s ends with calls of %q, want %q", from, names, to)
					}
				}
				// The two calls that return.
				var found []uint64
				for pc := entry("twice") + 1; pc <= end("twice"); pc++ {
					site, ok, err := f.CallSite(pc)
					if err != nil {
						t.Fatal(err)
					}
					if ok {
						found = append(found, site.Entry)
						if site.PC != pc || site.At {
							t.Errorf("call site %+v for %#x", site, pc)
						}
					}
				}
				if want := []uint64{entry("chained"), entry("ambiguous")}; !slices.Equal(found, want) {
					t.Errorf("calls of %#x, want %#x", found, want)
				}
				if _, ok, _ := f.TailCalls(1); ok {
					t.Error("a function where there is none")
				}
			})
		}
	}
}
