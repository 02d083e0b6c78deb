// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"strings"
	"testing"
)

func TestShort(t *testing.T) {
	text := "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	for name, want := range map[string]string{
		"int":            "int",
		text:             "std::string",
		text + " const*": "std::string const*",
		"std::basic_string_view<wchar_t, std::char_traits<wchar_t> >": "std::wstring_view",
		"std::vector<" + text + ", std::allocator<" + text + " > >":   "std::vector<std::string>",
		"std::map<int, std::vector<int, std::allocator<int> >, std::less<int>, std::allocator<std::pair<int const, std::vector<int, std::allocator<int> > > > >": "std::map<int, std::vector<int>>",
		"std::vector<int, arena>":                 "std::vector<int, arena>",
		"mine::holder<int, std::allocator<int> >": "mine::holder<int, std::allocator<int>>",
		"std::function<void (int, char)>":         "std::function<void (int, char)>",
		"operator<":                               "operator<",
		"std::array<int, (3 > 2)>":                "std::array<int, (3 > 2)>",
		"std::vector<int":                         "std::vector<int",
	} {
		if got := short(name); got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
	deep := strings.Repeat("std::vector<", 50_000) + "int" + strings.Repeat(">", 50_000)
	if short(deep) != deep {
		t.Error("a name of 600 KB was shortened")
	}
}
