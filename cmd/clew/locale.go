// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"os"
	"strings"
)

// readsUTF8 reports whether the user's locale says that text is UTF-8 (POSIX, Base
// Definitions §8.2, Internationalization Variables): strings are shown as they are then.
func readsUTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := os.Getenv(name); locale != "" {
			_, codeset, _ := strings.Cut(locale, ".")
			codeset, _, _ = strings.Cut(codeset, "@")
			return strings.EqualFold(strings.ReplaceAll(codeset, "-", ""), "utf8")
		}
	}
	return false
}
