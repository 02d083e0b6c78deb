// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
)

// generatedParts returns the results for the generated code of a process.
func generatedParts(t *testing.T, pid int) (list []*Result) {
	t.Helper()
	s, err := process.Snapshot(pid, nil)
	if err != nil {
		t.Fatal(err)
	}
	objects := stack.NewObjects(s)
	t.Cleanup(func() { objects.Close() })
	parts, err := Target(objects)
	if err != nil {
		t.Log(err)
	}
	parts = slices.DeleteFunc(parts, func(p *Part) bool { return p.Generated == generated.None })
	for r := range new(Survey).Check(parts) {
		if r.Failed {
			t.Error(r.Err)
		}
		list = append(list, r)
	}
	return list
}

// Known defects of real runtimes are found in their generated code, and no others. (Findings of
// php are in the handlers of its JIT, which release 8 bytes before ret, and those of node after
// pop %rcx of the return address.)
func TestRuntimes(t *testing.T) {
	type expected struct {
		functions, agree int // at least
		findings         func(f *check.Finding) bool
		problem          string
	}
	none := func(*check.Finding) bool { return false }
	php := func(f *check.Finding) bool {
		return f.Kind == check.WrongCFA && strings.HasPrefix(f.Name, "JIT$$") && f.Fix == ".cfi_def_cfa_offset 8"
	}
	v8 := func(f *check.Finding) bool {
		return f.Kind == check.WrongCFA && strings.HasPrefix(f.Name, "JS:*") && f.Expected == "CFA = rsp+0"
	}
	want := map[string]expected{
		"php list: GDB JIT list":          {20, 100, php, ""},
		"php jitdump: jitdump":            {0, 0, none, "none of its functions"},
		"node jitdump: jitdump":           {0, 0, none, "none of its functions"},
		"node optimized jitdump: jitdump": {1, 1, v8, "functions have no unwind table"},
		"lli list: GDB JIT list":          {3, 20, none, ""},
		"lli jitdump: GDB JIT list":       {3, 20, none, ""},
		"lli list: jitdump":               {0, 0, none, "none of its functions"},
		"lli jitdump: jitdump":            {0, 0, none, "none of its functions"},
		"forth list: GDB JIT list":        {4, 100, none, ""},
		"forth jitdump: GDB JIT list":     {4, 100, none, ""},
		"forth jitdump: jitdump":          {4, 100, none, ""},
	}
	for _, test := range testprogram.Runtimes() {
		if strings.HasSuffix(test.Name, " map") {
			continue
		}
		t.Run(test.Name, func(t *testing.T) {
			for _, r := range generatedParts(t, test.Start(t).PID) {
				w, ok := want[test.Name+": "+r.Generated.String()]
				if !ok {
					t.Errorf("code of a %v", r.Generated)
					continue
				}
				if r.Functions < w.functions || r.Agree < w.agree {
					t.Errorf("%v: %+v", r.Generated, r.Counters)
				}
				if w.problem == "" && r.Err != nil || w.problem != "" && (r.Err == nil || !strings.Contains(r.Err.Error(), w.problem)) {
					t.Errorf("%v: %v, want %q", r.Generated, r.Err, w.problem)
				}
				for i := range r.Findings {
					if f := &r.Findings[i]; !w.findings(f) {
						t.Errorf("%v: %s: %v", r.Generated, f.Name, f)
					}
				}
				t.Logf("%s (%s): %d findings, %+v", r.Name, r.Key, len(r.Findings), r.Counters)
			}
		})
	}
}

// Code is checked that a command has withdrawn before it ends, as php does.
func TestCollector(t *testing.T) {
	php := testprogram.RequireTool(t, "php8.2")
	dir := t.TempDir()
	script, met := filepath.Join(dir, "f.php"), filepath.Join(dir, "met")
	if err := os.WriteFile(script, []byte(`<?php function f($a) { return $a * 2; } for ($t = microtime(true); microtime(true) < $t + 20 && !file_exists($argv[1]);) f(1);`), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(php, "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=1M", "-d", "opcache.jit=1255", "-d", "opcache.jit_debug=0x100", script, met)
	var c Collector
	defer c.Close()
	err := process.Follow(cmd, time.Millisecond, func(s *snapshot.Snapshot, last bool) {
		c.Add(s, last)
		functions := 0
		for _, p := range c.places {
			for _, code := range p.code {
				functions += len(code.functions)
			}
		}
		if functions >= 20 {
			os.WriteFile(met, nil, 0o666) // the program ends
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := c.Parts()
	if err != nil {
		t.Error(err)
	}
	functions, stubs := 0, 0
	for r := range new(Survey).Check(parts) {
		functions += r.Functions
		for i := range r.Findings {
			if strings.HasPrefix(r.Findings[i].Name, "JIT$$assign") && len(r.Findings[i].Around) > 3 {
				stubs++
			}
		}
		t.Logf("%s: %+v, %v", r.Name, r.Counters, r.Err)
	}
	if functions < 20 || stubs == 0 {
		t.Errorf("%d functions, %d findings in stubs of php", functions, stubs)
	}
}
