// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package output

import "testing"

// Text is UTF-8 if the first variable that is set says so.
func TestReadsUTF8(t *testing.T) {
	for _, test := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", false},
		{"", "", "C.UTF-8", true},
		{"", "", "de_DE.utf8@euro", true},
		{"", "", "de_DE.ISO-8859-1", false},
		{"", "C", "C.UTF-8", false},
		{"", "en_US.UTF-8", "C", true},
		{"POSIX", "en_US.UTF-8", "en_US.UTF-8", false},
		{"C.utf8", "C", "C", true},
		{"", "", "UTF-8", false},
	} {
		t.Setenv("LC_ALL", test.all)
		t.Setenv("LC_CTYPE", test.ctype)
		t.Setenv("LANG", test.lang)
		if got := UTF8(); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}
