// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// lineSource has lines with code in several places: loops, blocks with names, macros, inlined
// calls, functions on one line, realigned stacks.
const lineSource = `
#include <stdio.h>
#include <stdlib.h>

#define TWICE(x) do { int y = (x); use(y); \
		use(y + 1); } while (0)

volatile int sink;
static void use(int x) { sink += x; }
static int one(int x) { return x + 1; }

static inline __attribute__((always_inline)) int square(int x)
{
	int y = x * x;
	use(y);
	return y;
}

__attribute__((noinline)) int blocks(int n)
{
	for (int i = 0; i < n; i++) { int a = i * 2; use(a); { int b = a + i; use(b); } }
	for (int i = 0; i < n; i++)
		for (int j = i; j < n; j++)
			TWICE(i * j);
	while (n-- > 0) { use(n); if (n == 3) { int c = n; use(c * 2); continue; } use(n + 1); }
	return square(n) + square(n + 1);
}

__attribute__((noinline)) int choose(int n)
{
	switch (n) {
	case 1: return one(n);
	case 2: use(n); break;
	case 3:
		use(4);
		/* falls through */
	case 4: { int k = n * 3; use(k); break; }
	default:
		if (n > 1000) abort();
	}

	return square(n);
}

__attribute__((noinline)) int aligned(int n)
{
	int values[16] __attribute__((aligned(64)));
	for (int i = 0; i < 16; i++)
		values[i] = n * i;
	use(values[n & 15]);
	return values[3];
}

__attribute__((noinline)) double many(double a, double b, long c, char *d)
{
	double sum = a;

	if (d && *d)
		sum += b * c;
	return sum / (c + 1);
}

int recursive(int n) { if (n < 2) return n; return recursive(n - 1) + recursive(n - 2); }

void nothing(void) {}

void (*pointer)(void) = nothing;

int main(int argc, char **argv)
{
	int result = blocks(argc + 3) + choose(argc);
	result += aligned(argc);
	result += many(argc, result, argc, argv[0]);
	pointer();
	if (result == 1234567) {
		puts("unlikely");
		exit(1);
	}
	return recursive(argc + 4) == result;
}
`

// builds are the ways to compile programs for the comparison of lines with gdb.
func builds(t *testing.T, run func(t *testing.T, compiler string, flags ...string)) {
	var all [][]string
	for _, compiler := range []string{"gcc", "clang-14"} {
		for _, flags := range [][]string{{"-O0"}, {"-O1"}, {"-O2", "-gdwarf-4"}, {"-O0", "-fomit-frame-pointer"}, {"-O3", "-ffunction-sections"}} {
			all = append(all, append([]string{compiler}, flags...))
		}
	}
	for _, build := range sample.Covering(t, all, 3, func(build []string) []string { return build[:1] }) {
		t.Run(strings.Join(build, ""), func(t *testing.T) {
			testprogram.RequireTool(t, build[0])
			run(t, build[0], append([]string{"-g"}, build[1:]...)...)
		})
	}
}

