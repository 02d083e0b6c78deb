// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import "strings"

// IsMarker reports whether a mapping of the file at a path is the marker of a jitdump:
// perf takes any file named jit-PID.dump for one.
func IsMarker[T ~string | ~[]byte](path T) bool {
	const prefix, suffix = "jit-", ".dump"
	n := len(path) - len(suffix)
	if n < 0 || string(path[n:]) != suffix {
		return false
	}
	name := string(path[strings.LastIndexByte(string(path), '/')+1 : n])
	digits, ok := strings.CutPrefix(name, prefix)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}
