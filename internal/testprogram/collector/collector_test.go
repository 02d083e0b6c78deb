// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package collector

import (
	"os/exec"
	"strings"
	"testing"
)

// The collector has the components that the tests need. scripts/test runs this test ahead of the
// others, because building takes a minute.
func TestBuild(t *testing.T) {
	out, err := exec.Command(Build(t), "components").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"name: otlp\n", "name: lines\n", "name: debug\n", "name: otlp_http\n", "name: headers\n"} {
		if !strings.Contains(string(out), name) {
			t.Errorf("no component %q in\n%s", name, out)
		}
	}
}
