// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/source"
	"github.com/clewdev/clew/report/table"
)

// template is an object file with functions to print, and the assembler for the output.
type template struct {
	name      string
	path      string
	assembler []string
}

// Compilations of testdata/template.c.
var compilations = []struct {
	name      string
	compiler  string
	flags     string
	assembler string
}{
	{"gcc-O0", "gcc", "-O0", "as --64"},
	{"gcc-O2", "gcc", "-O2 -mno-red-zone", "as --64"},
	{"gcc-frame-pointer", "gcc", "-O2 -fno-omit-frame-pointer -mavx2", "as --64"},
	{"gcc-arguments-pushed", "gcc", "-O1 -maccumulate-outgoing-args -fno-asynchronous-unwind-tables -g", "as --64"},
	{"gcc-m32", "gcc", "-O2 -m32", "as --32"},
	{"clang-O2", "clang", "-O2", "as --64"},
	{"clang-O0", "clang", "-O0", "as --64"},
	{"clang-arm64-pac", "clang", "--target=aarch64-linux-gnu -O2 -mbranch-protection=standard", "aarch64-linux-gnu-as"},
	{"clang-arm64-b-key", "clang", "--target=aarch64-linux-gnu -O1 -mbranch-protection=pac-ret+leaf+b-key", "aarch64-linux-gnu-as"},
	{"clang-riscv64", "clang", "--target=riscv64-linux-gnu -O2", "riscv64-linux-gnu-as"},
	{"clang-s390x", "clang", "--target=s390x-linux-gnu -O2", "s390x-linux-gnu-as"},
	{"clang-ppc64le", "clang", "--target=powerpc64le-linux-gnu -O2", "powerpc64le-linux-gnu-as"},
}

// templates calls test with one object file after the other.
func templates(t *testing.T, test func(t *testing.T, of template)) {
	for _, c := range compilations {
		t.Run(c.name, func(t *testing.T) {
			testprogram.RequireTool(t, c.compiler)
			path := filepath.Join(t.TempDir(), c.name+".o")
			args := append(strings.Fields(c.flags), "-fasynchronous-unwind-tables", "-c", "-o", path, "testdata/template.c")
			if strings.Contains(c.flags, "-fno-asynchronous-unwind-tables") {
				args = append(strings.Fields(c.flags), "-c", "-o", path, "testdata/template.c")
			}
			run(t, exec.Command(c.compiler, args...))
			test(t, template{c.name, path, strings.Fields(c.assembler)})
		})
	}
	for _, s := range testprogram.Sources(t, "asm") {
		name := strings.TrimSuffix(filepath.Base(s), ".s")
		t.Run(name, func(t *testing.T) {
			path := testprogram.Assemble(t, s)
			test(t, template{name, path, assembler(t, s)})
		})
	}
}

// assembler returns the command in the first line of a source, without a flag that the printed
// code must not need.
func assembler(t *testing.T, s string) []string {
	text, err := os.ReadFile(testprogram.Path(s))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return slices.DeleteFunc(strings.Fields(strings.TrimLeft(line, "#/|@! ")), func(f string) bool { return f == "-mregnames" })
}

func run(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, stderr.Bytes())
	}
	return out
}

// opened is an object file with its listing.
type opened struct {
	*object.File
	sections []*cfi.Section
	list     *table.Listing
}

