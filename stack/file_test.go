// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// copyOf copies a program to a directory of the test.
func copyOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(own, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return own
}

// chain has the functions of chain.c on its stack.
var chain = []string{"innermost", "inner", "middle", "outer", "main"}

// functions returns the names of a stack's frames, without those of libraries.
func functions(s *stack.Stack, program string) (names []string) {
	for i := range s.Frames {
		if f := &s.Frames[i]; f.Object != nil && filepath.Base(f.Object.Name) == filepath.Base(program) {
			names = append(names, trace.FunctionName(f))
		}
	}
	return names
}

// isChain fails unless the first stack is that of chain.c, with names and lines.
func isChain(t *testing.T, stacks []stack.Stack, program string) {
	t.Helper()
	s := &stacks[0]
	if got := functions(s, program); !slices.Equal(got, append(slices.Clone(chain), "_start")) {
		t.Errorf("functions %v, expected %v and _start", got, chain)
	}
	if s.Reason != unwind.EndOfStack {
		t.Errorf("%v: %v", s.Reason, s.Err)
	}
	for i := range s.Frames {
		if f := &s.Frames[i]; f.Symbol.Name == "middle" && (f.Location() == nil || !strings.HasSuffix(f.Location().File, "chain.c")) {
			t.Errorf("middle is at %+v", f.Location())
		}
	}
}

// If a program's file was replaced while it ran, the mapped file is read, and not the new one
// at the same path.
func TestReplacedFile(t *testing.T) {
	path := copyOf(t, testprogram.Build(t, "chain.c", "-O2", "-g"))
	program := testprogram.Start(t, path)
	program.Settle(t)
	other := copyOf(t, testprogram.Build(t, "f2c.c", "-O2", "-g"))
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	isChain(t, stacktest.Stacks(t, stacktest.Take(t, program.PID)), path)
	t.Run("as gdb", func(t *testing.T) {
		// gdb reads the new file, and is wrong, unless it gets the old one.
		testprogram.Halt(t, program.PID)
		s := stacktest.Take(t, program.PID)
		stacks := stacktest.Stacks(t, s)
		gdbs := gdbStacks(t, program.PID, "-iex", "file /proc/"+pid(program)+"/exe")
		compare(t, &stacks[0], column(s.Machine), gdbs[program.PID])
	})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	isChain(t, stacktest.Stacks(t, stacktest.Take(t, program.PID)), path)
}

// If its file cannot be reached, a program is read from its memory: rules and dynamic symbols,
// but no other symbols and no lines.
func TestImageInMemory(t *testing.T) {
	for _, flags := range [][]string{{"-O2", "-g", "-rdynamic"}, {"-O2", "-g", "-rdynamic", "-no-pie"}} {
		t.Run(flags[len(flags)-1], func(t *testing.T) {
			path := testprogram.Build(t, "chain.c", flags...)
			program := testprogram.Start(t, path)
			program.Settle(t)
			s := stacktest.Take(t, program.PID)
			s.Open = func(*snapshot.Mapping) (*os.File, error) { return nil, errors.New("it is gone") }
			stacks := stacktest.Stacks(t, s)
			if got := functions(&stacks[0], path); !slices.Equal(got, append(slices.Clone(chain), "_start")) {
				t.Errorf("functions %v", got)
			}
			if s := &stacks[0]; s.Reason != unwind.EndOfStack {
				t.Errorf("%v: %v", s.Reason, s.Err)
			}
			for i := range stacks[0].Frames {
				if f := &stacks[0].Frames[i]; f.Object == nil || !f.Object.Loaded {
					t.Errorf("frame %d was not read from memory", i)
				}
			}
		})
	}
}

