// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stack_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/stack"
)

// gdbStack is the output of testdata/stacks.py about one thread.
type gdbStack struct {
	Frames []gdbFrame
	Error  string
}

type gdbFrame struct {
	PC        uint64
	Name      string // as gdb shows it
	Linkage   string // of the function's debugging information, "" without
	Kind      string // "normal", "inline", "signal", "tail call"
	File      string
	Line      int
	Registers map[string]*uint64 // nil for what gdb calls not saved
}

// gdbStacks returns gdb's stacks of all threads of a process. The flags precede gdb's other
// arguments.
func gdbStacks(t testing.TB, pid int, flags ...string) map[int]gdbStack {
	t.Helper()
	return gdbReports(t, "gdb", append(flags, "-p", strconv.Itoa(pid))...)
}

var hasPython sync.Map // by the path of a gdb

// gdbReports returns gdb's stacks of all threads of the target that its arguments name.
func gdbReports(t testing.TB, tool string, args ...string) map[int]gdbStack {
	t.Helper()
	gdb := testprogram.RequireTool(t, tool)
	python, asked := hasPython.Load(gdb)
	if !asked {
		out, _ := exec.Command(gdb, "-batch", "-nx", "-ex", "python print(40+2)").Output()
		python = strings.TrimSpace(string(out)) == "42"
		hasPython.Store(gdb, python)
	}
	if python == false {
		return gdbPrints(t, gdb, args...)
	}
	args = append(args, "-batch", "-nx",
		"-iex", "set debuginfod enabled off", "-iex", "set auto-load no", "-x", "testdata/stacks.py")
	out, err := exec.Command(gdb, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	_, line, ok := bytes.Cut(out, []byte("STACKS "))
	if !ok {
		t.Fatalf("gdb gave no stacks:\n%s", out)
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	stacks := make(map[int]gdbStack)
	if err := json.Unmarshal(line, &stacks); err != nil {
		t.Fatal(err)
	}
	return stacks
}

// row is a frame or an inlined call, which gdb calls a frame.
type row struct {
	frame    *stack.Frame
	name     string // as report shows it
	file     string
	line     int
	isInline bool
}

// rows returns the frames of a stack as gdb counts them.
func rows(s *stack.Stack) (rows []row) {
	for i := range s.Frames {
		f := &s.Frames[i]
		if n := len(f.Locations); n > 1 && f.TailCall {
			// gdb shows only the innermost of the calls that were inlined there.
			l := &f.Locations[0]
			rows = append(rows, row{f, style.Demangle(l.Function), l.File, l.Line, false})
			continue
		}
		for k := range max(len(f.Locations)-1, 0) {
			l := &f.Locations[k]
			rows = append(rows, row{f, style.Demangle(l.Function), l.File, l.Line, true})
		}
		r := row{frame: f, name: trace.FunctionName(f)}
		if l := f.Location(); l != nil {
			r.file, r.line = l.File, l.Line
		}
		rows = append(rows, r)
	}
	return rows
}

// cloneSuffix matches the suffixes that compilers append to the symbol of a part or a clone of
// a function. gdb shows the name in the source, Clew the symbol.
var cloneSuffix = regexp.MustCompile(`( \[clone .*\])+$|(\.(cold|part|constprop|isra|lto_priv)(\.\d+)*)+$`)

// plain returns a name without the parts in which demanglers differ: the arguments of
// functions and templates, the return type of a template function, and "const".
func plain(name string) string {
	name = cloneSuffix.ReplaceAllString(name, "")
	if strings.HasPrefix(name, "<") {
		return name // <signal handler called>
	}
	const anonymous = "(anonymous namespace)"
	name = strings.ReplaceAll(name, anonymous, "{anonymous}")
	var b strings.Builder
	depth := 0
	for i := 0; i < len(name); i++ {
		if depth == 0 && strings.HasPrefix(name[i:], "operator") {
			// The characters of the operator are part of its name.
			end := i + len("operator")
			for end < len(name) && strings.IndexByte("<>=()[]!+-*/%&|^~,", name[end]) >= 0 && !strings.HasPrefix(name[end:], "(") {
				end++
			}
			if strings.HasPrefix(name[end:], "()") {
				end += 2
			}
			b.WriteString(name[i:end])
			i = end - 1
			continue
		}
		switch c := name[i]; c {
		case '<', '(', '[', '{':
			depth++
		case '>', ')', ']', '}':
			depth--
		case ' ':
			// The return type precedes, unless the arguments are over.
			if text := b.String(); depth == 0 && !strings.HasSuffix(text, "operator") {
				if rest := name[i:]; strings.Contains(rest, "(") {
					b.Reset()
				} else {
					return text
				}
			} else if depth == 0 {
				b.WriteByte(c)
			}
		default:
			if depth == 0 {
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

// compare fails if a stack and gdb's differ in the address, kind, function, source place or a
// callee-saved register of a frame.
func compare(t testing.TB, s *stack.Stack, machine func(string) uint64, want gdbStack) {
	t.Helper()
	got := rows(s)
	if n := len(want.Frames); n > len(got) && n > 0 {
		// Clew ends the walk where a Go stack starts; gdb continues.
		if end := s.Frames[len(s.Frames)-1].Symbol.Name; isGoStart(end) {
			want.Frames = want.Frames[:len(got)]
		}
	}
	afterGo := false
	for i := range max(len(got), len(want.Frames)) {
		if i >= len(got) || i >= len(want.Frames) {
			t.Errorf("thread %d: %d frames, gdb has %d (%s)\n%s", s.Thread.ID, len(got), len(want.Frames), want.Error, beside(got, want))
			return
		}
		if i > 0 && goFrame(got[i-1].frame) {
			afterGo = true
		}
		if afterGo && got[i].frame.PC == want.Frames[i].PC {
			// Go's call frame information does not say that functions save the frame pointer,
			// so gdb shows the innermost one in all frames.
			want.Frames[i].Registers = maps.Clone(want.Frames[i].Registers)
			delete(want.Frames[i].Registers, map[string]string{"amd64": "rbp", "arm64": "x29"}[runtime.GOARCH])
			if diff := goFramePointer(s, got[i].frame); diff != "" {
				t.Errorf("thread %d: frame %d: %s\n%s", s.Thread.ID, i, diff, beside(got, want))
				return
			}
		}
		if diff := difference(&got[i], &want.Frames[i], machine); diff != "" {
			t.Errorf("thread %d: frame %d: %s\n%s", s.Thread.ID, i, diff, beside(got, want))
			return
		}
	}
}

// goFrame reports whether a frame is of a Go function, by the object that contains it.
func goFrame(f *stack.Frame) bool { return f.Object != nil && f.Object.Go }

// goFramePointer returns how the frame pointer of a frame differs from the one of a Go
// function that waits for a call: the address of the caller's, which lies below the return
// address, on amd64 at the end of the frame and on arm64 below its start.
func goFramePointer(s *stack.Stack, f *stack.Frame) string {
	k := slices.IndexFunc(s.Frames, func(other stack.Frame) bool { return other.SP == f.SP && other.PC == f.PC })
	if k < 0 || k+1 >= len(s.Frames) || !goFrame(f) || isGoStart(f.Symbol.Name) || f.Trampoline || f.Interrupted {
		return ""
	}
	if s.Frames[k+1].SP-f.SP < 16 {
		return "" // mstart has no frame, only a return address
	}
	if v, _ := f.Registers.Get(6); runtime.GOARCH == "amd64" && v != s.Frames[k+1].SP-16 {
		return fmt.Sprintf("frame pointer %#x, and the caller's stack pointer is %#x", v, s.Frames[k+1].SP)
	}
	if v, _ := f.Registers.Get(29); runtime.GOARCH == "arm64" && v != f.SP-8 {
		return fmt.Sprintf("frame pointer %#x, and the stack pointer is %#x", v, f.SP)
	}
	return ""
}

func isGoStart(symbol string) bool {
	switch strings.TrimSuffix(symbol, ".abi0") {
	case "runtime.goexit", "runtime.rt0_go", "runtime.clone", "runtime.mcall":
		return true
	}
	return false
}

func difference(r *row, g *gdbFrame, column func(string) uint64) string {
	f := r.frame
	name := g.Name
	switch {
	case g.Kind == "signal":
		name = "<signal handler called>"
	case name == "":
		name = "??"
	}
	switch {
	case f.PC != g.PC:
		return fmt.Sprintf("address %#x, gdb has %#x", f.PC, g.PC)
	case r.isInline != (g.Kind == "inline"):
		return fmt.Sprintf("inlined %t, gdb calls it %s", r.isInline, g.Kind)
	case !r.isInline && f.TailCall != (g.Kind == "tail call"):
		return fmt.Sprintf("tail call %t, gdb calls it %s", f.TailCall, g.Kind)
	case f.Trampoline != (g.Kind == "signal"):
		return fmt.Sprintf("trampoline %t, gdb calls it %s", f.Trampoline, g.Kind)
	case plain(r.name) != plain(name) && !isAlias(f, name) && !isLambda(r.name, name):
		return fmt.Sprintf("%s, gdb has %s", r.name, name)
	case !f.Trampoline && (r.line != g.Line || !samePath(r.file, g.File)) && !confirmed(r):
		return fmt.Sprintf("%s:%d, gdb has %s:%d", r.file, r.line, g.File, g.Line)
	}
	for name, want := range g.Registers {
		v, ok := f.Registers.Get(column(name))
		switch {
		case want == nil && ok, want != nil && !ok:
			return fmt.Sprintf("%s known %t, gdb's known %t", name, ok, want != nil)
		case ok && v != *want:
			return fmt.Sprintf("%s %#x, gdb has %#x", name, v, *want)
		}
	}
	return ""
}

// isLambda reports whether a name is that of a lambda expression's call. gdb does not name the
// enclosing function.
func isLambda(name, gdb string) bool {
	return gdb == "operator()" && strings.Contains(name, "::operator()")
}

// confirmed reports whether addr2line finds the line of a row. If a line table has several
// lines for one address, addr2line and Clew use the last one, gdb one that is marked as the
// start of a statement.
func confirmed(r *row) bool {
	f := r.frame
	file, err := f.Object.File()
	if err != nil {
		return false
	}
	if d, err := new(debugfile.Search).OpenDebugFile(file); err == nil && d != nil {
		file = d
	}
	out, _ := exec.Command("addr2line", "-i", "-e", file.Name(), fmt.Sprintf("%#x", f.Address)).Output()
	for line := range strings.Lines(string(out)) {
		place, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if i := strings.LastIndexByte(place, ':'); i > 0 && place[i+1:] == strconv.Itoa(r.line) &&
			filepath.Base(place[:i]) == filepath.Base(r.file) {
			return true
		}
	}
	return false
}

// isAlias reports whether a name is an alias of the symbol of f: read is also
// __GI___libc_read, and gdb's choice depends on the debugging information.
func isAlias(f *stack.Frame, name string) bool {
	if f.Object == nil || f.Symbol.Name == "" {
		return false
	}
	file, err := f.Object.File()
	if err != nil {
		return false
	}
	for s := range file.Symbols() {
		if base, _, _ := strings.Cut(s.Name, "@"); base == name && s.Address == f.Symbol.Address {
			return true
		}
	}
	return false
}

// samePath reports whether a path can be gdb's, which omits the directory of the compilation
// if the path is relative to it.
func samePath(path, gdb string) bool {
	gdb = filepath.Clean(gdb)
	for strings.HasPrefix(gdb, "../") {
		gdb = gdb[3:]
	}
	if gdb == "." {
		return path == ""
	}
	return path == gdb || strings.HasSuffix(path, "/"+gdb)
}

// beside prints two stacks side by side.
func beside(got []row, want gdbStack) string {
	var b strings.Builder
	for i := range max(len(got), len(want.Frames)) {
		if i < len(got) {
			r := &got[i]
			fmt.Fprintf(&b, "%3d %#x %s %s:%d [%v]", i, r.frame.PC, r.name, r.file, r.line, r.frame.Method)
		}
		b.WriteString("\n    ")
		if i < len(want.Frames) {
			g := &want.Frames[i]
			fmt.Fprintf(&b, "%#x %s (%s) %s:%d %s", g.PC, g.Name, g.Linkage, g.File, g.Line, g.Kind)
		}
		b.WriteString("\n")
	}
	return b.String()
}
