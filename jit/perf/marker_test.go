// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import "testing"

func TestIsMarker(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/jit-4711.dump": true, "jit-1.dump": true, "/tmp/a/jit-1.dump": true,
		"": false, ".dump": false, "/tmp/jit-.dump": false, "/tmp/jit-x.dump": false, "/tmp/jit-1x.dump": false,
		"/tmp/jit-1.dump/a": false, "/tmp/myjit-1.dump": false, "/jit-1/2.dump": false, "/tmp/jit-1.dum": false,
	} {
		if IsMarker(path) != want || IsMarker([]byte(path)) != want {
			t.Errorf("%q: %t", path, !want)
		}
	}
}
