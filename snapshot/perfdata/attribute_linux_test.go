// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// Names of events are those of events that perf opens, whether or not this machine has them.
func TestEventByName(t *testing.T) {
	perf, program := testprogram.RequireTool(t, "perf"), testprogram.RequireTool(t, "true")
	names := slices.Concat(hardwareNames, softwareNames, slices.Sorted(maps.Keys(otherNames)))
	for _, cache := range caches {
		for _, event := range slices.Concat(cacheAccesses, cacheMisses) {
			names = append(names, cache+"-"+event)
		}
	}
	attribute := regexp.MustCompile(`(?s)perf_event_attr:\n(.*?)\n---`)
	field := func(attribute, name string) uint64 {
		m := regexp.MustCompile(`(?m)^ *` + name + ` +(\S+)$`).FindStringSubmatch(attribute)
		if m == nil {
			return 0
		}
		n, err := strconv.ParseUint(m[1], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	impossible := 0
	for _, name := range names {
		out, _ := exec.Command(perf, "stat", "-vv", "-e", name, program).CombinedOutput()
		m := attribute.FindStringSubmatch(string(out))
		kind, config, ok := EventByName(name)
		switch {
		case m == nil && kind == 3 && strings.Contains(string(out), "list of valid events"):
			impossible++ // stores of instructions and the like
		case m == nil:
			t.Errorf("%s: %s", name, out)
		case !ok || uint64(kind) != field(m[1], "type") || config != field(m[1], "config"):
			t.Errorf("%s: %d %#x %t, in perf:\n%s", name, kind, config, ok, m[1])
		}
	}
	if impossible > len(caches)*6/2 {
		t.Errorf("perf does not know %d cache events", impossible)
	}
	for _, name := range []string{"", "L1-dcache", "L1-dcache-", "L1-dcache-load", "L1-dcache-prefetchs", "x-loads"} {
		if kind, config, ok := EventByName(name); ok {
			t.Errorf("%q: %d %#x", name, kind, config)
		}
	}
}
