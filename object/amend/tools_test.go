// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package amend_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/check/survey"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// through calls its argument in a frame that gdb cannot guess. described has a table.
const throughAssembly = `
	.section .text.through, "ax"
	.globl through
	.type through, %function
through:
#ifdef __x86_64__
	push %rbx
	sub $112, %rsp
	mov %rdi, %rbx
	call *%rbx
	add $112, %rsp
	pop %rbx
	ret
#else
	sub sp, sp, #112
	stp x19, x30, [sp, #16]
	mov x19, x0
	blr x19
	ldp x19, x30, [sp, #16]
	add sp, sp, #112
	ret
#endif
	.size through, .-through

	.text
	.globl described
	.type described, %function
described:
	.cfi_startproc
	ret
	.cfi_endproc
	.size described, .-described
	.section .note.GNU-stack, "", %progbits
`

const throughMain = `
#include <cstdio>
extern "C" void through(void (*)());
extern "C" void described();
static void thrower() { throw 42; }
int main(int count, char **) {
	described();
	if (count > 1) {
		through(described);
		return 0;
	}
	try { through(thrower); } catch (int i) { std::printf("caught %d\n", i); }
}
`

type compiler struct {
	c, cxx, objcopy string
	run             []string // a command that runs its programs
}

var compilers = []compiler{
	{"x86_64-linux-gnu-gcc", "x86_64-linux-gnu-g++", "objcopy", nil},
	{"clang", "clang++", "objcopy", nil},
	{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "aarch64-linux-gnu-objcopy", []string{"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"}},
}

