// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"strings"
	"testing"
)

// TestThrough resolves names through imports, also such as import each other.
func TestThrough(t *testing.T) {
	imports := []Import{
		{"Ware", "goods::Ware"}, {"store", "goods::storage"}, {"ice", "goods::storage::cold"},
		{"", "people::"}, {"text::", "text::v2::"}, {"a::", "b::"}, {"b::", "a::"}, {"shop::stock", "goods::stock"},
	}
	for name, want := range map[string]string{
		"Ware":            "Ware goods::Ware people::Ware",
		"Ware::State":     "Ware::State goods::Ware::State people::Ware::State",
		"Warehouse":       "Warehouse people::Warehouse",
		"ice::degrees":    "ice::degrees goods::storage::cold::degrees people::ice::degrees",
		"text::taken":     "text::taken people::text::taken text::v2::taken people::text::v2::taken",
		"text::v2::taken": "text::v2::taken people::text::v2::taken",
		"a::x":            "a::x people::a::x b::x people::b::x",
		"shop::stock":     "shop::stock people::shop::stock goods::stock",
	} {
		got := Through([]string{name}, imports)
		for k := 0; k < len(got); k++ {
			if k > 0 && strings.HasPrefix(got[k], "people::goods::") {
				got = append(got[:k], got[k+1:]...)
				k--
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s is %s, expected %s", name, text, want)
		}
	}
	endless := []Import{{"", "a::b::"}, {"", "b::a::"}, {"x", "x::x"}}
	if n := len(Through([]string{"x"}, endless)); n > maxImported+len(endless) {
		t.Errorf("%d names", n)
	}
}
