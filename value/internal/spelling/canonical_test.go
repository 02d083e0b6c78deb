// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package spelling

import "testing"

// TestCanonical converts names of types of gcc and clang to those of gdb.
func TestCanonical(t *testing.T) {
	for name, want := range map[string]string{
		"box":                                  "box",
		"box<long int>":                        "box<long>",
		"box<const char *>":                    "box<char const*>",
		"box<char *const *>":                   "box<char* const*>",
		"box<const ns::q &>":                   "box<ns::q const&>",
		"box<S &&>":                            "box<S&&>",
		"box<(anonymous namespace)::hidden>":   "box<(anonymous namespace)::hidden>",
		"box<const volatile int *>":            "box<int const volatile*>",
		"box<box<const box<unsigned char> > >": "box<box<box<unsigned char> const> >",
		"box<box<int>>":                        "box<box<int> >",
		"in<-3>":                               "in<-3>",
		"un<7UL>":                              "un<7ul>",
		"ki<(Kind)1>":                          "ki<(Kind)1>",
		"so<Sort::Y>":                          "so<Sort::Y>",
		"bo<true>":                             "bo<true>",
		"many<>":                               "many<>",
		"many<unsigned int, long long unsigned int>":                        "many<unsigned int, unsigned long long>",
		"many<const S, S* const>":                                           "many<S const, S* const>",
		"std::map<int, std::pair<const short int, long double> >::iterator": "std::map<int, std::pair<short const, long double> >::iterator",
		"box<int (*)(const E&, long unsigned int)>":                         "box<int (*)(E const&, unsigned long)>",
		"two<const E* (*)(const two<const E&>&)>":                           "two<E const* (*)(two<E const&> const&)>",
		"two<void (&)(const E *)>":                                          "two<void (&)(E const*)>",
		// gdb does not parse these as C++, or does not change them.
		"box<int(int, long int)>":  "box<int(int, long int)>",
		"box<int S::*>":            "box<int S::*>",
		"box<__int128 unsigned>":   "box<__int128 unsigned>",
		"f()::{lambda(int)#1}<x>":  "f()::{lambda(int)#1}<x>",
		"operator<<long int>":      "operator<<long int>",
		"box<":                     "box<",
		"box<int":                  "box<int",
		"box<,>":                   "box<,>",
		"box<int,>":                "box<int,>",
		"box<long>x":               "box<long>x",
		"box<unsigned signed int>": "box<unsigned signed int>",
	} {
		if got := Canonical(name); got != want {
			t.Errorf("%s is %s, expected %s", name, got, want)
		}
	}
}
