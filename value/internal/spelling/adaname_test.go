// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package spelling

import "testing"

// TestAdaName decodes names of GNAT as gdb 13 does.
func TestAdaName(t *testing.T) {
	for encoded, want := range map[string]string{
		"count":                             "count",
		"_ada_main":                         "main",
		"pkg__child__proc":                  "pkg.child.proc",
		"pkg__proc__2":                      "pkg.proc",
		"pkg__proc.12":                      "pkg.proc",
		"pkg__Oadd":                         `pkg."+"`,
		"pkg__One":                          `pkg."/="`,
		"pkg__Oexpon__3":                    `pkg."**"`,
		"Oconcat":                           `"&"`,
		"pkg__workerTKB":                    "pkg.worker",
		"pkg__workerTB":                     "pkg.worker",
		"pkg__helperXn":                     "pkg.helper",
		"pkg__helperX":                      "pkg.helper",
		"pkg__B_4b__local":                  "pkg.local",
		"pkg__item___XVE":                   "pkg.item",
		"system__tasking__ada_task":         "system.tasking.ada_task",
		"_task":                             "<_task>",
		"L107b":                             "<L107b>",
		"types__TA109bP1___U":               "<types__TA109bP1___U>",
		"":                                  "<>",
		"__":                                "<__>",
		"a____b":                            "a",
		"X":                                 "<X>",
		"TB":                                "<TB>",
		"pkg__":                             "<pkg__>",
		"B12b":                              "<B12b>",
		"ada__exceptions__exception_traces": "ada.exceptions.exception_traces",
	} {
		if got := Ada(encoded); got != want {
			t.Errorf("%q: %q, expected %q", encoded, got, want)
		}
	}
	for encoded, want := range map[string]string{
		"red": "red", "pkg__red": "red", "Qa": "'a'", "pkg__Q1": "'1'", "QU0a": `'["0a"]'`, "QW20ac": `'["20ac"]'`, "Q": "Q", "__": "__", "": "",
	} {
		if got := AdaLiteral(encoded); got != want {
			t.Errorf("literal %q: %q, expected %q", encoded, got, want)
		}
	}
}

// FuzzAdaName decodes arbitrary names.
func FuzzAdaName(f *testing.F) {
	for _, seed := range []string{"_ada_main", "pkg__Oadd__2", "pkg__workerTKB", "B_4b__x", "____", "QU0a", "X__b.1$2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, encoded string) {
		if name := Ada(encoded); name == "" || len(name) > len(encoded)+2 {
			t.Errorf("%q: %q", encoded, name)
		}
		AdaLiteral(encoded)
	})
}