func open(t *testing.T, path string) opened {
	t.Helper()
	f, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	sections, err := f.CFISections()
	if err != nil {
		t.Fatal(err)
	}
	list, err := table.List(sections, f, table.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return opened{f, sections, list}
}

// printed is a printed function.
type printed struct {
	identifier string
	machine    *arch.Machine
	size       uint64
	rows       string // of its FDE
}

var (
	entryOf  = regexp.MustCompile(`bytes of code, (\.\S+) FDE (0x[0-9a-f]+)\.`)
	declared = map[source.Format]*regexp.Regexp{
		source.Go:  regexp.MustCompile(`^func (\w+)\(\)`),
		source.C:   regexp.MustCompile(`^static const unsigned char eh_frame_(\w+)\[\]`),
		source.Asm: regexp.MustCompile(`^([\w.]+):$`),
	}
)

// write prints the functions of a file, and returns the text and the functions in it.
func write(t testing.TB, f opened, format source.Format) (text string, functions []printed, faults int) {
	t.Helper()
	var out strings.Builder
	summary, err := source.Write(&out, format, "clew table", f.list, f.File, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	var of cfi.FDE
	for line := range strings.Lines(out.String()) {
		line = strings.TrimRight(line, "\n")
		if m := entryOf.FindStringSubmatch(line); m != nil {
			offset, _ := strconv.ParseUint(m[2], 0, 64)
			i := slices.IndexFunc(f.sections, func(s *cfi.Section) bool { return s.Name == m[1] && s.FDEAt(offset, &of) == nil })
			if i < 0 {
				t.Fatalf("no entry for %q", line)
			}
		}
		if m := declared[format].FindStringSubmatch(line); m != nil {
			if names[m[1]] {
				t.Errorf("%s is declared twice", m[1])
			}
			names[m[1]] = true
			functions = append(functions, printed{m[1], of.CIE.Section.Machine, of.End - of.Start, rows(t, &of)})
		}
	}
	return out.String(), functions, summary.Faults
}

// rows returns the rows of an FDE, independent of the addresses of its function and
// expressions. It merges equal rows.
func rows(t testing.TB, f *cfi.FDE) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%#x bytes, return address %d, signal frame %t, B key %t, tagged %t\n",
		f.End-f.Start, f.CIE.ReturnAddress, f.CIE.SignalFrame, f.CIE.BKey, f.CIE.MTETagged)
	var x cfi.Interpreter
	before := ""
	for r := range x.Rows(f) {
		var row strings.Builder
		rule := func(rule cfi.Rule) {
			if e := r.Expression(rule); e != nil {
				fmt.Fprintf(&row, " %v %x", rule.Kind, e)
				return
			}
			fmt.Fprintf(&row, " %v %d %d", rule.Kind, rule.Register, rule.Offset)
		}
		rule(r.CFA)
		for _, c := range r.Registers {
			fmt.Fprintf(&row, "; %d", c.Column)
			rule(c.Rule)
		}
		fmt.Fprintf(&row, "; arguments %d, signed %t", r.ArgumentsSize, r.Signed)
		if row.String() != before {
			before = row.String()
			fmt.Fprintf(&b, "+%#x%s\n", r.Start-f.Start, before)
		}
	}
	if x.Err() != nil {
		t.Fatalf("%v: %v", f, x.Err())
	}
	return b.String()
}

// same compares a function with the FDE from its printed code.
func (p *printed) same(t testing.TB, got *cfi.FDE) {
	t.Helper()
	if g := rows(t, got); g != p.rows {
		t.Errorf("%s: got\n%swant\n%s", p.identifier, g, p.rows)
	}
}

// malformed has the number of functions of a template that are left out, because their start is
// in a slot without memory, or because of an operation of another machine.
var malformed = map[string]int{"encodings": 2, "vendor": 1}

func checkFaults(t *testing.T, of template, text string, faults int) {
	t.Helper()
	if want := malformed[of.name]; faults != want {
		t.Errorf("%d functions are left out, want %d:", faults, want)
		for line := range strings.Lines(text) {
			if strings.Contains(line, "is left out") || strings.Contains(line, "is malformed") {
				t.Log(line)
			}
		}
	}
}

func TestAssembled(t *testing.T) {
	templates(t, func(t *testing.T, of template) {
		testprogram.RequireTool(t, of.assembler[0])
		f := open(t, of.path)
		text, functions, faults := write(t, f, source.Asm)
		checkFaults(t, of, text, faults)
		assembled := filepath.Join(t.TempDir(), "assembled.o")
		cmd := exec.Command(of.assembler[0], append(of.assembler[1:], "--fatal-warnings", "-o", assembled, "-")...)
		cmd.Stdin = strings.NewReader(text)
		run(t, cmd)
		compareAssembled(t, functions, assembled)
	})
}

// compareAssembled compares functions with those in an object file.
func compareAssembled(t *testing.T, functions []printed, path string) {
	t.Helper()
	for _, s := range open(t, path).sections {
		n := 0
		for fde := range s.FDEs() {
			if n < len(functions) {
				functions[n].same(t, fde)
			}
			n++
		}
		if n != len(functions) {
			t.Errorf("%s: %d functions, want %d", s.Name, n, len(functions))
		}
	}
}

