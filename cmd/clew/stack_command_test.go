// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"strings"
	"testing"
)

// The first word of a command line distinguishes the processes in a profile, so it is kept whole.
func TestShortened(t *testing.T) {
	long := "/" + strings.Repeat("d", 58)
	for _, test := range []struct{ line, want string }{
		{"", ""},
		{"server -port 80", "server -port 80"},
		{long + "e", long + "e"},
		{long + "/server", long + "/server"},
		{long + "/server -port 80", long + "/server …"},
		{long + " -port 80", long + " …"},
		{long[1:] + " -port 80", long[1:] + " …"},
		{"server " + long, "server " + long[:52] + "…"},
	} {
		if got := shortened(test.line); got != test.want {
			t.Errorf("%q is shortened to %q, want %q", test.line, got, test.want)
		}
	}
}
