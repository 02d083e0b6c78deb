// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package minidump_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/snapshot/minidump"
	"github.com/clewdev/clew/stack"
)

func write(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.dmp")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens an undamaged dump, as the command does.
func open(t testing.TB, path string, opts *snapshot.Options) (snapshot.Source, *snapshot.Snapshot) {
	t.Helper()
	source, err := snapshot.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	if err := source.Damage(); err != nil {
		t.Errorf("damage: %v", err)
	}
	s, err := source.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return source, s
}

// frames returns the frames of stacks as text, one line each.
func frames(stacks []stack.Stack) (lines []string) {
	for i := range stacks {
		s := &stacks[i]
		for j := range s.Frames {
			f := &s.Frames[j]
			lines = append(lines, fmt.Sprintf("%d %s %#x %#x %s %v", s.Thread.ID, s.Thread.Name, f.PC, f.SP, trace.FunctionName(f), f.Method))
		}
		lines = append(lines, fmt.Sprintf("%d ends: %v", s.Thread.ID, s.Reason))
	}
	return lines
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if len(want) < 3 {
		t.Errorf("only %d frames expected", len(want))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// lldbFormat prints the PC, the stack pointer, the module and the function of a frame.
const lldbFormat = `settings set frame-format "F ${frame.pc} ${frame.sp} ${module.file.basename} ${function.name}\n"`

var lldbLine = regexp.MustCompile(`(?m)^[* ] (?:thread #([0-9]+)|[* ] F 0x0*([0-9a-f]+) 0x0*([0-9a-f]+)(?: ([^ \n]+)(?: ([A-Za-z0-9_]+))?)?)`)

// byLLDB returns lldb's frames of a dump: by thread the PC, the stack pointer, and the
// function if it is the program's own. Aliases of libc's functions differ.
func byLLDB(t *testing.T, path, program string) (threads [][]string) {
	t.Helper()
	lldb := testprogram.RequireTool(t, "lldb-14")
	out, err := exec.Command(lldb, "-b", "-x", "-o", lldbFormat, "-o", "target create --core "+path, "-o", "bt all").CombinedOutput()
	if err != nil {
		t.Fatalf("lldb: %v\n%s", err, out)
	}
	sp, pc := "", ""
	for _, m := range lldbLine.FindAllStringSubmatch(string(out), -1) {
		if m[1] != "" {
			threads, sp = append(threads, nil), ""
			continue
		}
		list := &threads[len(threads)-1]
		if m[3] == sp { // the call before is inlined in this function
			*list = (*list)[:len(*list)-1]
		} else {
			sp, pc = m[3], m[2]
		}
		text := "0x" + pc + " 0x" + sp
		if m[4] == filepath.Base(program) {
			text += " " + m[5]
		}
		*list = append(*list, text)
	}
	if len(threads) == 0 {
		t.Fatalf("lldb shows no threads:\n%s", out)
	}
	return threads
}

// equalsLLDB fails unless the stacks of a dump equal lldb's.
func equalsLLDB(t *testing.T, path, program string, stacks []stack.Stack) {
	t.Helper()
	lldbs := byLLDB(t, path, program)
	if len(lldbs) != len(stacks) {
		t.Fatalf("%d threads, lldb has %d", len(stacks), len(lldbs))
	}
	for i := range stacks {
		var ours []string
		for j := range stacks[i].Frames {
			f := &stacks[i].Frames[j]
			if f.TailCall {
				continue
			}
			text := fmt.Sprintf("%#x %#x", f.PC, f.SP)
			if f.Object != nil && f.Object.Name == program {
				text += " " + f.Symbol.Name
			}
			ours = append(ours, text)
		}
		if !slices.Equal(ours, lldbs[i]) {
			t.Errorf("thread %d: got\n%s\nlldb has\n%s", stacks[i].Thread.ID, strings.Join(ours, "\n"), strings.Join(lldbs[i], "\n"))
		}
	}
}

// The stacks in a dump of a process equal those of the process, for all kinds of dumps.
func TestEqualsProcess(t *testing.T) {
	for _, test := range []struct {
		source string
		flags  []string
		opts   stacktest.MinidumpOptions
	}{
		{"f2c.c", []string{"-O2", "-g"}, stacktest.MinidumpOptions{}},
		{"f2c.c", []string{"-O2", "-g"}, stacktest.MinidumpOptions{NoMaps: true}},
		{"f2c.c", []string{"-O2", "-g", "-no-pie"}, stacktest.MinidumpOptions{NoMaps: true, PDB70: true}},
		{"chain.c", []string{"-O2", "-g", "-static"}, stacktest.MinidumpOptions{Full: true}},
		{"threads65.c", []string{"-O2", "-g"}, stacktest.MinidumpOptions{PDB70: true}},
	} {
		t.Run(fmt.Sprint(test.source, test.flags, test.opts), func(t *testing.T) {
			program := testprogram.Build(t, test.source, test.flags...)
			p := testprogram.Start(t, program)
			p.Settle(t)
			process := stacktest.Take(t, p.PID)
			test.opts.Auxv, _ = os.ReadFile(fmt.Sprintf("/proc/%d/auxv", p.PID))
			path := write(t, stacktest.Minidump(t, process, test.opts))
			source, s := open(t, path, nil)
			stacks := stacktest.Stacks(t, s)
			equal(t, frames(stacks), frames(stacktest.Stacks(t, process)))
			if list := source.Missing(); list != nil {
				t.Errorf("missing: %v", list)
			}
			if s.PID != p.PID || s.Signal != nil || len(s.Threads) != len(process.Threads) {
				t.Errorf("process %d, signal %v, %d threads", s.PID, s.Signal, len(s.Threads))
			}
			if !test.opts.NoMaps {
				equalsLLDB(t, path, program, stacks)
			}
		})
	}
}

// The stacks and the signal in a dump of a crashed program equal those of its core.
func TestEqualsCore(t *testing.T) {
	program := testprogram.Build(t, "crash.c", "-O2", "-g")
	c := stacktest.OpenCore(t, testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program, "segv"), nil)
	path := write(t, stacktest.Minidump(t, c.Snapshot(), stacktest.MinidumpOptions{}))
	_, s := open(t, path, nil)
	stacks := stacktest.Stacks(t, s)
	equal(t, frames(stacks), frames(stacktest.Stacks(t, c.Snapshot())))
	if got, want := *s.Signal, *c.Snapshot().Signal; got != want {
		t.Errorf("signal %v, expected %v", got, want)
	}
	if got, want := s.Command, c.Snapshot().Command; got != want {
		t.Errorf("command %q, expected %q", got, want)
	}
	equalsLLDB(t, path, program, stacks)
}

// LLDB writes dumps of stopped processes.
func TestDumpOfLLDB(t *testing.T) {
	lldb := testprogram.RequireTool(t, "lldb-14")
	program := testprogram.Build(t, "f2c.c", "-O2", "-g")
	p := testprogram.Start(t, program)
	p.Settle(t)
	path := filepath.Join(t.TempDir(), "lldb.dmp")
	out, err := exec.Command(lldb, "-b", "-x", "-p", strconv.Itoa(p.PID), "-o", "process save-core --plugin-name=minidump --style=stack "+path,
		"-o", "detach").CombinedOutput()
	if err != nil {
		t.Fatalf("lldb: %v\n%s", err, out)
	}
	source, s := open(t, path, nil)
	stacks := stacktest.Stacks(t, s)
	equal(t, withoutNames(frames(stacks)), withoutNames(frames(stacktest.Stacks(t, stacktest.Take(t, p.PID)))))
	equalsLLDB(t, path, program, stacks)
	if list := source.Missing(); list != nil || s.PID != p.PID {
		t.Errorf("missing %v, process %d", list, s.PID)
	}
}

var threadName = regexp.MustCompile(`^([0-9]+) [^ ]* 0x`)

// withoutNames removes the names of threads, which lldb 14 does not write.
func withoutNames(lines []string) []string {
	for i := range lines {
		lines[i] = threadName.ReplaceAllString(lines[i], "$1 0x")
	}
	return lines
}

// Dumps of other machines, with files below a sysroot, have the stacks of the cores that they
// are made from.
func TestOtherMachines(t *testing.T) {
	for _, test := range []struct {
		machine string
		opts    stacktest.MinidumpOptions
	}{
		{"arm64", stacktest.MinidumpOptions{}},
		{"arm64", stacktest.MinidumpOptions{OldARM64: true, Full: true}},
		{"i386", stacktest.MinidumpOptions{}},
		{"arm", stacktest.MinidumpOptions{}},
	} {
		t.Run(fmt.Sprint(test.machine, test.opts), func(t *testing.T) {
			e := testprogram.Emulations[test.machine]
			program := e.Build(t, "chain.c", "-O2", "-g")
			path := testprogram.Core(t, testprogram.CoreOptions{Emulation: &e}, program)
			c := stacktest.OpenCore(t, path, &core.Options{Program: program, Search: debugfile.Search{Root: e.Root()}})
			dump := write(t, stacktest.Minidump(t, c.Snapshot(), test.opts))
			source, s := open(t, dump, &snapshot.Options{Root: e.Root(), Program: program})
			if list := source.Missing(); list != nil {
				t.Errorf("missing: %v", list)
			}
			equal(t, withoutNames(frames(stacktest.Stacks(t, s))), withoutNames(frames(stacktest.Stacks(t, c.Snapshot()))))
		})
	}
}

// A file that is not a minidump is left to other openers.
func TestUnknown(t *testing.T) {
	_, err := minidump.Open(write(t, []byte("\x7fELF and more")), &snapshot.Options{})
	if err == nil || !strings.Contains(err.Error(), "not a minidump: it starts with 7f 45 4c 46, not with 4d 44 4d 50") {
		t.Error(err)
	}
}

// A dump of all memory contains the generated code, and the lists that describe it.
func TestGeneratedCode(t *testing.T) {
	runtimes := testprogram.Runtimes()
	i := slices.IndexFunc(runtimes, func(r testprogram.Runtime) bool { return strings.HasPrefix(r.Name, "forth") })
	if i < 0 {
		t.Fatal("no Forth")
	}
	p := runtimes[i].Start(t)
	c := stacktest.OpenCore(t, testprogram.GCore(t, p.PID), nil)
	_, s := open(t, write(t, stacktest.Minidump(t, c.Snapshot(), stacktest.MinidumpOptions{Full: true})), nil)
	code := func(s *snapshot.Snapshot) (lines []string) {
		objects := stack.NewObjects(s)
		defer objects.Close()
		sources, err := objects.GeneratedCode()
		if err != nil {
			t.Error(err)
		}
		for _, source := range sources {
			lines = append(lines, fmt.Sprint(source.Kind, " ", source.Place, " ", source.Entries))
			for f := range source.Functions() {
				lines = append(lines, fmt.Sprintf("%#x %s", f.Start, f.Name))
			}
		}
		return lines
	}
	if got, want := code(s), code(c.Snapshot()); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("%q, expected %q", got, want)
	}
}
