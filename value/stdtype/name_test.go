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

func TestClassName(t *testing.T) {
	for mangled, want := range map[string]string{
		"10MyCategory": "MyCategory",
		"N12_GLOBAL__N_121system_error_categoryE": "(anonymous namespace)::system_error_category",
		"NSt3_V214error_categoryE":                "std::_V2::error_category",
		"N2ns1CE":                                 "ns::C",
		"":                                        "",
		"N":                                       "",
		"NE":                                      "",
		"5MyCa":                                   "",
		"99999999999999999999x":                   "",
		"0":                                       "",
		"Z4mainE1C":                               "", // local to a function
		"1CIiE":                                   "", // an instance of a template
		"N2ns1C":                                  "",
	} {
		if got, ok := className(mangled); ok != (want != "") || ok && got != want {
			t.Errorf("%s is %q (%v), expected %q", mangled, got, ok, want)
		}
	}
}

func FuzzClassName(f *testing.F) {
	f.Add("N12_GLOBAL__N_121system_error_categoryE")
	f.Fuzz(func(t *testing.T, mangled string) {
		if name, ok := className(mangled); ok && name == "" {
			t.Errorf("%q has no name", mangled)
		}
	})
}