// A program whose path exists only in its own mount namespace.
func TestOtherMountNamespace(t *testing.T) {
	program := testprogram.StartElsewhere(t, testprogram.Build(t, "chain.c", "-O2", "-g"))
	program.Settle(t)
	stacks := stacktest.Stacks(t, stacktest.Take(t, program.PID))
	isChain(t, stacks, "chain")
	if name := stacks[0].Frames[1].Object.Name; !strings.HasPrefix(name, "/mnt/clew-hidden/") {
		t.Errorf("the program is %s", name)
	}
	t.Run("as gdb", func(t *testing.T) {
		testprogram.Halt(t, program.PID)
		sameAsGDB(t, program.PID)
	})
}

// A file that is truncated while it is read loses its content, which is reported. The program
// itself cannot be truncated while it runs, but the copy that Open returns can.
func TestTruncatedFile(t *testing.T) {
	path := testprogram.Build(t, "chain.c", "-O2", "-g")
	program := testprogram.Start(t, path)
	program.Settle(t)
	for _, size := range []int64{0, 64, 4096, 1 << 13} {
		own := copyOf(t, path)
		s := stacktest.Take(t, program.PID)
		open := s.Open
		s.Open = func(m *snapshot.Mapping) (*os.File, error) {
			if m.Path == path {
				return os.Open(own)
			}
			return open(m)
		}
		objects := stack.NewObjects(s)
		for _, m := range s.Mappings {
			if m.Path != path {
				continue
			}
			// Opened and mapped before it shrinks.
			if module, ok := objects.Modules.Find(m.Start); ok {
				if _, err := objects.Object(module).File(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := os.Truncate(own, size); err != nil {
			t.Fatal(err)
		}
		stacks := objects.Walk(stack.WalkOptions{})
		err := objects.Name(stacks, stack.NameOptions{Lines: true})
		if err == nil && stacks[0].Err == nil {
			t.Errorf("cut to %d bytes: no error, functions %v", size, functions(&stacks[0], path))
		}
		if len(stacks[0].Frames) < 2 {
			t.Errorf("cut to %d bytes: %d frames", size, len(stacks[0].Frames))
		}
		objects.Close()
	}
}

// A file that is truncated during a walk loses the later frames, but not those that were
// found.
func TestTruncatedDuringWalk(t *testing.T) {
	path := testprogram.Build(t, "chain.c", "-O2", "-g")
	program := testprogram.Start(t, path)
	program.Settle(t)
	own := copyOf(t, path)
	s := stacktest.Take(t, program.PID)
	open := s.Open
	s.Open = func(m *snapshot.Mapping) (*os.File, error) {
		if m.Path == path {
			return os.Open(own)
		}
		return open(m)
	}
	objects := stack.NewObjects(s)
	defer objects.Close()
	before := objects.Walk(stack.WalkOptions{MaxFrames: 2})[0].Frames
	if len(before) != 2 || before[1].Object.Name != path {
		t.Fatalf("frames %+v", before)
	}
	if err := os.Truncate(own, 0); err != nil {
		t.Fatal(err)
	}
	walked := objects.Walk(stack.WalkOptions{})[0]
	if len(walked.Frames) < 2 || walked.Frames[1].PC != before[1].PC {
		t.Errorf("%d frames, expected the two found before", len(walked.Frames))
	}
	if walked.Reason != unwind.UnreadableMemory || !errors.Is(walked.Err, object.ErrFault) {
		t.Errorf("%v: %v", walked.Reason, walked.Err)
	}
}

// The frames of a stripped program have no names, and the same addresses.
func TestStrippedProgram(t *testing.T) {
	strip := testprogram.RequireTool(t, "strip")
	path := copyOf(t, testprogram.Build(t, "nested64.c", "-O2", "-fomit-frame-pointer"))
	if out, err := exec.Command(strip, path).CombinedOutput(); err != nil {
		t.Fatalf("strip: %v\n%s", err, out)
	}
	program := testprogram.Start(t, path)
	program.Settle(t)
	stacks := stacktest.Stacks(t, stacktest.Take(t, program.PID))
	s := &stacks[0]
	names := functions(s, path)
	if len(names) != 67 || s.Reason != unwind.EndOfStack {
		t.Errorf("%d frames of the program, %v: %v; expected f0 to f64, main and _start", len(names), s.Reason, s.Err)
	}
	for _, name := range names {
		if name != "??" {
			t.Errorf("a function is called %s", name)
		}
	}
	t.Run("as gdb", func(t *testing.T) {
		testprogram.Halt(t, program.PID)
		sameAsGDB(t, program.PID)
	})
}

// i386Program builds a 32-bit program. It skips the test if the kernel runs none.
func i386Program(t *testing.T) string {
	t.Helper()
	path := testprogram.Build(t, "i386.c", "-m32", "-O2", "-g", "-nostdlib", "-static",
		"-fno-pic", "-no-pie", "-fasynchronous-unwind-tables")
	probe := exec.Command(path)
	if err := probe.Start(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("skipped: i386 emulation is not installed")
	} else if err == nil {
		probe.Process.Kill()
		probe.Wait()
	}
	return path
}

// A 32-bit process on a 64-bit kernel.
func TestI386(t *testing.T) {
	program := testprogram.Start(t, i386Program(t))
	program.Settle(t)
	stacks := stacktest.Stacks(t, stacktest.Take(t, program.PID))
	s := &stacks[0]
	want := []string{"innermost", "inner", "outer", "begin", "_start"}
	if got := functions(s, "i386"); !slices.Equal(got, want) || s.Reason != unwind.EndOfStack {
		t.Errorf("functions %v, expected %v; %v: %v", got, want, s.Reason, s.Err)
	}
}

// Its core, which a 64-bit kernel writes in the format of i386.
func TestI386Core(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	program := i386Program(t)
	path := testprogram.Core(t, testprogram.CoreOptions{}, program)
	c := stacktest.OpenCore(t, path, nil)
	if m := c.Snapshot().Machine; m.Name != "i386" {
		t.Errorf("machine %s", m.Name)
	}
	leadsThrough(t, coreEqualsGDB(t, c, "gdb", program, path), "outer")
}

// A program maps its own file as data too, next to its image, like the backtrace libraries of
// Rust and C++.
func TestProgramReadsItself(t *testing.T) {
	for _, flags := range [][]string{
		{"-O2", "-g"},
		{"-O2", "-g", "-rdynamic", "-no-pie"},
		// Its code is in the segment of its ELF header, as in all programs of arm64.
		{"-O2", "-g", "-rdynamic", "-Wl,-z,noseparate-code", "-no-pie"},
	} {
		t.Run(strings.Join(flags[2:], " "), func(t *testing.T) {
			path := testprogram.Build(t, "readsitself.c", flags...)
			program := testprogram.Start(t, path)
			program.Settle(t)
			s := stacktest.Take(t, program.PID)
			mapped := 0
			for _, m := range s.Mappings {
				if m.Path == path && m.Offset == 0 {
					mapped++
				}
			}
			if mapped < 2 {
				t.Fatalf("the program's file is mapped from its start %d times", mapped)
			}
			want := []string{"innermost", "outer", "main", "_start"}
			stack := &stacktest.Stacks(t, s)[0]
			if got := functions(stack, path); !slices.Equal(got, want) || stack.Reason != unwind.EndOfStack {
				t.Errorf("functions %v, expected %v; %v: %v", got, want, stack.Reason, stack.Err)
			}
			if flags[len(flags)-1] != "-no-pie" {
				return
			}
			s.Open = func(*snapshot.Mapping) (*os.File, error) { return nil, errors.New("it is gone") }
			stack = &stacktest.Stacks(t, s)[0]
			if got := functions(stack, path); !slices.Equal(got, want) || stack.Reason != unwind.EndOfStack {
				t.Errorf("from memory: functions %v, expected %v; %v: %v", got, want, stack.Reason, stack.Err)
			}
		})
	}
}
