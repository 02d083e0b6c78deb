// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// startOf matches the runtime's line about the initialisation of a package.
var startOf = regexp.MustCompile(`(?m)^init github\.com/clewdev/clew/(\S+) @.* (\d+) allocs$`)

// Every run pays for the initialisation of packages. Tables are static data, or are made on first
// use.
func TestPackagesStartWithLittle(t *testing.T) {
	const maxAllocations = 24 // a variable of sync.OnceValue has two
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, trace.String())
	}
	packages := startOf.FindAllStringSubmatch(trace.String(), -1)
	if len(packages) == 0 {
		t.Fatalf("no package is initialised:\n%s", trace.String())
	}
	for _, p := range packages {
		if n, err := strconv.Atoi(p[2]); p[1] != "cmd/clew" && (err != nil || n > maxAllocations) {
			t.Errorf("%s: %s allocations before main", p[1], p[2])
		}
	}
}