func output(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command(testprogram.RequireTool(t, args[0]), args[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// source writes a source file and returns its path.
func source(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// opened opens a file, and its tables, until the test ends.
func opened(t testing.TB, path string) (*object.File, *survey.Part) {
	t.Helper()
	f, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	p, err := survey.ELF(f)
	if err != nil {
		t.Fatal(err)
	}
	return f, p
}

// amended writes a copy of a file to which the tables are added that were made from its code.
func amended(t testing.TB, path string) string {
	t.Helper()
	f, p := opened(t, path)
	tables, err := p.Synthesize(nil)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "amended")
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := tables.Amend(out, f); err != nil {
		t.Fatal(err)
	}
	return to
}

// agrees checks the tables of a file.
func agrees(t testing.TB, path string, functions int) {
	t.Helper()
	_, p := opened(t, path)
	for r := range new(survey.Survey).Check([]*survey.Part{p}) {
		if r.Err != nil || len(r.Findings) > 0 || r.Functions < functions || r.Disagree > 0 {
			t.Errorf("%+v, %v", r.Report, r.Err)
		}
	}
}

// Exceptions pass through the functions of an object file that was amended.
func TestException(t *testing.T) {
	for _, c := range compilers {
		t.Run(c.c, func(t *testing.T) {
			dir := t.TempDir()
			in, program := filepath.Join(dir, "in.o"), filepath.Join(dir, "program")
			output(t, c.c, "-c", "-o", in, source(t, "through.S", throughAssembly))
			out := amended(t, in)
			agrees(t, out, 2)
			output(t, c.cxx, "-O1", "-o", program, "-Wl,--fatal-warnings", source(t, "main.cc", throughMain), out)
			if got := output(t, append(slices.Clone(c.run), program)...); got != "caught 42\n" {
				t.Errorf("the program printed %q", got)
			}
			agrees(t, program, 4)

			// readelf sees both tables, each with its function.
			text := output(t, "readelf", "-wF", out)
			if n := strings.Count(text, " FDE "); n != 2 {
				t.Errorf("%d FDEs, want 2:\n%s", n, text)
			}
			relocations := output(t, "readelf", "-rW", out)
			if !strings.Contains(relocations, " .text.through + 0\n") || !strings.Contains(relocations, " .text + 0\n") {
				t.Errorf("relocations:\n%s", relocations)
			}
			if again := tablesToAdd(t, out); again != 0 {
				t.Errorf("%d functions of the amended file have no table", again)
			}
		})
	}
}

// tablesToAdd returns the number of functions without a table.
func tablesToAdd(t testing.TB, path string) int {
	t.Helper()
	_, p := opened(t, path)
	tables, err := p.Synthesize(nil)
	if err != nil {
		t.Fatal(err)
	}
	return len(tables.Functions)
}

// gdb finds the callers of a function of a program that was amended.
func TestDebugger(t *testing.T) {
	for _, c := range compilers[:2] {
		t.Run(c.c, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			output(t, c.cxx, "-O1", "-o", program, source(t, "main.cc", throughMain), source(t, "through.S", throughAssembly))
			gdb := func(program string) string {
				return output(t, "gdb", "-nx", "-batch", "-ex", "break described if $rbx == (long)&described", "-ex", "run 1", "-ex", "backtrace", program)
			}
			const callers = "in through ()\n#2  0x"
			if text := gdb(program); strings.Contains(text, callers) && strings.Contains(text, " in main ()") {
				t.Errorf("gdb needs no table:\n%s", text)
			}
			out := amended(t, program)
			agrees(t, out, 4)
			if text := gdb(out); !strings.Contains(text, callers) || !strings.Contains(text, " in main ()") {
				t.Errorf("gdb printed:\n%s", text)
			}
			if text := output(t, "readelf", "--debug-dump=frames-interp", out); !strings.Contains(text, "Contents of the .debug_frame section") {
				t.Errorf("readelf printed:\n%s", text)
			}
		})
	}
}

const groups = `
#include <string>
template <class T> __attribute__((noinline)) T twice(T x) { std::string s(3, 'x'); return x + x + s.size(); }
extern "C" int one(int (*f)(int), int v) { return f(v) + twice(v) + 1; }
extern "C" long two(long (*f)(long), long v) { return f(v) * twice(v); }
static int hidden(int x) { return x + 3; }
int (*table[])(int) = {hidden, hidden};
int main(int count, char **) { return one(table[count & 1], 1) + two([](long x) { return x + 1; }, 2) == 10 + 21 ? 0 : 1; }
`

// The relocations of an amended file name the same symbols as before, and it can be linked. All
// sections but those of relocations and symbols have the same bytes.
func TestCompiled(t *testing.T) {
	for _, c := range compilers {
		for _, flags := range []string{"-O0", "-O2 -ffunction-sections", "-O2 -g1 -fPIC -gz"} {
			t.Run(c.cxx+" "+flags, func(t *testing.T) {
				dir := t.TempDir()
				in, program := filepath.Join(dir, "in.o"), filepath.Join(dir, "program")
				command := append([]string{c.cxx}, strings.Fields(flags)...)
				output(t, append(command, "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions", "-fno-dwarf2-cfi-asm", "-c", "-o", in, source(t, "groups.cc", groups))...)
				if strings.Contains(flags, "-g") { // then compilers write tables for debuggers
					output(t, c.objcopy, "-R", ".debug_frame", "-R", ".rela.debug_frame", in)
				}
				out := amended(t, in)
				agrees(t, out, 4)
				output(t, append(command, "-Wl,--gc-sections,--fatal-warnings", "-o", program, out)...)
				output(t, append(slices.Clone(c.run), program)...)
				before, after := symbolsOf(t, in), symbolsOf(t, out)
				for section, list := range before {
					if section != ".rela.eh_frame" && !slices.Equal(list, after[section]) {
						t.Errorf("%s: symbols %q, were %q", section, after[section], list)
					}
				}
				sameSections(t, in, out)
			})
		}
	}
}

// symbolsOf returns the symbols that relocations name, by section of relocations.
func symbolsOf(t testing.TB, path string) map[string][]string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]string)
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		for ; len(data) >= 24; data = data[24:] {
			name := "none"
			if n := f.ByteOrder.Uint32(data[12:]); n > 0 {
				name = symbols[n-1].Name
				if elf.ST_TYPE(symbols[n-1].Info) == elf.STT_SECTION {
					name = f.Sections[symbols[n-1].Section].Name
				}
			}
			all[s.Name] = append(all[s.Name], name)
		}
	}
	return all
}

func sameSections(t testing.TB, before, after string) {
	t.Helper()
	a, err := elf.Open(before)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := elf.Open(after)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for i, s := range a.Sections {
		n := b.Sections[i]
		switch {
		case s.Type == elf.SHT_RELA, s.Type == elf.SHT_SYMTAB, s.Type == elf.SHT_STRTAB, s.Name == ".llvm_addrsig", s.Name == ".eh_frame", s.Type == elf.SHT_NOBITS, s.Type == elf.SHT_NULL:
			continue
		}
		if s.Name != n.Name {
			t.Fatalf("section %d is %s, was %s", i, n.Name, s.Name)
		}
		old, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		if now, err := n.Data(); err != nil || string(now) != string(old) {
			t.Errorf("section %s has changed (%v)", s.Name, err)
		}
	}
}