// The template contains a function that realigns its stack. gcc describes its CFA as the value of
// a slot in the frame.
func TestTemplateRealigns(t *testing.T) {
	testprogram.RequireTool(t, "gcc")
	path := filepath.Join(t.TempDir(), "template.o")
	run(t, exec.Command("gcc", "-O2", "-fasynchronous-unwind-tables", "-c", "-o", path, "testdata/template.c"))
	for format, want := range map[source.Format]string{
		source.Go:  "b.At(0x",
		source.C:   "DW_CFA_def_cfa_expression DW_OP_breg6 (rbp) -",
		source.Asm: ".cfi_escape 0x0f, 0x03, 0x76, 0x",
	} {
		if text, _, _ := write(t, open(t, path), format); !strings.Contains(text, want) || !strings.Contains(text, "DW_OP_deref") {
			t.Errorf("%v: no %q in\n%s", format, want, text)
		}
	}
}

// LLVM's assembler accepts the directives too.
func TestAssembledByClang(t *testing.T) {
	testprogram.RequireTool(t, "clang")
	for _, target := range []string{"x86_64-linux-gnu", "aarch64-linux-gnu", "riscv64-linux-gnu"} {
		t.Run(target, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "template.o")
			run(t, exec.Command("clang", "--target="+target, "-O2", "-fasynchronous-unwind-tables", "-c", "-o", path, "testdata/template.c"))
			text, functions, _ := write(t, open(t, path), source.Asm)
			assembled := filepath.Join(dir, "assembled.o")
			cmd := exec.Command("clang", "--target="+target, "-c", "-x", "assembler", "-o", assembled, "-")
			cmd.Stdin = strings.NewReader(text)
			run(t, cmd)
			compareAssembled(t, functions, assembled)
		})
	}
}

// harness is a program that uses the arrays as an author would, for code at 0x100000 and arrays
// that are copied to address 0, and prints them.
const harness = `
#include <stdio.h>
#include <string.h>
static void emit(const unsigned char *table, unsigned size, unsigned start, int big) {
	unsigned char copy[1 << 17];
	memcpy(copy, table, size);
	unsigned distance = 0x100000 - start;
	for (int i = 0; i < 4; i++)
		copy[start + i] = distance >> 8 * (big ? 3 - i : i);
	for (unsigned i = 0; i < size; i++)
		printf("%02x", copy[i]);
	printf("\n");
}
int main(void) {
`

func TestCompiledC(t *testing.T) {
	testprogram.RequireTool(t, "gcc")
	templates(t, func(t *testing.T, of template) {
		f := open(t, of.path)
		text, functions, faults := write(t, f, source.C)
		checkFaults(t, of, text, faults)
		var program strings.Builder
		program.WriteString(text + harness)
		for _, fn := range functions {
			fmt.Fprintf(&program, "\temit(eh_frame_%s, sizeof eh_frame_%[1]s, EH_FRAME_START_%[1]s, %d);\n", fn.identifier, big(f))
			fmt.Fprintf(&program, "\t_Static_assert(EH_FRAME_SIZE_%s == EH_FRAME_START_%[1]s + 4, \"\");\n", fn.identifier)
		}
		program.WriteString("}\n")
		binary := filepath.Join(t.TempDir(), "harness")
		cmd := exec.Command("gcc", "-Wall", "-Werror", "-o", binary, "-x", "c", "-")
		cmd.Stdin = strings.NewReader(program.String())
		run(t, cmd)
		lines := strings.Fields(string(run(t, exec.Command(binary))))
		if len(lines) != len(functions) {
			t.Fatalf("%d tables of %d functions", len(lines), len(functions))
		}
		for i, fn := range functions {
			compareEncoded(t, fn, lines[i])
		}
	})
}

func big(f opened) int {
	if f.Machine().Order.Uint16([]byte{0, 1}) == 1 {
		return 1
	}
	return 0
}

// compareEncoded compares a function with the one in a section in hexadecimal.
func compareEncoded(t testing.TB, fn printed, text string) {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	s := &cfi.Section{Name: fn.identifier, Machine: fn.machine, Data: data}
	n := 0
	for e, err := range s.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if e.FDE != nil {
			if n++; e.FDE.Start != 0x100000 {
				t.Errorf("%s: the code is at %#x", fn.identifier, e.FDE.Start)
			}
			fn.same(t, e.FDE)
		}
	}
	if n != 1 {
		t.Errorf("%s: %d FDEs", fn.identifier, n)
	}
}
