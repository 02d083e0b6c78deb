// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import "testing"

func TestSourceName(t *testing.T) {
	for _, test := range []struct{ name, symbol, want string }{
		{"main", "", "main"},
		{"ns::f", "_ZN2ns1fEi", "ns::f"},
		{"f", "_Z1fi", "f"},
		// The body of a lambda in main, and the method of a class in a function.
		{"operator()", "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()"},
		{"run", "_ZZ5outeriEN5Local3runEd", "outer(int)::Local::run"},
		{"go", "_D2dd1S2goMFiZi", "dd.S.go"},
		// glibc's names for linking.
		{"raise", "__GI_raise", "raise"},
	} {
		if got := sourceName(test.name, test.symbol); got != test.want {
			t.Errorf("%q, %q: %q, expected %q", test.name, test.symbol, got, test.want)
		}
	}
}
