// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package style

import (
	"testing"

	"github.com/clewdev/clew/object"
)

var gccgoSymbols = map[string]string{
	"main.main": "main.main",
	"example_0com_1my_x2dpkg_1sub__x.T__x.Gr_u00f6_u00dfe__x": "example.com/my-pkg/sub_x.T_x.Größe_x",
	"main._6256_7uint8..eq":                                   "main.[256]uint8..eq",
	"main.struct_4n_bint32_5..eq":                             "main.struct{n int32}..eq",
	"main.f__1.part.0":                                        "main.f_1",
	"main.x_U0001f600":                                        "main.x\U0001f600",
	"runtime_cgocall":                                         "runtime_cgocall", // a C function
	"runtime_check.isra.0":                                    "runtime_check.isra.0",
	"buffer_1.4711":                                           "buffer_1.4711",
	"main.f_":                                                 "main.f_",
	"main.f_x2":                                               "main.f_x2",
	"main.f_uzzzz":                                            "main.f_uzzzz",
	"main.f_U00110000":                                        "main.f_U00110000",
	"main.f_q":                                                "main.f_q",
	"_ZN4Some5thingEv.constprop.0":                            "Some::thing() [clone .constprop.0]",
	"_ZN4Some5thingEv._omp_fn.0.cold":                         "Some::thing() [clone ._omp_fn.0] [clone .cold]",
}

func TestGccgoNames(t *testing.T) {
	for symbol, want := range gccgoSymbols {
		if got := SymbolName(&object.Symbol{Gccgo: true}, symbol); got != want {
			t.Errorf("%s is %s, expected %s", symbol, got, want)
		}
	}
}

func FuzzGccgoName(f *testing.F) {
	for symbol := range gccgoSymbols {
		f.Add(symbol)
	}
	f.Fuzz(func(t *testing.T, symbol string) {
		if name, ok := DecodeGccgo(symbol); ok && len(name) > len(symbol) {
			t.Errorf("%q is longer than %q", name, symbol)
		}
	})
}
