// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jitcode_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/report/jitcode"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
)

// A name selects the functions with this name, else those with the name as a word, else those
// with the name as a part. Code has precedence over bytecode.
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
	s := &snapshot.Snapshot{PID: 1, Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB), Live: true,
		Mappings: []snapshot.Mapping{{Start: 0x10000, End: 0x20000, Readable: true, Executable: true}},
		Process:  &snapshot.Process{Root: root, IDs: []int{1}}}
	objects := stack.NewObjects(s)
	defer objects.Close()
	sources, err := objects.GeneratedCode()
	if err != nil || len(sources) != 1 {
		t.Fatal(sources, err)
	}
	var all []jitcode.SourcedFunction
	for f := range sources[0].Functions() {
		all = append(all, jitcode.SourcedFunction{Function: f, Source: sources[0]})
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
		for _, f := range jitcode.Match(all, place, address, parseErr == nil) {
			got += strconv.FormatUint(f.Start, 16) + " "
		}
		if got != want {
			t.Errorf("%q means %s, expected %s", place, got, want)
		}
	}
}

// A jitdump and a perf map show the former places of functions, the time until when they were
// there, and the first function that overwrote them.
func TestMatchFormer(t *testing.T) {
	e := perf.Encoder{Order: binary.LittleEndian}
	e.Header(&perf.Header{Order: binary.LittleEndian, Machine: elf.EM_X86_64, PID: 9, Time: 1})
	load := func(second uint64, index, address uint64, name string) error {
		return e.Load(second*1e9, &perf.Load{Index: index, Address: address, Name: name, Code: make([]byte, 32)})
	}
	if err := errors.Join(
		load(1, 1, 0x1000, "fib"),
		load(2, 2, 0x1010, "gcd"), // overlaps the end of fib, which stays at its start
		load(3, 3, 0x0ff0, "first"),
		load(4, 4, 0x1000, "second"),
		load(5, 5, 0x3000, "moving"),
		e.Move(6e9, &perf.Move{From: 0x3000, To: 0x4000, Size: 32, Index: 5}),
		load(7, 6, 0x5000, "fib"),
	); err != nil {
		t.Fatal(err)
	}
	dump, err := generated.Read("jit-9.dump", e.Data)
	if err != nil || dump.Err != nil {
		t.Fatal(err, dump.Err)
	}
	perfMap, err := generated.Read("perf-9.map", []byte("1000 20 fib\n2000 20 kept\n0fff 2 first\n1000 20 second\n"))
	if err != nil || perfMap.Err != nil {
		t.Fatal(err, perfMap.Err)
	}
	for _, tt := range []struct {
		source      *generated.Source
		place, want string
		json        string
	}{
		{dump, "fib", "fib was at 0x1000-0x1020 until 3s; overwritten by first at 0xff0-0x1010, by the jitdump, jit-9.dump\n",
			`{"former":"fib","start":"0x1000","end":"0x1020","source":"jitdump","place":"jit-9.dump","until":"3s","overwritten_by":{"function":"first","start":"0xff0","end":"0x1010"}}` + "\n"},
		{dump, "moving", "moving was at 0x3000-0x3020 until 6s; moved to 0x4000-0x4020, by the jitdump, jit-9.dump\n",
			`{"former":"moving","start":"0x3000","end":"0x3020","source":"jitdump","place":"jit-9.dump","until":"6s","moved_to":{"function":"moving","start":"0x4000","end":"0x4020"}}` + "\n"},
		{dump, "second", "", ""},
		{dump, "absent", "", ""},
		{perfMap, "fib", "fib was at 0x1000-0x1020; overwritten by first at 0xfff-0x1001, by the perf map, perf-9.map\n",
			`{"former":"fib","start":"0x1000","end":"0x1020","source":"perf map","place":"perf-9.map","overwritten_by":{"function":"first","start":"0xfff","end":"0x1001"}}` + "\n"},
		{perfMap, "kept", "", ""},
	} {
		former, all := jitcode.MatchFormer([]*generated.Source{tt.source}, tt.place, nil, 8)
		var text, json bytes.Buffer
		for i := range former {
			if err := errors.Join(former[i].Text(&text, style.Palette{}), former[i].JSON(&json)); err != nil {
				t.Error(err)
			}
		}
		if text.String() != tt.want || json.String() != tt.json || all != len(former) {
			t.Errorf("%s in the %v: %q, %s, %d in all; expected %q, %s", tt.place, tt.source.Kind, text.String(), json.String(), all, tt.want, tt.json)
		}
	}
	// The limit keeps the latest ones.
	var lines bytes.Buffer
	for i := range 100 {
		fmt.Fprintf(&lines, "1000 %x f\n", 0x20+i)
	}
	many, err := generated.Read("perf-9.map", lines.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	former, all := jitcode.MatchFormer([]*generated.Source{many}, "f", nil, 8)
	if all != 99 || len(former) != 8 || former[0].Size != 0x20+91 || former[7].Size != 0x20+98 {
		t.Errorf("%d of %d: %+v", len(former), all, former)
	}
}
