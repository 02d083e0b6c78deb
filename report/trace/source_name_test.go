// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"testing"

	"github.com/clewdev/clew/value"
)

func TestSourceName(t *testing.T) {
	for _, test := range []struct {
		name, symbol, want string
		language           value.Language
	}{
		{"main", "", "main", value.C},
		{"ns::f", "_ZN2ns1fEi", "ns::f", value.CPlusPlus},
		{"f", "_Z1fi", "f", value.CPlusPlus},
		// The body of a lambda in main, and the method of a class in a function.
		{"operator()", "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()", value.CPlusPlus},
		{"run", "_ZZ5outeriEN5Local3runEd", "outer(int)::Local::run", value.CPlusPlus},
		{"operator()<int>", "_ZZ5outerlENKUlT_E_clIiEEDaS_", "outer(long)::{lambda(auto:1)#1}::operator()<int>", value.CPlusPlus},
		{"ns::Box<long int, 3>::sum", "_ZN2ns3BoxIlLi3EE3sumEl", "ns::Box<long, 3>::sum", value.CPlusPlus},
		{"ns::S::S", "_ZN2ns1SC4Ei", "ns::S::S", value.CPlusPlus},
		{"ns::twice<long int>", "_ZN2ns5twiceIlEET_S1_.constprop.0", "ns::twice<long>", value.CPlusPlus},
		{"ns::Box<i64>::sum", "_ZN2ns3Box3sum17h0123456789abcdefE", "ns::Box<i64>::sum", value.Rust},
		{"go", "_D2dd1S2goMFiZi", "dd.S.go", value.D},
		// glibc's names for linking.
		{"raise", "__GI_raise", "raise", value.C},
	} {
		if got := sourceName(test.name, test.symbol, test.language); got != test.want {
			t.Errorf("%q, %q: %q, expected %q", test.name, test.symbol, got, test.want)
		}
	}
}
