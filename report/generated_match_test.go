// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report_test

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/report"
	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/target/codefile"
)

// A name means the functions that are called so, else those whose names hold it as
// a word, else those that hold it; code before bytecode.
func TestMatchGenerated(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "tmp/perf-1.map")
	const symbols = `90000 10 JS:~spin /src/spin.js:3:14
10000 10 JS:^spin /src/spin.js:3:14
10020 10 JS:*spin /src/spin.js:3:14
10040 10 Eval:^ /src/spin.js:1:1
10060 10 JS:^respin /src/spin.js:5:1
10080 10 TRACE-1$turn$3
100a0 10 fib
100c0 10 JS:^fib /src/spin.js:9:1
90010 10 JS:~cold /src/spin.js:7:1
`
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(symbols), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := &target.Snapshot{PID: 1, Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB), Live: true,
		Mappings: []target.Mapping{{Start: 0x10000, End: 0x20000, Readable: true, Executable: true}},
		Process:  &codefile.Process{Root: root, IDs: []int{1}}}
	objects := s.Objects()
	defer objects.Close()
	sources, err := objects.GeneratedCode()
	if err != nil || len(sources) != 1 {
		t.Fatal(sources, err)
	}
	var all []report.SourcedFunction
	for f := range sources[0].Functions() {
		all = append(all, report.SourcedFunction{GeneratedFunction: f, Source: sources[0]})
	}
	for place, want := range map[string]string{
		"spin":    "10000 10020 ",
		"turn":    "10080 ",
		"fib":     "100a0 ",
		"JS:^*":   "10000 10060 100c0 ",
		"respi":   "10060 ",
		"cold":    "90010 ",
		"src":     "10000 10020 10040 10060 100c0 ",
		"0x90004": "90000 ",
		"none":    "",
		"":        "10000 10020 10040 10060 10080 100a0 100c0 ",
	} {
		address, parseErr := strconv.ParseUint(place, 0, 64)
		got := ""
		for _, f := range report.MatchGenerated(all, place, address, parseErr == nil) {
			got += strconv.FormatUint(f.Start, 16) + " "
		}
		if got != want {
			t.Errorf("%q means %s, expected %s", place, got, want)
		}
	}
}
