// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"os"
	"os/exec"
	"path/filepath"
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
				entry := func(name string) uint64 { return addressOf(t, f, name) }
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

// NoReturn knows the functions that are declared noreturn, at their calls and by their start.
func TestNoReturn(t *testing.T) {
	const source = `
__attribute__((noreturn)) void stop(int);
__attribute__((noreturn, noinline)) void spin(int x) { for (;;) __asm__ volatile("" : : "r"(x)); }
__attribute__((noinline)) int plain(int x) { __asm__ volatile("" : "+r"(x)); return x; }
int f(int x)
{
	if (x == 1) stop(x);
	if (x == 2) spin(x);
	return plain(x) + 1;
}
`
	for _, compiler := range []string{"gcc", "clang"} {
		testprogram.RequireTool(t, compiler)
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			dir := t.TempDir()
			path := filepath.Join(dir, "f.c")
			if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			library := filepath.Join(dir, "f.so")
			if out, err := exec.Command(compiler, "-O2", version, "-shared", "-fPIC", "-fvisibility=hidden", "-o", library, path).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			f, err := Open(library)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for name, want := range map[string]bool{"spin": true, "plain": false, "f": false} {
				if known, err := f.NoReturn(addressOf(t, f, name), 1); known != want || err != nil {
					t.Errorf("%s %s: %s: %t, %v", compiler, version, name, known, err)
				}
			}
			// The calls of stop and of spin; that of spin may be a jump.
			names := map[string]bool{}
			s, _ := f.Symbol("f")
			for pc := s.Address; pc <= s.Address+s.Size; pc++ {
				known, err := f.NoReturn(1, pc)
				if err != nil {
					t.Fatal(err)
				}
				if site, ok, _ := f.CallSite(pc); known {
					if !ok {
						t.Errorf("%s %s: no call at %#x", compiler, version, pc)
					}
					if site.Name == "" {
						symbols, _ := f.FindSymbols([]uint64{site.Entry})
						site.Name = symbols[0].Name
					}
					names[site.Name] = true
				}
			}
			if !names["stop"] || names["plain"] {
				t.Errorf("%s %s: %v do not return, want stop", compiler, version, names)
			}
		}
	}
}

// addressOf returns the address of a symbol.
func addressOf(t *testing.T, f *File, name string) uint64 {
	t.Helper()
	s, ok := f.Symbol(name)
	if !ok {
		t.Fatalf("no symbol %s", name)
	}
	return s.Address
}
