// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package libunwind_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/libunwind"
	"github.com/clewdev/clew/region"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// processMemory is the memory of a process, /proc/PID/mem.
type processMemory struct{ f *os.File }

func (m processMemory) ReadMemory(p []byte, addr uint64) error {
	_, err := m.f.ReadAt(p, int64(addr))
	return err
}

// listOf reads the list of libunwind.so.8 in another process.
func listOf(t *testing.T, pid int) (*libunwind.List, processMemory) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	memory := processMemory{f}
	at, err := libunwind.Find(jit.Host(), memory, libunwind.LibrarySymbols(t, pid))
	if err != nil {
		t.Fatal(err)
	}
	l, err := libunwind.Read(jit.Host(), memory, at)
	if err != nil || l.Err != nil {
		t.Fatalf("%v, %+v", err, l)
	}
	for _, i := range l.Infos {
		if i.Err != nil {
			t.Fatal(i.Err)
		}
	}
	return l, memory
}

// buildClient builds the program in testdata/client.
func buildClient(t *testing.T) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	if exec.Command(gcc, "-E", "-include", "libunwind.h", "-x", "c", "/dev/null").Run() != nil {
		t.Skip("skipped: libunwind-dev is not installed")
	}
	dir := t.TempDir()
	archive, program := filepath.Join(dir, "publish.a"), filepath.Join(dir, "client")
	c := exec.Command("go", "build", "-buildmode=c-archive", "-o", archive, ".")
	c.Dir = "testdata/client"
	c.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", c, err, out)
	}
	if out, err := exec.Command(gcc, "-Wall", "-o", program, "testdata/client/client.c", archive, "-lunwind", "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return program
}

// The offset of the return address of inner's call from the start of inner, and the
// distance of the CFA from the stack pointer there.
var innerCall = map[string]struct {
	offset uint64
	cfa    int64
}{"x86-64": {7, 48}, "arm64": {8, 32}}

// checkRows checks the row at the call in inner.
func checkRows(t *testing.T, m *arch.Machine, f *cfi.FDE, pc uint64) {
	t.Helper()
	var x cfi.Interpreter
	row, err := x.RowAt(f, pc)
	if err != nil {
		t.Fatal(err)
	}
	if row.CFA.Kind != cfi.Register || int(row.CFA.Register) != m.StackPointer || row.CFA.Offset != innerCall[m.Name].cfa {
		t.Errorf("the CFA at %#x is %+v, want %+d from the stack pointer", pc, row.CFA, innerCall[m.Name].cfa)
	}
}

// checkTable finds the FDEs of a table, and checks the row in inner if it is in the table.
func checkTable(t *testing.T, m *arch.Machine, i *libunwind.Info, memory processMemory, stop string, inner bool) {
	t.Helper()
	section, err := i.Section(m, memory)
	if err != nil {
		t.Fatal(err)
	}
	var f cfi.FDE
	pc := i.Start + innerCall[m.Name].offset - 1
	if err := i.FDE(section, pc, &f); err != nil {
		t.Fatalf("%s: %v", stop, err)
	}
	if inner {
		checkRows(t, m, &f, pc)
	}
	if f.Start != i.Start {
		t.Errorf("%s: the first function is at %#x, its FDE at %#x", stop, i.Start, f.Start)
	}
	if err := i.FDE(section, i.End, &f); !errors.Is(err, cfi.ErrNoFDE) {
		t.Errorf("%s: an FDE for what follows: %v", stop, err)
	}
}

