// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// events is the output of `go test -json` of Go 1.26, without times, for a package with every
// result, a package that does not build, and one that exits early.
const events = `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/one"}
{"Action":"output","Package":"p","Test":"TestA/one","Output":"    a_test.go:9: skipped: gdb is not installed\n"}
{"Action":"output","Package":"p","Test":"TestA/one","Output":"    --- SKIP: TestA/one (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA/one","Elapsed":0}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:3: needs root\n"}
{"Action":"skip","Package":"p","Test":"TestB","Elapsed":0}
{"Action":"skip","Package":"p","Test":"TestC","Elapsed":0}
{"Action":"fail","Package":"p","Test":"TestD","Elapsed":0}
{"Action":"fail","Package":"p","Elapsed":0.1}
{"ImportPath":"q [q.test]","Action":"build-output","Output":"q/q.go:1:1: expected package\n"}
{"ImportPath":"q [q.test]","Action":"build-fail"}
{"Action":"fail","Package":"q","Elapsed":0,"FailedBuild":"q [q.test]"}
{"Action":"run","Package":"r","Test":"TestExit"}
{"Action":"fail","Package":"r","Test":"TestExit"}
{"Action":"fail","Package":"r","Elapsed":0}
{"Action":"skip","Package":"notests","Elapsed":0}
{"Action":"pass","Package":"s","Test":"TestE","Elapsed":0}
{"Action":"pass","Package":"s","Elapsed":0}
`

const want = `skipped: missing gdb
    p TestA/one
skipped: needs root
    p TestB
skipped: no reason given
    p TestC
2 passed, 3 failed, 3 skipped
`

func TestSummary(t *testing.T) {
	s := new(summary)
	if err := s.add("", strings.NewReader(strings.TrimSpace(events))); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	s.print(&b)
	if b.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", b.String(), want)
	}
}

// Events of several runs are counted together, and their tests are distinguished.
func TestMachines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	if err := os.WriteFile(path, []byte(strings.TrimSpace(events)), 0o644); err != nil {
		t.Fatal(err)
	}
	s := new(summary)
	for _, argument := range []string{path, "arm64=" + path} {
		if err := s.read(argument); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	s.print(&b)
	for _, line := range []string{"    p TestB\n", "    arm64 p TestB\n", "4 passed, 6 failed, 6 skipped\n"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no %q in\n%s", line, b.String())
		}
	}
}

// A test that lacks a tool on one machine is not counted as skipped if it has passed before.
// A test without a reason is counted.
func TestElsewhere(t *testing.T) {
	s := new(summary)
	for _, run := range []struct{ machine, events string }{
		{"", `{"Action":"pass","Package":"p","Test":"TestA/one"}
{"Action":"pass","Package":"p","Test":"TestC"}`},
		{"arm64", strings.TrimSpace(events)},
	} {
		if err := s.add(run.machine, strings.NewReader(run.events)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Elsewhere) != 1 || s.Elsewhere[0].Test != "arm64 p TestA/one" || len(s.Skipped) != 2 {
		t.Errorf("elsewhere %v, skipped %v", s.Elsewhere, s.Skipped)
	}
}

// A test of a tool that refuses this release of Go does not fail CI. Any other
// reason does.
func TestUnsupported(t *testing.T) {
	s := new(summary)
	if err := s.add("", strings.NewReader(`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:9: unsupported: garble does not support go1.27.0\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    a_test.go:9: unsupported: this machine\n"}
{"Action":"skip","Package":"p","Test":"TestB"}`)); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	s.print(&b)
	if len(s.Unsupported) != 1 || len(s.Skipped) != 1 || !strings.Contains(b.String(), "skipped, not counted: unsupported: garble does not support go1.27.0\n    p TestA\n") {
		t.Errorf("unsupported %v, skipped %v, printed\n%s", s.Unsupported, s.Skipped, b.String())
	}
}

func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		summary summary
		ci, ok  bool
	}{
		{summary{Passed: 1}, true, true},
		{summary{}, false, false},
		{summary{Passed: 1, Failed: 1}, false, false},
		{summary{Passed: 1, Skipped: []skip{{"p T", ""}}}, false, true},
		{summary{Passed: 1, Skipped: []skip{{"p T", ""}}}, true, false},
	} {
		if err := test.summary.verdict(test.ci); (err == nil) != test.ok {
			t.Errorf("%+v with ci=%t: %v", test.summary, test.ci, err)
		}
	}
}

func TestNotEvents(t *testing.T) {
	if err := new(summary).add("", strings.NewReader("FAIL\tp [build failed]\n")); err == nil {
		t.Error("no error for a line that is not an event")
	}
}
