// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"testing"

	"github.com/clewdev/clew/value/internal/entry"
)

// TestConstantName names numbers by an equal constant, or by constants for their bits.
func TestConstantName(t *testing.T) {
	list := []entry.GoConstant{{Name: "p.none"}, {Name: "p.b", Value: 2}, {Name: "p.a", Value: 1}, {Name: "p.all", Value: 7}, {Name: "p.c", Value: 4}, {Name: "p.minus", Value: -3}, {Name: "p.same", Value: 4}}
	for n, want := range map[int64]string{0: "none", 1: "a", 3: "a|b", 4: "c", 5: "a|c", 7: "all", -3: "minus", 8: "", 9: "", -1: ""} {
		if got := constantName(list, n, "p."); got != want {
			t.Errorf("%d: %q, expected %q", n, got, want)
		}
	}
}

func TestGoPackage(t *testing.T) {
	for name, want := range map[string]string{
		"main.colour": "main", "net/http.ConnState": "net/http", "example.org/a.b/c.T[net/http.X]": "example.org/a.b/c", "int": "", ".param0": "", "": "", "[]main.T": "",
	} {
		if got, _ := goPackage(name); got != want {
			t.Errorf("%q: %q, expected %q", name, got, want)
		}
	}
}
