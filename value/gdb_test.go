// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package value_test

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// The output of testdata/frames.py.
type (
	gdbStop struct {
		Maps   []gdbMap
		Frames []*gdbFrame
	}
	gdbMap   struct{ Start, File, Path string }
	gdbFrame struct {
		PC, CFA, Name, Line, Locals, Args string
		Inline, Interrupted, Tail         bool
		Registers                         map[string]string
		Print, Whatis, Expressions        map[string]string
	}
)

func tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("skipped: " + name + " is not installed")
	}
	return path
}

// build compiles a program of testdata.
func build(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	words := strings.Fields(compiler)
	args := append(append(words[1:], "-g", "-w", "-o", out), flags...)
	if filepath.Ext(source) == ".rs" {
		args = append([]string{"-g", "-Awarnings", "-o", out}, flags...)
	}
	switch filepath.Ext(source) {
	case ".f90":
		args = append(args, "-J", filepath.Dir(out)) // where gfortran writes module files
	case ".pas":
		args = append([]string{"-gw3", "-O-", "-v0", "-o" + out}, flags...)
	case ".adb":
		args = append([]string{"-q", "-g", "-gnatws", "-o", out}, flags...)
	}
	if slices.Contains(flags, "-gsplit-dwarf") {
		// The files of split units are named for the object file.
		part := append([]string{"-g", "-w", "-c", "-o", out + ".o"}, flags...)
		if b, err := exec.Command(tool(t, compiler), append(part, source)...).CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", compiler, flags, err, b)
		}
		source = out + ".o"
	}
	source, err := filepath.Abs(source)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool(t, words[0]), append(args, source)...)
	cmd.Dir = filepath.Dir(out) // gnatmake writes files into the working directory
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", compiler, flags, err, b)
	}
	return out
}

// sharedBuild is build for a program that does not change. Of C and C++, other tests and runs
// share it.
func sharedBuild(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	if ext := filepath.Ext(source); ext != ".c" && ext != ".cc" || slices.Contains(flags, "-gsplit-dwarf") {
		return build(t, compiler, source, flags...)
	}
	return testprogram.Compile(t, "program", source, slices.Concat(strings.Fields(compiler), []string{"-g", "-w"}, flags)...)
}

// packed moves the split units of a program to a package.
func packed(t *testing.T, program string) {
	for _, command := range [][]string{
		{"dwp", "-e", program, "-o", program + ".dwp"},
		{"rm", program + ".dwo"},
	} {
		if b, err := exec.Command(tool(t, command[0]), command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", command, err, b)
		}
	}
}

// shared moves what a program and a copy of it share to another file.
func shared(t *testing.T, program string) {
	for _, command := range [][]string{
		{"cp", program, program + ".copy"},
		{"dwz", "-m", program + ".shared", program, program + ".copy"},
	} {
		if b, err := exec.Command(tool(t, command[0]), command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", command, err, b)
		}
	}
}