// TestClient runs a program that is linked with libunwind: libunwind walks through
// generated code by the registrations of Publisher, and Read reads them from another
// process.
func TestClient(t *testing.T) {
	program := buildClient(t)
	c := exec.Command(program)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	const whole = "walk inner outer through main"
	const switched = "walk inner outer switching call_switching on_high inner outer switching call_switching through_switches main"
	m := jit.Host()
	seen := map[string]bool{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		title, frames, walked := strings.Cut(line, ": ")
		seen[line] = true
		switch title {
		case "remote table", "IP offset", "procedures and tables", "tables only", "after the churn":
			if frames != whole {
				t.Errorf("%s, want %s", line, whole)
			}
		case "switched":
			if frames != switched {
				t.Errorf("%s, want %s", line, switched)
			}
		case "nothing published", "inner withdrawn", "all withdrawn", "procedures only":
			if frames == whole {
				t.Errorf("%s: of what is it found?", line)
			}
		default:
			if walked {
				t.Fatal(line)
			}
		}
		if walked {
			continue
		}
		stop := strings.TrimPrefix(line, "stop ")
		l, memory := listOf(t, c.Process.Pid)
		var formats []string
		for _, i := range l.Infos {
			formats = append(formats, i.Format.String())
		}
		if want := map[string]string{
			"remote table": "[remote table]", "IP offset": "[IP offset]", "outer is left": "[IP offset]",
			"procedures and tables": "[remote table dynamic dynamic]", "inside": "[dynamic dynamic]",
			"empty": "[]", "end": "[]",
		}[stop]; fmt.Sprint(formats) != want {
			t.Errorf("%s: the formats are %v, want %s", stop, formats, want)
		}
		switch stop {
		case "remote table", "IP offset", "outer is left", "procedures and tables":
			checkTable(t, m, &l.Infos[0], memory, stop, stop != "outer is left")
		}
		switch stop {
		case "procedures and tables":
			for n, name := range []string{"outer", "inner"} {
				if got := l.Infos[1+n].Procedure.Name; got != name {
					t.Errorf("procedure %d is %q, want %q", n, got, name)
				}
			}
		case "inside":
			walkByRegions(t, c.Process.Pid, l)
		}
		if _, err := io.WriteString(in, "\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	for _, line := range []string{"stop remote table", "stop IP offset", "stop outer is left", "stop inside", "stop end", "after the churn: " + whole, "switched: " + switched} {
		if !seen[line] {
			t.Errorf("the program did not say %q", line)
		}
	}
}

// walkByRegions walks the stack of a process that waits in generated code, which only
// the regions in libunwind's list describe.
func walkByRegions(t *testing.T, pid int, l *libunwind.List) {
	s, err := process.Snapshot(pid, nil)
	if err != nil {
		t.Fatal(err)
	}
	var procedures []*region.Procedure
	for _, i := range l.Infos {
		procedures = append(procedures, i.Procedure)
	}
	e := cfi.Encoder{Machine: s.Machine, Address: procedures[0].Start + 0x10000}
	for _, p := range procedures {
		program, err := p.Program(s.Machine, procedures...)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Program(program, p.Start, p.End-p.Start); err != nil {
			t.Fatal(err)
		}
	}
	generated := &unwind.Module{Name: "generated", Source: &unwind.Sections{
		EHFrame: &cfi.Section{Name: "regions", Data: e.Data, Address: e.Address, Machine: s.Machine},
	}}
	objects := stack.NewObjects(s)
	defer objects.Close()
	var modules unwind.Modules
	for _, m := range s.Mappings {
		if !m.Executable {
			continue
		}
		module, _ := objects.Modules.Find(m.Start)
		if m.Start <= procedures[0].Start && procedures[0].Start < m.End {
			module = generated
		}
		modules.Add(m.Start, m.End, module)
	}
	thread := &s.Threads[slices.IndexFunc(s.Threads, func(th snapshot.Thread) bool { return th.ID == pid })]
	w := unwind.Walker{Machine: s.Machine, Modules: &modules, Memory: s.ThreadMemory(thread)}
	var names []string
	for f := range w.Walk(&thread.Registers) {
		name := "?"
		switch {
		case f.Module == generated:
			if f.Method != unwind.FromCFI {
				t.Errorf("%#x was found by %v", f.PC, f.Method)
			}
			for _, p := range procedures {
				if p.Start <= f.LookupPC && f.LookupPC < p.End {
					name = p.Name
				}
			}
		case f.Module != nil:
			if file, err := objects.Object(f.Module).File(); err == nil {
				if symbols, err := file.FindSymbols([]uint64{f.LookupPC - f.Module.Bias}); err == nil {
					name = symbols[0].Name
				}
			}
		}
		names = append(names, name)
	}
	if got := strings.Join(names, " "); !strings.Contains(got, "stop stop_inside inner outer main") {
		t.Errorf("%s, %v %v", got, w.Reason(), w.Err())
	}
}
