// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/stacktest"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
)

// shown is a frame or an inlined call in a backtrace.
type shown struct {
	name, arguments, file, line string

	inlined, tail bool // of Clew
}

func (s shown) String() string {
	return fmt.Sprintf("%s (%s) at %s:%s", s.name, s.arguments, s.file, s.line)
}

var (
	gdbLine  = regexp.MustCompile(`^#\d+ +(?:0x[0-9a-f]+ in )?(.*?) \((.*)\) at (.*):(\d+)$`)
	clewLine = regexp.MustCompile(`^ *#\d+ +(?:0x[0-9a-f]+ +)?(.*?) \((.*?)\)( \(inlined\))? at (.*?):(\d+)( \[.*\])?$`)
)

// gdbOf runs gdb on a core, and returns the output of a command, including errors.
func gdbOf(t *testing.T, gdb, program, core, command string, flags ...string) string {
	t.Helper()
	cmd := exec.Command(testprogram.RequireTool(t, gdb), append(flags, "-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no",
		"-ex", "set width 0", "-ex", "set filename-display absolute", "-ex", "set backtrace past-main on", "-ex", "echo \\n@\\n", "-ex", command, program, core)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "\n@\n") {
		t.Fatalf("%s: %v\n%s", gdb, err, out)
	}
	_, text, _ := strings.Cut(string(out), "\n@\n") // it shows the innermost frame when it opens a core
	return text
}

// gdbShows returns gdb's frames of a core, up to main.
func gdbShows(t *testing.T, program, core string, flags ...string) (list []shown) {
	t.Helper()
	return gdbFrames(t, gdbOf(t, "gdb", program, core, "backtrace", flags...))
}

// gdbFrames parses a backtrace of gdb.
func gdbFrames(t *testing.T, text string) (list []shown) {
	t.Helper()
	for line := range strings.Lines(text) {
		if m := gdbLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			list = append(list, shown{name: m[1], arguments: m[2], file: m[3], line: m[4]})
		}
	}
	if len(list) == 0 {
		t.Fatalf("gdb shows nothing:\n%s", text)
	}
	return list
}

// coreStacks returns the stacks in a core, with their arguments.
func coreStacks(t *testing.T, path string, opts *core.Options) *trace.Threads {
	t.Helper()
	c, err := core.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	s := c.Snapshot()
	s.Search.Sections = stacktest.Sections()
	objects := stack.NewObjects(s)
	t.Cleanup(func() { objects.Close() })
	stacks := objects.Walk(stack.WalkOptions{Registers: true})
	if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
		t.Error(err)
	}
	return &trace.Threads{Target: trace.Target{Machine: s.Machine}, Stacks: stacks, Variables: variable.NewReader(s, objects)}
}

