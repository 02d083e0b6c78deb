// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package output

import (
	"os"
	"strings"
)

// UTF8 reports whether text in the user's locale is UTF-8 (POSIX, Base Definitions §8.2,
// Internationalization Variables).
func UTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := os.Getenv(name); locale != "" {
			_, codeset, _ := strings.Cut(locale, ".")
			codeset, _, _ = strings.Cut(codeset, "@")
			return strings.EqualFold(strings.ReplaceAll(codeset, "-", ""), "utf8")
		}
	}
	return false
}
