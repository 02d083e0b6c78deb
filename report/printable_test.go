// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import "testing"

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain":         "plain",
		"tab\tstays":    "tab\tstays",
		"\x1b[31mred":   `\x1b[31mred`,
		"line\nend\r":   `line\nend\r`,
		"grün":          "grün",
		"\xff":          `\xff`,
		"del\x7f":       `del\x7f`,
		"c1\u009b":      `c1\u009b`,
		"\u202eback":    `\u202eback`,
		"\uFFFD":        "\uFFFD",
		"back\\slash\"": "back\\slash\"",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := string(appendPrintable([]byte("\x1b"), []byte(text))); got != "\x1b"+want {
			t.Errorf("%q appended: %q, want %q", text, got, want)
		}
	}
}
