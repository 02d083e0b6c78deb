// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"errors"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// FuzzTable finds the rules of functions with any code, and walks by them.
func FuzzTable(f *testing.F) {
	for name, code := range map[string][]byte{
		"runtime.systemstack": systemstack, "runtime.asmcgocall": asmcgocall, "runtime.cgocallback": cgocallback,
		"runtime.nanotime1": nanotime, "runtime.mcall": mcall, "runtime.morestack": morestack, "f": nanotime,
	} {
		f.Add(code, name, uint16(len(code)), 24, byte(4), false)
	}
	f.Add(words(0xf81e0ffe, 0xf81f83fd, 0xd63f0060, 0xf94003fc), "runtime.asmcgocall", uint16(11), 32, byte(4), true)
	f.Add(words(0xd63f0060, 0xf9401b83, 0xf940607c), "runtime.systemstack", uint16(3), 0, byte(4), true)
	f.Add(words(0xd10303ff, 0xa90253f3, 0xa90b7bfd, 0x94000000), "crosscall2", uint16(15), 192, byte(4), true)
	f.Fuzz(func(t *testing.T, code []byte, name string, at uint16, depth int, flags byte, isARM bool) {
		machine := machineAMD64
		if isARM {
			machine = machineARM64
		}
		fn := Function{Name: name, Depth: depth % maxDepth, TopFrame: flags&1 != 0, WritesSP: flags&2 != 0, Assembly: flags&4 != 0}
		fuzzRules(t, machine, program(machine, code, fn), codeBase+uint64(at))
		if len(name) > 0 {
			fuzzRules(t, machine, twoFunctions(machine, name, code), codeBase+uint64(at))
		}
	})
}

func fuzzRules(t *testing.T, machine *arch.Machine, p Program, pc uint64) {
	table, _ := New(p)
	rules, err := table.Rules(pc)
	if (err == nil) == (rules == nil) {
		t.Fatalf("%v and %v", rules, err)
	}
	if err != nil {
		if !errors.Is(err, cfi.ErrNoFDE) {
			t.Fatal(err)
		}
		return
	}
	if s := rules.Section; s != nil && len(s.Data) > 1<<12 {
		t.Fatalf("expressions of %d bytes", len(s.Data))
	}
	m := goroutine(gStack, 0x401234)
	m[g0Stack], m[testG0+gSched] = g0Stack, g0Stack
	if frames, _, _ := step(t, machine, p, m, pc+1, g0Stack, testG0); len(frames) == 0 {
		t.Fatal("no frame")
	}
}