// gdbStops runs a program under gdb. A program for arm64 runs in an emulator, with a gdb for that
// machine.
func gdbStops(t *testing.T, program, source string, machine *registers) []gdbStop {
	t.Helper()
	gdb, remote, ranges := "gdb", "", [][2]uint64{}
	if machine == arm64 {
		gdb = "gdb-multiarch"
		remote, ranges = emulate(t, program)
	}
	gdb = tool(t, gdb)
	abs, err := filepath.Abs(source)
	if err != nil {
		t.Fatal(err)
	}
	wanted, _ := json.Marshal(slices.Collect(maps.Keys(expressions)))
	setup := fmt.Sprintf("python source=%q; directory=%q; expressions=%s; remote=%q", abs, t.TempDir(), wanted, remote)
	for name, value := range map[string]any{"general": machine.general, "vectors": machine.vectors, "lanes": machine.lanes, "ranges": ranges} {
		text, _ := json.Marshal(value)
		setup += fmt.Sprintf("; %s=%s", name, text)
	}
	cmd := exec.Command(gdb, "-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no",
		"-iex", "set auto-solib-add off", // they have no variables to compare
		"-ex", setup, "-x", "testdata/frames.py", program)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	_, line, ok := bytes.Cut(out, []byte("STOPS "))
	if !ok {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	var stops []gdbStop
	if err := json.Unmarshal(line, &stops); err != nil {
		t.Fatal(err)
	}
	if len(stops) == 0 {
		t.Fatalf("gdb did not stop:\n%s", out)
	}
	return stops
}

// emulate starts an arm64 program under an emulator that waits for gdb. It returns the path of the
// emulator's socket and the ranges of the program's memory.
func emulate(t *testing.T, program string) (remote string, ranges [][2]uint64) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			ranges = append(ranges, [2]uint64{p.Vaddr, p.Vaddr + p.Memsz})
		}
	}
	remote = filepath.Join(t.TempDir(), "gdb")
	cmd := exec.Command(tool(t, "qemu-aarch64"), "-g", remote, program)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	for {
		if _, err := os.Stat(remote); err == nil {
			return remote, ranges
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%v has ended: %v", cmd, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// session is a comparison of one program.
type session struct {
	*testing.T
	file     *object.File
	machine  *registers
	info     *value.Info
	printer  print.Printer
	program  string
	compiler string
	strict   bool // DWARF 2
	checked  int
	wrong    map[string]int
}

func newSession(t *testing.T, program string) *session {
	f, err := object.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.OpenDebugFile(object.DebugSearch{}); err != nil {
		t.Fatal(err)
	}
	info, err := value.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	machine := map[elf.Machine]*registers{elf.EM_X86_64: amd64, elf.EM_AARCH64: arm64}[f.Machine().ELF]
	return &session{T: t, file: f, machine: machine, info: info, program: program, wrong: make(map[string]int)}
}

func (s *session) stop(stop *gdbStop) {
	frames, groups := s.physical(stop)
	for _, f := range frames {
		s.frame(f, groups[f])
	}
}

// physical groups gdb's frames: each real one with the inlined calls before it.
func (s *session) physical(stop *gdbStop) (frames []*dumpFrame, groups map[*dumpFrame][]*gdbFrame) {
	var memory dump
	bias := uint64(0)
	for _, m := range stop.Maps {
		b, err := os.ReadFile(m.File)
		if err != nil {
			s.Fatal(err)
		}
		memory = append(memory, struct {
			start uint64
			bytes []byte
		}{parseHex(m.Start), b})
		if s.file.Type() == elf.ET_DYN && m.Path == s.program && (bias == 0 || parseHex(m.Start) < bias) {
			bias = parseHex(m.Start)
		}
	}
	s.printer.Symbols = newSymbols(s.file, s.info, bias)
	var previous *dumpFrame
	var group []*gdbFrame
	groups = make(map[*dumpFrame][]*gdbFrame)
	for _, g := range stop.Frames {
		group = append(group, g)
		if g.Inline {
			continue
		}
		if g.Tail {
			group = nil
			// The caller passed its parameters to another function.
			if previous != nil {
				previous.caller = nil
			}
			previous = nil
			continue
		}
		f := &dumpFrame{dump: memory, gdb: g, registers: s.machine, info: s.info, bias: bias, interrupted: len(frames) == 0}
		if previous != nil {
			previous.caller = f
		}
		previous = f
		frames, groups[f] = append(frames, f), group
		group = nil
	}
	return frames, groups
}

func (s *session) frame(f *dumpFrame, group []*gdbFrame) {
	if f.gdb.Name == "" {
		return // of a library without debugging information
	}
	_, lookup := f.ProgramCounter()
	scopes, err := s.info.Scopes(lookup - f.bias)
	if err != nil {
		s.Errorf("%s: %v", f.gdb.Line, err)
		return
	}
	if len(scopes) > len(group) && s.strict {
		return // gdb shows no frame for an inlined call without DW_AT_call_line, as in DWARF 2
	}
	if len(scopes) != len(group) {
		s.Errorf("%s: %d scopes, gdb has %d frames", f.gdb.Line, len(scopes), len(group))
		return
	}
	for k, scope := range scopes {
		g := group[k]
		if scope.Function.Name != g.Name && !strings.HasPrefix(g.Name, scope.Function.Name) {
			s.Errorf("function %s, gdb has %s", scope.Function.Name, g.Name)
		}
		s.list(g, "info args", g.Args, scope.Arguments, f)
		var locals []*value.Variable
		for _, b := range scope.Blocks {
			locals = append(locals, b.Variables...)
		}
		s.list(g, "info locals", g.Locals, locals, f)
		s.line(g, scope, f)
		for what, want := range g.Print {
			name, format, _ := strings.Cut(what, "/")
			v := scope.Lookup(name)
			if v == nil && (scope.Function.Language == value.Ada && strings.Contains(what, "n/")) {
				continue // gdb prints variables that GNAT made, but does not list them
			}
			if v == nil {
				s.miss(g, "print "+what, "no variable", want)
				continue
			}
			if s.excused(v, f) != "" {
				continue
			}
			if what == "e/a" {
				continue // gdb prints symbols of libraries for these addresses
			}
			p := s.printer
			if format != "" {
				p.Format = format[0]
			}
			got, err := p.Print(v.Read(f))
			if err != nil {
				got = "ERROR " + err.Error()
			}
			want = strings.TrimSpace(want)
			if i := strings.Index(want, " = "); strings.HasPrefix(want, "$") && i > 0 {
				want = want[i+3:]
			}
			// gdb does not follow a T&& if there is a format.
			if format != "" && v.Type.Kind() == value.RvalueReference {
				continue
			}
			// gdb prints a synthetic pointer as 0 in a format, and uses linkage names in the
			// format "a".
			if format != "" && strings.Contains(g.Print[name+"/"], "<synthetic pointer>") {
				continue
			}
			if format == "a" {
				want = clone.ReplaceAllString(want, "$1")
				want = strings.ReplaceAll(want, "structures.fixed", "structures[fixed]")
				want = strings.ReplaceAll(want, "<twice_>", "<twice>")
			}
			s.compare(g, "print "+what, got, want)
		}
		for text, want := range g.Expressions {
			s.expression(g, text, want, scope, f)
		}
		for name, want := range g.Whatis {
			if v := scope.Lookup(name); v != nil && s.excused(v, f) == "" && want != "type = <ref> types.child\n" { // the type of the object, not of the variable
				s.compare(g, "whatis "+name, v.Read(f).Type().String(), strings.TrimSpace(strings.TrimPrefix(want, "type = ")))
			}
		}
	}
}

// expressions are computed from a variable, their first word.
var expressions = map[string]func(value.Value) value.Value{
	"list->next":       func(v value.Value) value.Value { return v.Deref().FieldByName("next") },
	"list->next->name": func(v value.Value) value.Value { return v.Deref().FieldByName("next").Deref().FieldByName("name") },
	"list[2]":          func(v value.Value) value.Value { return v.Index(2) },
	"list[1].name[0]":  func(v value.Value) value.Value { return v.Index(1).FieldByName("name").Index(0) },
	"&list[1]":         func(v value.Value) value.Value { return v.Index(1).Pointer() },
	"*n":               func(v value.Value) value.Value { return v.Deref() },
	"o.f":              func(v value.Value) value.Value { return v.FieldByName("f") },
	"o.inner":          func(v value.Value) value.Value { return v.FieldByName("inner") },
	"o.inner.y":        func(v value.Value) value.Value { return v.FieldByName("inner").FieldByName("y") },
	"o.u.bytes":        func(v value.Value) value.Value { return v.FieldByName("u").FieldByName("bytes") },
	"o.op":             func(v value.Value) value.Value { return v.FieldByName("op") },
	"*o.op":            func(v value.Value) value.Value { return v.FieldByName("op").Deref() },
	"&o.d":             func(v value.Value) value.Value { return v.FieldByName("d").Pointer() },
	"o.d[1]":           func(v value.Value) value.Value { return v.FieldByName("d").Index(1) },
	"b.b":              func(v value.Value) value.Value { return v.FieldByName("b") },
	"b.c":              func(v value.Value) value.Value { return v.FieldByName("c") },
	"grid[1]":          func(v value.Value) value.Value { return v.Index(1) },
	"grid[1][2]":       func(v value.Value) value.Value { return v.Index(1).Index(2) },
	"*ap":              func(v value.Value) value.Value { return v.Deref() },
	"ap[2][3]":         func(v value.Value) value.Value { return v.Index(2).Index(3) },
	"*pp":              func(v value.Value) value.Value { return v.Deref() },
	"**pp":             func(v value.Value) value.Value { return v.Deref().Deref() },
	"*op":              func(v value.Value) value.Value { return v.Deref() },
	"*bad":             func(v value.Value) value.Value { return v.Deref() },
	"*flex":            func(v value.Value) value.Value { return v.Deref() },
	"flex->data[1]":    func(v value.Value) value.Value { return v.Deref().FieldByName("data").Index(1) },
	"*q":               func(v value.Value) value.Value { return v.Deref() },
	"argv[0]":          func(v value.Value) value.Value { return v.Index(0) },
	"table[0]":         func(v value.Value) value.Value { return v.Index(0) },
	"cd.d":             func(v value.Value) value.Value { return v.FieldByName("d") },
	"cd.b":             func(v value.Value) value.Value { return v.FieldByName("b") },
	"&cd":              func(v value.Value) value.Value { return v.Pointer() },
	"&r":               func(v value.Value) value.Value { return v.Pointer() },
	"this->d":          func(v value.Value) value.Value { return v.Deref().FieldByName("d") },
	"*this":            func(v value.Value) value.Value { return v.Deref() },
	"holder.ref":       func(v value.Value) value.Value { return v.FieldByName("ref") },
	"box.items[1]":     func(v value.Value) value.Value { return v.FieldByName("items").Index(1) },
	"virt.b":           func(v value.Value) value.Value { return v.FieldByName("b") },
}

var firstWord = regexp.MustCompile(`\w+`)

// expression compares an expression of a variable, if gdb evaluates it.
func (s *session) expression(g *gdbFrame, text, want string, scope *value.Scope, f *dumpFrame) {
	v := scope.Lookup(firstWord.FindString(text))
	if scope.Function.Language == value.Ada {
		return // expressions of these languages are not C's
	}
	_, want, ok := strings.Cut(strings.TrimSpace(want), " = ")
	if v == nil || !ok || s.excused(v, f) != "" {
		return
	}
	got, err := s.printer.Print(expressions[text](v.Read(f)))
	if err != nil {
		got = err.Error()
	}
	s.compare(g, "print "+text, got, want)
}

func (s *session) list(g *gdbFrame, command, want string, variables []*value.Variable, f *dumpFrame) {
	var got []string
	excused := make(map[string]bool)
	for _, v := range variables {
		if s.excused(v, f) != "" {
			excused[v.Name] = true
			continue
		}
		// info locals omits constants that the compiler wrote as bytes.
		if p := v.Read(f).Pieces(); len(p) == 1 && p[0].Kind == value.InBytes && !strings.Contains("\n"+want, "\n"+v.Name+" = ") {
			continue
		}
		got = append(got, s.printer.Variable(v, f))
	}
	var lines []string
	for line := range strings.Lines(want) {
		line = strings.TrimRight(line, "\n")
		if name, _, _ := strings.Cut(line, " = "); excused[name] {
			continue
		}
		// In a procedure of Ada, gdb lists enumeration literals as variables.
		if name, literal, _ := strings.Cut(line, " = "); s.compiler == "gnatmake" && (name == literal || strings.HasPrefix(name, "<Q")) {
			continue
		}
		if line != "No locals." && line != "No arguments." {
			lines = append(lines, line)
		}
	}
	// gdb lists the variables of a block in the order of a hash table.
	if command == "info locals" {
		slices.Sort(got)
		slices.Sort(lines)
	}
	for k := range max(len(got), len(lines)) {
		a, b := "nothing", "nothing"
		if k < len(got) {
			a = got[k]
		}
		if k < len(lines) {
			b = lines[k]
		}
		if a != b && len(got) != len(lines) {
			s.miss(g, command, strings.Join(got, "\n\t"), strings.Join(lines, "\n\t"))
			return
		}
		s.compare(g, command, a, b)
	}
}

var frameArgs = regexp.MustCompile(`^#\d+ +(?:0x[0-9a-f]+ in )?.*? \((.*)\) (?:at|from) `)

// excused returns why a variable is not compared, or "".
func (s *session) excused(v *value.Variable, f *dumpFrame) string {
	val := v.Read(f)
	if _, ok := val.Address(); !ok && val.Err() == nil {
		covered := uint64(0)
		for _, p := range val.Pieces() {
			covered += p.BitSize
		}
		if covered < 8*val.Type().Size() {
			return "gdb shows what no piece covers as a synthetic pointer, or as zeros; it is optimized out"
		}
	}
	clang := strings.HasPrefix(s.compiler, "clang")
	switch {
	case clang && (v.Name == "wide" || v.Name == "uwide"):
		return "gdb does not read constants of 16 bytes, and calls clang's type unsigned int __int128"
	case clang && v.Name == "text" && val.Type().String() == "char []":
		return "gdb makes up the length of an array whose length is optimized out"
	case v.Name == "null" && val.Type().String() == "std::nullptr_t":
		return "gdb does not know decltype(nullptr)"
	}
	return ""
}

// line compares the arguments in a line of a backtrace.
func (s *session) line(g *gdbFrame, scope *value.Scope, f *dumpFrame) {
	m := frameArgs.FindStringSubmatch(g.Line)
	if m == nil {
		return
	}
	var got []string
	for _, v := range scope.Arguments {
		text, whole := strings.CutPrefix(string(s.printer.AppendArgument([]byte("before "), v, f)), "before ")
		if !whole {
			s.Errorf("%s: %q has not what was there before", v.Name, text)
		}
		got = append(got, text)
	}
	text := strings.Join(got, ", ")
	if scope.Function.Language == value.Fortran && !strings.Contains(m[1], "@entry") {
		// gdb searches for the target of a call by its source name, "store::callback", and does
		// not find it.
		text = sameAtEntry.ReplaceAllString(text, "=")
	}
	s.compare(g, "frame", text, m[1])
}

var sameAtEntry = regexp.MustCompile(`=\w+@entry=`)

func (s *session) compare(g *gdbFrame, what, got, want string) {
	s.checked++
	if got != want && !errorsAgree(got, want) {
		s.miss(g, what, got, want)
	}
}

// errorsAgree reports whether both texts are errors. Their words may differ.
func errorsAgree(got, want string) bool {
	// gdb prints this if the descriptor of an array is optimized out.
	want = strings.ReplaceAll(want, "access outside bounds of object referenced via synthetic pointer", "Location address is not set.")
	return got == want || strings.HasPrefix(got, "ERROR ") && strings.HasPrefix(want, "ERROR ")
}

func (s *session) miss(g *gdbFrame, what, got, want string) {
	s.wrong[what]++
	if s.wrong[what] == 1 {
		s.Errorf("%s\n%s:\n\t%s\ngdb:\n\t%s", g.Line, what, got, want)
	}
}

// TestGDB compares all that gdb prints about the frames of programs with the results of the package
// for the same registers and memory.
func TestGDB(t *testing.T) {
	type variant struct {
		source, compiler string
		flags            []string
		after            func(t *testing.T, program string)
	}
	var variants []variant
	for _, compiler := range []string{"gcc", "clang-14"} {
		for _, level := range []string{"-O0", "-Og", "-O1", "-O2"} {
			for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
				variants = append(variants, variant{"values.c", compiler, []string{level, version}, nil})
			}
		}
	}
	for _, compiler := range []string{"g++", "clang++-14"} {
		for _, level := range []string{"-O0", "-O2"} {
			variants = append(variants, variant{"classes.cc", compiler, []string{level, "-gdwarf-5"}, nil})
		}
	}
	variants = append(variants,
		variant{"values.c", "gcc", []string{"-O0", "-gdwarf-2", "-gstrict-dwarf", "-no-pie"}, nil},
		variant{"values.c", "gcc", []string{"-O2", "-gdwarf-3", "-no-pie"}, nil},
		variant{"values.c", "gcc", []string{"-O2", "-fdebug-types-section"}, nil},
		variant{"values.c", "gcc", []string{"-O2", "-flto"}, nil},
		variant{"values.c", "gcc", []string{"-O2", "-gdwarf64"}, nil},
		variant{"classes.cc", "g++", []string{"-Og", "-gdwarf-4"}, nil},
		variant{"decimal.c", "gcc", []string{"-O0"}, nil},
		variant{"decimal.c", "gcc", []string{"-Og"}, nil},
		variant{"values.c", "gcc", []string{"-O2", "-gdwarf-4", "-fdebug-types-section"}, nil},
		variant{"values.c", "gcc", []string{"-O2", "-gdwarf-4", "-gsplit-dwarf"}, packed},
		variant{"values.c", "gcc", []string{"-O2", "-gdwarf-5", "-gsplit-dwarf"}, nil},
		// gdb 13 misses entry values in split units of DWARF 5 that clang wrote.
		variant{"values.c", "clang-14", []string{"-O2", "-gdwarf-4", "-gsplit-dwarf"}, nil},
		variant{"classes.cc", "g++", []string{"-O2", "-gdwarf-4", "-gsplit-dwarf", "-fdebug-types-section"}, nil},
		variant{"classes.cc", "g++", []string{"-O2", "-gdwarf-4"}, shared},
		variant{"sets.pas", "fpc", nil, nil},
		variant{"types.adb", "gnatmake", []string{"-O0"}, nil},
		variant{"types.adb", "gnatmake", []string{"-Og"}, nil},
		variant{"arrays.f90", "gfortran", []string{"-O0", "-gdwarf-5"}, nil},
		variant{"arrays.f90", "gfortran", []string{"-O0", "-gdwarf-4"}, nil},
		variant{"arrays.f90", "gfortran", []string{"-O2", "-gdwarf-5"}, nil},
		variant{"values.c", "aarch64-linux-gnu-gcc", []string{"-O0", "-static"}, nil},
		variant{"values.c", "aarch64-linux-gnu-gcc", []string{"-O2", "-static"}, nil},
		variant{"values.c", "clang-14 --target=aarch64-linux-gnu", []string{"-O0", "-static"}, nil})
	for _, v := range sample.Covering(t, variants, 9, func(v variant) []string {
		return []string{v.source, v.compiler, fmt.Sprint("after ", v.after != nil)}
	}) {
		t.Run(strings.Join(append([]string{v.source, v.compiler}, v.flags...), " "), func(t *testing.T) {
			source := filepath.Join("testdata", v.source)
			var program string
			if v.after == nil {
				program = sharedBuild(t, v.compiler, source, v.flags...)
			} else {
				program = build(t, v.compiler, source, v.flags...)
				v.after(t, program)
			}
			s := newSession(t, program)
			s.compiler, s.strict = v.compiler, slices.Contains(v.flags, "-gdwarf-2")
			stops := gdbStops(t, program, source, s.machine)
			for k := range stops {
				s.stop(&stops[k])
			}
			t.Logf("%d stops, %d texts compared", len(stops), s.checked)
		})
	}
}
