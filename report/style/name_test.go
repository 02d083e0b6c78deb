// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package style_test

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/report/style"
)

func TestDemangle(t *testing.T) {
	for symbol, want := range map[string]string{
		"main":                             "main",
		"_start":                           "_start",
		"_Z":                               "_Z",
		"_Z3fooi":                          "foo(int)",
		"_Z3fooi@plt":                      "foo(int)@plt",
		"_ZN3Bar3bazEv@@V1":                "Bar::baz()@@V1",
		"_Z3fooi.cold":                     "foo(int) [clone .cold]",
		"_RNvC6_123foo3bar":                "123foo::bar",
		"__ZN3BarD1Ev":                     "__ZN3BarD1Ev",
		"_ZZZZ":                            "_ZZZZ",
		"_D3app1d1C6__ctorMFiZCQuQsQs@plt": "app.d.C.this(int)@plt",
		"_DYNAMIC":                         "_DYNAMIC",
		"":                                 "",
		"_Z" + strings.Repeat("a", 1<<20):  "_Z" + strings.Repeat("a", 1<<20),
		"github.com/clewdev/clew/cfi.init": "github.com/clewdev/clew/cfi.init",
	} {
		if got := style.Demangle(symbol); got != want {
			t.Errorf("%.40q: %.80q, want %.80q", symbol, got, want)
		}
	}
}

func TestPattern(t *testing.T) {
	for _, test := range []struct {
		pattern, symbol string
		want            bool
	}{
		{"main", "main", true},
		{"main", "domain", false},
		{"*main", "domain", true},
		{"ma?n", "main", true},
		{"ma?n", "man", false},
		{"puts", "puts@plt", true},
		{"foo", "_Z3fooi", true},
		{"foo(int)", "_Z3fooi", true},
		{"foo(long)", "_Z3fooi", false},
		{"_Z3fooi", "_Z3fooi", true},
		{"Bar::*", "_ZN3Bar3bazEv", true},
		{"operator*", "_ZplRK3BarS1_", true}, // a glob: every operator
		{"operator+", "_ZplRK3BarS1_", true},
		{"", "", false},
		{"*", "", false},
		{strings.Repeat("*a", 500) + "b", strings.Repeat("a", 5000), false},
	} {
		if got := style.NewPattern(test.pattern).Match(test.symbol); got != test.want {
			t.Errorf("%.40q matches %.40q: %v", test.pattern, test.symbol, got)
		}
	}
}