// clewShows returns Clew's frames of a core, up to main.
func clewShows(t *testing.T, path string, opts *core.Options) (list []shown) {
	t.Helper()
	r := coreStacks(t, path, opts)
	r.Raw = true // as gdb is told of no library's printers
	var out bytes.Buffer
	if err := r.Text(&out, trace.Options{AllFrames: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.Variables.Err(); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(out.String()) {
		if m := clewLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			frame := shown{m[1], m[2], m[4], m[5], m[3] != "", strings.Contains(m[6], "tail call")}
			if n := len(list); frame.tail && n > 0 && list[n-1].inlined {
				continue // gdb shows only the innermost of the calls that were inlined there
			}
			list = append(list, frame)
			if m[1] == "main" || strings.HasSuffix(m[1], "::main") {
				break
			}
		}
	}
	if len(list) == 0 {
		t.Fatalf("nothing is shown:\n%s", &out)
	}
	return list
}

// argument is an argument in a backtrace: "n=5", "n=n@entry=5", "n=5, n@entry=6".
type argument struct{ name, value, entry string }

var argumentName = regexp.MustCompile(`^([\w#]+)(@entry)?=`)

// split splits the arguments of a frame.
func split(text string) (list []argument) {
	for text != "" {
		m := argumentName.FindStringSubmatch(text)
		if m == nil {
			return append(list, argument{name: text})
		}
		text = text[len(m[0]):]
		both := m[2] == "" && strings.HasPrefix(text, m[1]+"@entry=")
		if both {
			text = text[len(m[1]+"@entry="):]
		}
		end := 0
		for end < len(text) && !(strings.HasPrefix(text[end:], ", ") && argumentName.MatchString(text[end+2:])) {
			end++
		}
		value := text[:end]
		text = strings.TrimPrefix(text[end:], ", ")
		switch n := len(list); {
		case both:
			list = append(list, argument{m[1], value, value})
		case m[2] == "":
			list = append(list, argument{m[1], value, ""})
		case n > 0 && list[n-1].name == m[1]:
			list[n-1].entry = value
		default:
			list = append(list, argument{m[1], "", value})
		}
	}
	return list
}

// difference is a difference from gdb with a reason.
type difference struct {
	why   string
	frame func(got, want shown) bool // leaves out a frame of Clew's
	value func(got, want argument) (excused bool)
	all   func(got, want shown) (excused bool) // the arguments of a frame
}

var (
	staleRegisters = difference{
		why: "gdb takes what a register holds now for what it held before a call that may have changed it; " +
			"the location lists of clang do not end at calls, so that it shows what another function left there",
		value: func(got, want argument) bool { return got.value == "<optimized out>" && got.entry == want.entry },
	}
	references = difference{
		why: "gdb reads the target of a reference at the call as if its bytes were known, which they are not: " +
			"it shows <optimized out> or other bytes; the entry value has the right target",
		value: func(got, want argument) bool {
			return strings.HasPrefix(want.entry, "@0x") && (got.value == want.value || got.entry == want.value)
		},
	}
	bareValues = difference{
		why: "DWARF 2 and 3 have no DW_OP_stack_value: clang writes a value in place of an address. gdb reads that address, " +
			"and shows no argument of a frame if this fails for an argument with an entry value",
		value: func(got, want argument) bool {
			return got == argument{"w", "...", ""} && want.value == "<error reading variable: Cannot access memory at address 0xffffffffffffff88>"
		},
		all: func(got, want shown) bool {
			return got.name == "main" && want.arguments == "" && strings.HasPrefix(got.arguments, "argc=argc@entry=1")
		},
	}
	clangTailCalls = difference{
		why:   "of tail calls clang 14 says in DWARF 5 where they are, not what comes after them: gdb 13 finds none so",
		frame: func(got, want shown) bool { return got.tail && got.name != want.name },
	}
)

// compareCores fails if a frame's name, arguments, file or line differ from gdb's. It returns
// the number of compared frames.
func compareCores(t *testing.T, want, got []shown, excused ...difference) int {
	t.Helper()
	for i := range want {
		if want[i].name == "main" || strings.HasSuffix(want[i].name, "::main") {
			want = want[:i+1] // what called main is no concern of the program's
			break
		}
	}
	got = slices.DeleteFunc(got, func(g shown) bool {
		return slices.ContainsFunc(excused, func(d difference) bool {
			return d.frame != nil && !slices.ContainsFunc(want, func(w shown) bool { return !d.frame(g, w) })
		})
	})
	if len(want) != len(got) {
		t.Errorf("%d frames, gdb has %d:\n%v\n%v", len(got), len(want), got, want)
		return 0
	}
	for i := range want {
		g, w := split(got[i].arguments), split(want[i].arguments)
		same := got[i].name == want[i].name && got[i].file == want[i].file && got[i].line == want[i].line
		all := slices.ContainsFunc(excused, func(d difference) bool { return d.all != nil && d.all(got[i], want[i]) })
		same = same && (all || len(g) == len(w))
		for k := 0; same && !all && k < len(g); k++ {
			same = g[k] == w[k] || slices.ContainsFunc(excused, func(d difference) bool {
				return d.value != nil && g[k].name == w[k].name && d.value(g[k], w[k])
			})
		}
		if !same {
			t.Errorf("frame %d:\n\t%v\ngdb:\n\t%v", i, got[i], want[i])
		}
	}
	return len(got)
}

// compile returns the executable of a program of testdata. Tests share it.
func compile(t *testing.T, command, source string) string {
	t.Helper()
	return testprogram.Compile(t, "program", filepath.Join("testdata", source), append(strings.Fields(command), "-g")...)
}

// Names, inlined calls, lines and arguments of a core equal gdb's, field by field.
func TestGDB(t *testing.T) {
	total, compared := 0, 0
	type row struct {
		command, source string
		excused         []difference // none without a reason
	}
	tests := []row{
		{"gcc -O0", "frames.c", nil},
		{"gcc -Og", "frames.c", nil},
		{"gcc -O2", "frames.c", nil},
		{"gcc -O3 -flto", "frames.c", nil},
		{"clang -O0", "frames.c", nil},
		{"clang -Og", "frames.c", []difference{staleRegisters}},
		{"clang -O2", "frames.c", []difference{staleRegisters, clangTailCalls}},
		{"clang -O3 -flto", "frames.c", []difference{staleRegisters, clangTailCalls}},
		{"gcc -O2", "wide.c", nil},
		{"gcc -O2 -gdwarf-4", "wide.c", nil},
		{"g++ -O2", "frames.cc", []difference{references}},
		{"clang++ -O2", "frames.cc", []difference{staleRegisters}},
	}
	for _, version := range []string{" -gdwarf-2", " -gdwarf-3", " -gdwarf-4"} {
		clang := []difference{staleRegisters}
		if version != " -gdwarf-4" {
			clang = append(clang, bareValues)
		}
		tests = append(tests,
			row{"gcc -O0" + version, "frames.c", nil},
			row{"gcc -Og" + version, "frames.c", nil},
			row{"gcc -O2" + version, "frames.c", nil},
			row{"gcc -O3 -flto" + version, "frames.c", nil},
			row{"clang -O0" + version, "frames.c", nil},
			row{"clang -Og" + version, "frames.c", clang},
			row{"clang -O2" + version, "frames.c", clang},
			row{"clang -O3 -flto" + version, "frames.c", clang},
			row{"g++ -O2" + version, "frames.cc", []difference{references}},
			row{"clang++ -O2" + version, "frames.cc", clang})
	}
	sampled := sample.Covering(t, tests, 9, func(r row) []string { return append(strings.Fields(r.command), r.source) })
	for _, test := range sampled {
		t.Run(test.command+" "+test.source, func(t *testing.T) {
			program := compile(t, test.command, test.source)
			path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
			total += compareCores(t, gdbShows(t, program, path), clewShows(t, path, nil), test.excused...)
			compared++
		})
	}
	t.Logf("%d frames compared", total)
	if compared == len(sampled) && total < 5*len(sampled) {
		t.Errorf("%d frames, expected %d", total, 5*len(sampled))
	}
}

// run runs a tool that converts a file.
func run(t *testing.T, tool string, args ...string) {
	t.Helper()
	if out, err := exec.Command(testprogram.RequireTool(t, tool), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", tool, err, out)
	}
}

func TestRust(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	run(t, "rustc", "-g", "-Cpanic=abort", "-o", program, "testdata/frames.rs")
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	// The standard library's frames depend on its version.
	own := func(list []shown) []shown {
		return slices.DeleteFunc(list, func(s shown) bool { return !strings.HasPrefix(s.name, "frames::") })
	}
	if n := compareCores(t, own(gdbShows(t, program, path)), own(clewShows(t, path, nil))); n < 6 {
		t.Errorf("%d frames", n)
	}
}

// Debugging information that was split from the program at its compilation: in a separate
// file, in the object file, and in a package.
func TestSplit(t *testing.T) {
	type split struct {
		command, packager string // Debian 12's dwp knows DWARF 4
		excused           []difference
		whole             bool // compared with what gdb shows where it was not split
	}
	tests := []split{
		{"gcc -gdwarf-4", "dwp", nil, false},
		{"gcc -gdwarf-5", "llvm-dwp", nil, false},
		{"clang -gdwarf-4", "dwp", []difference{staleRegisters}, false},
		{"clang -gdwarf-4", "llvm-dwp", []difference{staleRegisters}, false},
		{"clang -gdwarf-4 -gsplit-dwarf=single", "", []difference{staleRegisters}, false},
		// gdb 13 loses the base address of clang's lists there, and finds no location in them.
		{"clang -gdwarf-5", "llvm-dwp", []difference{staleRegisters, clangTailCalls}, true},
		{"clang -gdwarf-5 -gsplit-dwarf=single", "", []difference{staleRegisters, clangTailCalls}, true},
	}
	features := func(s split) []string { return append(strings.Fields(s.command), s.packager) }
	for _, test := range sample.Covering(t, tests, 4, features) {
		t.Run(test.command+" "+test.packager, func(t *testing.T) {
			dir := t.TempDir()
			source, err := filepath.Abs("testdata/frames.c")
			if err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(dir, "program")
			words := strings.Fields(test.command)
			run(t, words[0], slices.Concat([]string{"-O2", "-g", "-gsplit-dwarf"}, words[1:], []string{"-c", "-o", program + ".o", source})...)
			run(t, words[0], "-o", program, program+".o")
			path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
			asked := program
			if test.whole {
				asked = compile(t, words[0]+" -O2 "+words[1], "frames.c")
			}
			want := gdbShows(t, asked, path)
			if n := compareCores(t, want, clewShows(t, path, nil), test.excused...); n < 20 {
				t.Errorf("%d frames", n)
			}
			if test.packager == "" {
				return
			}
			run(t, test.packager, "-e", program, "-o", program+".dwp")
			if err := os.Remove(program + ".dwo"); err != nil {
				t.Fatal(err)
			}
			compareCores(t, want, clewShows(t, path, nil), test.excused...)
		})
	}
}

// Debugging information in the files of a Debian package of debug symbols: dwz moves duplicate
// parts to a separate file.
func TestDebugPackage(t *testing.T) {
	dir := t.TempDir()
	directory := filepath.Join(dir, "debug")
	for _, d := range []string{".dwz/x86_64-linux-gnu", ".build-id/12"} {
		if err := os.MkdirAll(filepath.Join(directory, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	source, err := filepath.Abs("testdata/frames.c")
	if err != nil {
		t.Fatal(err)
	}
	var programs, debug []string
	for i, id := range []string{"34567890abcdef", "34567890abcdee"} {
		program := filepath.Join(dir, fmt.Sprint("program", i))
		run(t, "gcc", "-g", "-O2", "-Wl,--build-id=0x12"+id, "-o", program, source)
		programs, debug = append(programs, program), append(debug, filepath.Join(directory, ".build-id/12", id+".debug"))
	}
	// With the arguments of dh_dwz and dh_strip.
	common := filepath.Join(directory, ".dwz/x86_64-linux-gnu/package.debug")
	run(t, "dwz", append([]string{"-m", common, "-M", common}, programs...)...)
	run(t, "objcopy", "--compress-debug-sections", common)
	for i, program := range programs {
		run(t, "objcopy", "--only-keep-debug", "--compress-debug-sections", program, debug[i])
		run(t, "strip", "--remove-section=.comment", "--remove-section=.note", program)
	}
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, programs[0])
	stores := []debugfile.Store{{Layout: debugfile.DebugDirectory, Dir: directory}}
	got := clewShows(t, path, &core.Options{Search: debugfile.Search{Stores: stores}})
	want := gdbShows(t, programs[0], path, "-iex", "set debug-file-directory "+directory)
	if n := compareCores(t, want, got); n < 20 {
		t.Errorf("%d frames", n)
	}
}

// The function of the article has its argument in a vector register.
func TestF2C(t *testing.T) {
	program := compile(t, "gcc -O2", "f2c.c")
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	got := clewShows(t, path, nil)
	compareCores(t, gdbShows(t, program, path), got)
	if got[0].name != "f2c" || got[0].arguments != "f=98" {
		t.Errorf("the innermost frame is %v, expected f2c (f=98)", got[0])
	}
}
