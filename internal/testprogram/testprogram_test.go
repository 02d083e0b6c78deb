// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// programs are all programs, with the flags and arguments in their first lines.
var programs = []struct {
	source string
	flags  []string
	args   []string
	loops  bool
}{
	{source: "f2c.c", flags: []string{"-O2", "-g"}},
	{source: "chain.c", flags: []string{"-O2", "-g"}},
	{source: "chain.c", flags: []string{"-O2", "-g", "-static"}},
	{source: "chain.c", flags: []string{"-O2", "-g", "-static-pie"}},
	{source: "nested64.c", flags: []string{"-O2", "-fomit-frame-pointer"}},
	{source: "exceptions.cc", flags: []string{"-O2", "-g"}, args: []string{"destructor"}},
	{source: "exceptions.cc", flags: []string{"-O2", "-g"}, args: []string{"catch"}},
	{source: "exceptions.cc", flags: []string{"-O2", "-g"}, args: []string{"rethrow"}},
	{source: "exceptions.cc", flags: []string{"-O2", "-g"}, args: []string{"nested"}},
	{source: "exceptions.cc", flags: []string{"-O2", "-g"}, args: []string{"uncaught"}},
	{source: "exceptions.cc", flags: []string{"-O2", "-g"}, args: []string{"forced"}},
	{source: "sighandler.c", flags: []string{"-O2", "-g"}, args: []string{"read"}},
	{source: "sighandler.c", flags: []string{"-O2", "-g"}, args: []string{"read", "altstack"}},
	{source: "sighandler.c", flags: []string{"-O2", "-g"}, args: []string{"nanosleep"}},
	{source: "sighandler.c", flags: []string{"-O2", "-g"}, args: []string{"loop"}},
	{source: "sighandler.c", flags: []string{"-O2", "-g"}, args: []string{"fault"}},
	{source: "sighandler.c", flags: []string{"-O2", "-g"}, args: []string{"null"}},
	{source: "threads65.c", flags: []string{"-O2", "-g"}},
	{source: "churn.c", flags: []string{"-O2", "-g"}, loops: true},
	{source: "vdso.c", flags: []string{"-O2", "-g"}, loops: true},
	{source: "plt.c", flags: []string{"-O2", "-g", "-fno-builtin", "-fplt", "-Wl,-z,lazy"}, loops: true},
	{source: "inline.c", flags: []string{"-O2", "-g"}},
	{source: "demangle.cc", flags: []string{"-O2", "-g"}},
	{source: "crash.c", flags: []string{"-O2", "-g"}},
	{source: "busy.c", flags: []string{"-O2", "-mavx"}, loops: true},
	{source: "goroutines", loops: true}, // the runtime's threads are not all asleep
	{source: "goroutines", flags: []string{"-ldflags=-w"}, loops: true},
}

func TestPrograms(t *testing.T) {
	for _, p := range programs {
		t.Run(strings.Join(append([]string{p.source}, append(p.flags, p.args...)...), " "), func(t *testing.T) {
			path := Build(t, p.source, p.flags...)
			if again := Build(t, p.source, p.flags...); again != path {
				t.Errorf("built twice: %s and %s", path, again)
			}
			process := Start(t, path, p.args...)
			if !p.loops {
				process.Settle(t)
			}
			if !process.Running() {
				t.Error("the program ended")
			}
		})
	}
}

// The programs have the properties that other tests rely on.
func TestShapes(t *testing.T) {
	readelf := RequireTool(t, "readelf")
	table, err := exec.Command(readelf, "-wf", Build(t, "nested64.c", "-O2", "-fomit-frame-pointer")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"DW_CFA_def_cfa_expression", "DW_CFA_def_cfa_offset: 140", "DW_CFA_def_cfa_register"} {
		if !strings.Contains(string(table), want) {
			t.Errorf("no %s in nested64", want)
		}
	}
	for source, want := range map[string]elf.Type{"-static": elf.ET_EXEC, "-static-pie": elf.ET_DYN} {
		f, err := elf.Open(Build(t, "chain.c", "-O2", "-g", source))
		if err != nil {
			t.Fatal(err)
		}
		if f.Type != want || f.Section(".interp") != nil {
			t.Errorf("%s: type %v", source, f.Type)
		}
		f.Close()
	}
}

func TestElsewhere(t *testing.T) {
	p := StartElsewhere(t, Build(t, "chain.c", "-O2", "-g"))
	p.Settle(t)
	exe, err := os.Readlink("/proc/" + strconv.Itoa(p.PID) + "/exe")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(exe); err == nil {
		t.Errorf("%s can be seen from here", exe)
	}
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(p.PID), "root", exe)); err != nil {
		t.Error(err)
	}
}