// gdb runs commands one by one, and returns the output of each.
func gdb(t *testing.T, program string, commands []string) []string {
	t.Helper()
	testprogram.RequireTool(t, "gdb")
	var script strings.Builder
	script.WriteString("set confirm off\nset pagination off\nset width 0\nset breakpoint pending off\n")
	for _, c := range commands {
		fmt.Fprintf(&script, "echo \\n@@@\\n\npython\ntry:\n  gdb.execute(%q)\nexcept gdb.error as e:\n  print('error:', e)\nend\n", c)
	}
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(script.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(run(t, "gdb", "-nx", "-q", "-batch", "-x", path, program), "\n@@@\n")
	if len(parts) != len(commands)+1 {
		t.Fatalf("%d answers to %d commands", len(parts)-1, len(commands))
	}
	return parts[1:]
}

var infoLine = regexp.MustCompile(` (\d+) of "(.*)" starts at address 0x([0-9a-f]+)(?: <.*?>)?\s+and ends at 0x([0-9a-f]+)`)

// hexNumber is an address in a row of "info breakpoints".
var hexNumber = regexp.MustCompile(`(?m)^\d+(?:\.\d+)? .*\b(0x[0-9a-f]{16})`)

// breakAddresses returns the addresses of breakpoints at locations.
func breakAddresses(t *testing.T, program string, locations []string) [][]uint64 {
	t.Helper()
	var commands []string
	for _, l := range locations {
		commands = append(commands, "delete", "break "+l, "info breakpoints")
	}
	answers := gdb(t, program, commands)
	var list [][]uint64
	for i := range locations {
		var addrs []uint64
		for _, m := range hexNumber.FindAllStringSubmatch(answers[3*i+2], -1) {
			addr, err := strconv.ParseUint(m[1], 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			addrs = append(addrs, addr)
		}
		slices.Sort(addrs)
		list = append(list, slices.Compact(addrs))
	}
	return list
}

func TestLinesAgreeWithGDB(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	for name, source := range map[string]string{"lines.c": lineSource, "inline.c": inlineSource} {
		t.Run(name, func(t *testing.T) {
			builds(t, func(t *testing.T, compiler string, flags ...string) {
				path := write(t, name, source)
				out := path + ".out"
				run(t, compiler, append(flags, "-o", out, path)...)
				f := open(t, out)
				t.Run("rows", func(t *testing.T) { compareRows(t, f) })
				t.Run("lines", func(t *testing.T) { compareLines(t, f, name, strings.Count(source, "\n")) })
				t.Run("functions", func(t *testing.T) { compareFunctions(t, f) })
				if f.Damage() != nil {
					t.Error(f.Damage())
				}
			})
		})
	}
}

// compareRows compares the row of every byte of code that has lines.
func compareRows(t *testing.T, f *File) {
	var addrs []uint64
	var commands []string
	for s := range f.Symbols() {
		if s.Type != 2 || s.Size == 0 || strings.HasPrefix(s.Name, "_") {
			continue
		}
		for a := s.Address; a < s.Address+s.Size; a++ {
			addrs = append(addrs, a)
			commands = append(commands, fmt.Sprintf("info line *%#x", a))
		}
	}
	wrong := 0
	for i, answer := range gdb(t, f.Name(), commands) {
		want := "none"
		if m := infoLine.FindStringSubmatch(answer); m != nil {
			want = fmt.Sprintf("%s:%s from %s to %s", filepath.Base(m[2]), m[1], m[3], m[4])
		}
		r, err := f.LineRange(addrs[i])
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if r.Line != 0 {
			got = fmt.Sprintf("%s:%d from %x to %x", filepath.Base(r.File), r.Line, r.Start, r.End)
		}
		if got != want {
			if wrong++; wrong < 8 {
				t.Errorf("%#x: %s, gdb has %s (%s)", addrs[i], got, want, strings.TrimSpace(answer))
			}
		}
	}
	if wrong > 0 || len(addrs) < 100 {
		t.Errorf("%d of %d differ", wrong, len(addrs))
	}
}

func compareLines(t *testing.T, f *File, name string, count int) {
	var locations []string
	for line := 1; line <= count+1; line++ {
		locations = append(locations, fmt.Sprintf("%s:%d", name, line))
	}
	wrong, most := 0, 0
	for i, want := range breakAddresses(t, f.Name(), locations) {
		got, err := f.FindLine(nil, name, i+1)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, len(got))
		if !slices.Equal(got, want) {
			if wrong++; wrong < 8 {
				t.Errorf("line %d: %#x, gdb has %#x", i+1, got, want)
			}
		}
	}
	if wrong > 0 || most < 2 {
		t.Errorf("%d of %d lines differ; at most %d addresses", wrong, count, most)
	}
}

func compareFunctions(t *testing.T, f *File) {
	var names []string
	for s := range f.Symbols() {
		if s.Type == 2 && s.Size > 0 && !strings.HasPrefix(s.Name, "_") && !strings.Contains(s.Name, ".") {
			names = append(names, s.Name)
		}
	}
	for _, name := range []string{"square", "use", "one", "first", "second", "third"} {
		if list, _ := f.Functions(name); len(list) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) < 4 {
		t.Errorf("only the functions %v", names)
	}
	for i, want := range breakAddresses(t, f.Name(), names) {
		list, err := f.Functions(names[i])
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for _, function := range list {
			after, err := f.AfterPrologue(nil, function.Entry)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, after)
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%s: %#x, gdb has %#x", names[i], got, want)
		}
	}
}

