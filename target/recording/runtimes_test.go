// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package recording

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// Generated functions of seven runtimes have names in stacks, and are walked
// through.
func TestRuntimes(t *testing.T) {
	perf := testprogram.RequireTool(t, "perf")
	for _, runtime := range testprogram.Runtimes() {
		if strings.HasSuffix(runtime.Name, " list") {
			continue // which is in memory, and no recording has it
		}
		if runtime.Name == "forth map" {
			// Its code keeps no frame pointer, and a map has no unwind tables: callers
			// are left out up to the one that keeps one.
			runtime.Stack = runtime.Stack[:1]
		}
		t.Run(runtime.Name, func(t *testing.T) {
			p := runtime.Start(t)
			path := filepath.Join(t.TempDir(), "perf.data")
			record := exec.Command(perf, "record", "-q", "-k", "mono", "-F", "499", "-e", "cpu-clock", "--call-graph", "dwarf,8192",
				"-o", path, "-p", strconv.Itoa(p.PID), "--", "sleep", "0.3")
			if out, err := record.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", record, err, out)
			}
			rec, samples := readAll(t, path, Options{Lines: true})
			// Without a frame pointer, a map has not what leads on, and the jitdump of
			// this runtime has no unwind table.
			bare := strings.HasPrefix(runtime.Name, "php ")
			named, through := 0, 0
			for i := range samples {
				var names []string
				for k := range samples[i].frames {
					f := &samples[i].frames[k]
					if f.Kind == JIT {
						names = append(names, f.Symbol.Name)
					}
				}
				if follow(names, runtime.Stack) {
					named++
					switch end := samples[i].End; {
					case end == Whole:
						through++
					case !bare && end != Cut:
						t.Errorf("after %q: %v\n%s", runtime.Stack, end, sideBySide(&samples[i], &scriptSample{}))
					}
				}
			}
			t.Logf("%d samples, %d with %q, %d of them whole; %q", len(samples), named, runtime.Stack, through, rec.Notes)
			if !bare && through < named/2 {
				t.Errorf("%d of %d stacks are whole", through, named)
			}
			// The others are in the runtime itself, and still have callers of them.
			if named < len(samples)/3 || named == 0 {
				t.Errorf("%d of %d samples have %q", named, len(samples), runtime.Stack)
				for i := range min(len(samples), 2) {
					t.Log(sideBySide(&samples[i], &scriptSample{}), samples[i].End)
				}
			}
		})
	}
}

// follow reports whether names that hold some strings follow each other.
func follow(names, want []string) bool {
	for at := range names {
		if len(names)-at >= len(want) && holds(names[at:], want) {
			return true
		}
	}
	return false
}

// holds reports whether the first names hold some strings.
func holds(names, want []string) bool {
	for i := range want {
		if !strings.Contains(names[i], want[i]) {
			return false
		}
	}
	return true
}