// TestMarkedPrologueAgreesWithGDB compares the end of a prologue that only a marked row
// shows.
func TestMarkedPrologueAgreesWithGDB(t *testing.T) {
	testprogram.RequireTool(t, "gcc")
	for _, level := range []string{"-O0", "-O2"} {
		assembly := run(t, "gcc", "-g", level, "-S", "-o", "-", write(t, "marked.c", "volatile int a;\n__attribute__((noinline)) int f(int x)\n{\n\tint i = a;\n\ta = x;\n\ta = i + x;\n\ta = 3;\n\treturn i;\n}\nint main(int c, char **v)\n{\n\treturn f(c);\n}\n"))
		before, after, ok := strings.Cut(assembly, ".loc 1 6 ")
		if !ok {
			t.Fatalf("no row of line 6:\n%s", assembly)
		}
		row, after, _ := strings.Cut(after, "\n")
		source := write(t, "marked.s", before+".loc 1 6 "+row+" prologue_end\n"+after)
		out := source + ".out"
		run(t, "gcc", "-o", out, source)
		f := open(t, out)
		locations := []string{"f"}
		for line := 1; line <= 12; line++ {
			locations = append(locations, fmt.Sprintf("marked.c:%d", line))
		}
		marked := false
		for i, want := range breakAddresses(t, out, locations) {
			var got []uint64
			if i == 0 {
				functions, _ := f.Functions("f")
				after, _ := f.AfterPrologue(nil, functions[0].Entry)
				got = []uint64{after}
			} else {
				got, _ = f.FindLine(nil, "marked.c", i)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s %s: %#x, gdb has %#x", level, locations[i], got, want)
			}
			r, err := f.LineRange(got[0])
			marked = marked || r.PrologueEnd && err == nil
		}
		if !marked {
			t.Error("no breakpoint at the mark")
		}
	}
}

// TestSameNamesAgreeWithGDB has static functions with one name in files with one name.
func TestSameNamesAgreeWithGDB(t *testing.T) {
	testprogram.RequireTool(t, "gdb")
	for _, build := range []string{"gcc -O0", "gcc -O2", "clang-14 -O0", "clang-14 -O2"} {
		compiler, level, _ := strings.Cut(build, " ")
		testprogram.RequireTool(t, compiler)
		dir := t.TempDir()
		for name, source := range map[string]string{
			"one/part.c": "static __attribute__((noinline)) int help(int n)\n{\n\tint m = n * 3;\n\n\treturn m ^ n;\n}\nint one(int n) { return help(n); }\n",
			"two/part.c": "\n\nstatic __attribute__((noinline)) int help(int n)\n{\n\treturn n + 2;\n}\n\nint two(int n)\n{\n\treturn help(n);\n}\n",
			"main.c":     "int one(int), two(int);\nint main(int argc, char **argv)\n{\n\treturn one(argc) + two(argc);\n}\n",
		} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		out := filepath.Join(dir, "out")
		run(t, compiler, "-g", level, "-o", out, filepath.Join(dir, "main.c"), filepath.Join(dir, "one/part.c"), filepath.Join(dir, "two/part.c"))
		f := open(t, out)
		for _, file := range []string{"part.c", "two/part.c", filepath.Join(dir, "one/part.c")} {
			var locations []string
			for line := 1; line <= 12; line++ {
				locations = append(locations, fmt.Sprintf("%s:%d", file, line))
			}
			for i, want := range breakAddresses(t, out, locations) {
				if got, err := f.FindLine(nil, file, i+1); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: %s: %#x, %v; gdb has %#x", build, locations[i], got, err, want)
				}
			}
		}
		want := breakAddresses(t, out, []string{"help"})[0]
		var got []uint64
		functions, err := f.Functions("help")
		for i := range functions {
			addr, _ := f.AfterPrologue(nil, functions[i].Entry)
			got = append(got, addr)
		}
		if slices.Sort(got); len(got) != 2 || err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: help: %#x, %v; gdb has %#x", build, got, err, want)
		}
	}
}
