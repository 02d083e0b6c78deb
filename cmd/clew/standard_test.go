// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/testprogram"
)

// Standard output and error are used in one place, which escapes all text. The list has the
// exceptions, for output that is not Clew's text.
func TestOnlyStreamsPrint(t *testing.T) {
	allowed := map[string]bool{
		// Debugged code prints unescaped, as in gdb.
		"debug/debug.go run Raw": true, "debug/serve.go serveDAP Raw": true, "debug/serve.go launch Raw": true,
		// So does a command that is run.
		"stack_command.go runCommand File": true, "check_target.go runCommand File": true, "debug/debugger.go start File": true,
		"record.go options File": true,
		// Cursor movements; the text at the cursor is escaped there.
		"debug/editor.go newEditor Raw": true, "output/progress.go progressAtTerminal Raw": true, "output/progress.go ProgressText Raw": true,
		// Binary profiles and symbol files, never to a terminal.
		"flags.go writeOutput Raw": true,
		// Their printers escape each name, as FuzzSection of report/readelf and
		// TestSamplesAreEscaped show.
		"table.go tableReadelf Raw": true, "perf.go printRecording Raw": true,
	}
	used := make(map[string]bool)
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() {
			// Separate programs, and files outside of the module.
			if slices.Contains([]string{"examples", "scripts", "bench", ".git"}, name) || d.Name() == "testdata" || d.Name() == "testprogram" || name == "cmd/clew/demo" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "cmd/clew/output/stream.go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			if p, _ := strconv.Unquote(imported.Path.Value); p == "log" || p == "log/slog" && name != "cmd/clew/continuous/run.go" && name != "profile/otlp/export/queue.go" { // to output.Stderr
				t.Errorf("%s imports %s, which prints", name, p)
			}
		}
		for _, declaration := range file.Decls {
			function := ""
			if f, ok := declaration.(*ast.FuncDecl); ok {
				function = f.Name.Name
			}
			ast.Inspect(declaration, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				of, _ := s.X.(*ast.Ident)
				if x, ok := s.X.(*ast.SelectorExpr); ok { // output.Stdout.Raw
					of = x.Sel
				}
				switch member := s.Sel.Name; {
				case of == nil:
				case of.Name == "os" && (member == "Stdout" || member == "Stderr"), of.Name == "fmt" && strings.HasPrefix(member, "Print"):
					t.Errorf("%s: %s uses %s.%s; cmd/clew/output has Stdout and Stderr", name, function, of.Name, member)
				case of.Name == "json" && (member == "NewEncoder" || strings.HasPrefix(member, "Marshal")) && (strings.HasPrefix(name, "report/") || strings.HasPrefix(name, "cmd/")):
					if name != "profile/flame.go" { // which escapes member it wrote
						t.Errorf("%s: %s uses json.%s; printable.EncodeJSON escapes more", name, function, member)
					}
				case (of.Name == "Stdout" || of.Name == "Stderr") && (member == "Raw" || member == "File"):
					use := strings.TrimPrefix(name, "cmd/clew/") + " " + function + " " + member
					if used[use] = true; !allowed[use] {
						t.Errorf("%s: %s uses %s.%s, which escapes nothing", name, function, of.Name, member)
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for use := range allowed {
		if !used[use] {
			t.Errorf("%s is not used any more", use)
		}
	}
}

// Every verb fails if its output cannot be written.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	program := testprogram.Build(t, "chain.c", "-O1", "-g")
	p := testprogram.Start(t, program)
	pid := strconv.Itoa(p.PID)
	perfMap := filepath.Join(t.TempDir(), "perf.map")
	if err := os.WriteFile(perfMap, []byte("1000 10 f\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	recording := filepath.Join("..", "..", "snapshot", "perfdata", "testdata", "true.data")
	object := debuggedObject(t, "fib.c")
	commands := [][]string{
		{}, {"--help"}, {"--version"}, {"help"}, {"help", "stack"},
		{"table", program}, {"table", program, "--json"}, {"table", program, "--raw"}, {"table", program, "--format=readelf"}, {"table", program, "--format=go", "--func", "main"},
		{"at", program, "main"}, {"at", program, "main", "--json"}, {"at", program, "main", "--source"},
		{"stack", pid}, {"stack", pid, "--json"}, {"stack", pid, "--folded"}, {"stack", pid, "--pprof", "-"}, {"stack", pid, "--flame", "-"}, {"stack", pid, "--speedscope", "-"},
		{"stack", pid, "--pprof", "/dev/full"}, {"stack", pid, "--watch", "1ms", "-n", "2"}, {"stack", pid, "--watch", "1ms", "-n", "2", "--json"},
		{"perf", recording}, {"perf", recording, "--json"}, {"perf", recording, "--samples"}, {"perf", recording, "--folded"},
		{"jit", perfMap}, {"jit", perfMap, "--json"}, {"jit", "show", "f", perfMap},
		{"check", program}, {"check", program, "--json"}, {"check", program, "--sarif"}, {"check", program, "--write-baseline", "/dev/full"}, {"check", pid},
		{"synth", program, "-f", "main"}, {"synth", program, "-f", "main", "--json"},
		{"debug", object, "--call", "fib(5)", "--json"}, {"debug", object, "--call", "fib(5)"},
	}
	for _, verb := range verbs {
		commands = append(commands, []string{verb.name, "--help"})
	}
	for _, args := range commands {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			cmd := clew(t, args...)
			cmd.Stdin, cmd.Stdout = nil, full
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != output.ExitUsage || strings.Count(stderr.String(), "no space left on device") != 1 {
				t.Errorf("exit code %d, clew prints %q", code, stderr.String())
			}
		})
	}
}

// evil is a name that no terminal should get: it clears the screen, by an escape sequence and by a
// C1 control, and reverses the direction of the following text. It has as many bytes as its
// placeholder in programs.
const (
	evil     = "\x1b[2J\x9b\u202e"
	standsIn = "EVILNAME"
)

const evilSource = `#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
struct EVILNAME_s { int EVILNAME_m; const char *EVILNAME_t; enum EVILNAME_e { EVILNAME_1 } e; };
int EVILNAME_g = 3;
static char text[9];
__attribute__((noinline)) int EVILNAME_f(struct EVILNAME_s *EVILNAME_p, const char *EVILNAME_a)
{
	int EVILNAME_l = EVILNAME_p->EVILNAME_m;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
	return EVILNAME_l + (int)strlen(EVILNAME_a);
}
int EVILNAME_fault(int EVILNAME_n) { return *(int *)0 + EVILNAME_n; }
int plain(int EVILNAME_n) { return EVILNAME_n + EVILNAME_g; }
static void EVILNAME_work(void) { for (volatile long n = 0; n < 100000000; n++) ; }
int main(int argc, char **argv)
{
	struct EVILNAME_s EVILNAME_v = {1, text};
	memcpy(text, "EVILNAME", 8);
	prctl(PR_SET_NAME, text);
	if (argc > 1) {
		EVILNAME_work();
		return 0;
	}
	return EVILNAME_f(&EVILNAME_v, text);
}
`

// evilFile compiles the source to a file with hostile names, including the name of the file.
func evilFile(t *testing.T, dir, name string, flags ...string) string {
	t.Helper()
	cc := testprogram.RequireTool(t, "gcc")
	if err := os.WriteFile(filepath.Join(dir, standsIn+".c"), []byte(evilSource), 0o644); err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(dir, "made")
	cmd := exec.Command(cc, append(flags, "-g", "-O0", "-o", made, standsIn+".c")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	path := filepath.Join(dir, evil+name)
	for from, to := range map[string]string{made: path, filepath.Join(dir, standsIn+".c"): filepath.Join(dir, evil+".c")} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, bytes.ReplaceAll(data, []byte(standsIn), []byte(evil)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// No verb prints control characters from the names of files, processes, cores, recordings or
// generated code, neither in output nor in messages.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	program := evilFile(t, dir, "")
	library := evilFile(t, dir, ".so", "-shared", "-fPIC", "-Wl,-soname,"+standsIn)
	object := evilFile(t, dir, ".o", "-c")
	p := testprogram.Start(t, program)
	pid := strconv.Itoa(p.PID)
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	elf, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	cut := write("cut"+evil, string(elf[:len(elf)*3/4]))
	odd := write("odd"+evil, strings.ReplaceAll(string(elf), ".eh_frame", "."+evil))
	text := write("text"+evil, "nothing "+evil)
	perfMap := write("perf"+evil+".map", "1000 10 "+evil+"\n2000 10 f"+evil+"\nbad"+evil+" line\n")
	script := write("script"+evil, "info functions\ninfo variables\ninfo types\nbreak plain\ncall plain(3)\nbacktrace\ninfo locals\ninfo args\nlist\ninfo line\ninfo frame\ninfo sharedlibrary\ndisassemble\nx/s $pc\ninfo symbol $pc\nfinish\n")
	wrong := write("wrong"+evil, "print "+evil+"\n")
	core := testprogram.GCore(t, p.PID)
	commands := [][]string{
		{"table", program}, {"table", program, "--json"}, {"table", program, "--raw"}, {"table", program, "--raw", "--json"}, {"table", program, "--func", "*_f*"},
		{"table", program, "--format=go", "--func", "main"}, {"table", program, "--format=c", "--func", "main"}, {"table", program, "--format=asm", "--func", "main"}, {"table", program, "--format=readelf"},
		{"table", program, "--func", evil}, {"table", program, "--section", evil}, {"table", odd}, {"table", odd, "--json"}, {"table", cut}, {"table", text}, {"table", library}, {"table", object},
		{"at", program, evil + "_f"}, {"at", program, evil + "_f", "--json"}, {"at", program, evil + "_f+4", "--source"}, {"at", program, evil + "_f+4", "--source", "--json"}, {"at", program, evil}, {"at", object, "plain", "--source"},
		{"stack", pid}, {"stack", pid, "--json"}, {"stack", pid, "--args", "--locals", "--source", "--hold"}, {"stack", pid, "--args", "--locals", "--source", "--hold", "--json"}, {"stack", pid, "--registers"},
		{"stack", pid, "--folded"}, {"stack", pid, "--folded", "--by", "thread"}, {"stack", pid, "--speedscope", "-"}, {"stack", pid, "--flame", "-"},
		{"stack", pid, "--watch", "1ms", "-n", "2"}, {"stack", pid, "--watch", "1ms", "-n", "2", "--json"}, {"stack", pid, "--goroutines"}, {"stack", pid, "--exe", text},
		{"stack", core}, {"stack", core, "--json"}, {"stack", core, "--args", "--locals", "--source"}, {"stack", core, "--exe", library}, {"stack", core, "--sysroot", text},
		{"stack", evil}, {"stack", text}, {"stack", "--", evil}, {"stack", "--watch", evil, pid}, {"stack", "--thread", evil, pid},
		{"jit", perfMap}, {"jit", perfMap, "--json"}, {"jit", pid}, {"jit", "show", evil, perfMap}, {"jit", "show", "*", perfMap}, {"jit", "show", "nothing" + evil, perfMap}, {"jit", "extract", evil, perfMap, "-o", evil}, {"jit", evil}, {"jit", text},
		{"check", program}, {"check", program, "--json"}, {"check", program, "--sarif"}, {"check", odd}, {"check", cut}, {"check", text}, {"check", library}, {"check", pid}, {"check", core}, {"check", evil}, {"check", program, "--func", evil}, {"check", program, "--baseline", evil}, {"check", program, "--baseline", text}, {"check", program, "--scratch", evil},
		{"synth", program, "-f", "*"}, {"synth", program, "-f", "*", "--json"}, {"synth", odd}, {"synth", cut}, {"synth", text}, {"synth", library}, {"synth", object, "-f", "*"}, {"synth", evil}, {"synth", "--raw", text, "--machine", "amd64"}, {"synth", "--raw", evil, "--machine", evil},
		{"debug", object, "--batch", script}, {"debug", object, "--batch", wrong}, {"debug", object, "--call", evil + "_fault(1)"}, {"debug", object, "--call", evil}, {"debug", object, "--call", "plain(1)", "--json"}, {"debug", text}, {"debug", object, "--rsp", evil},
		{"perf", evil}, {"perf", text},
		{evil}, {"--" + evil}, {"help", evil}, {"table", "--" + evil}, {"table", "--func"}, {"table", evil},
	}
	if perf, err := exec.LookPath("perf"); err == nil {
		recording := filepath.Join(dir, "recording"+evil)
		cmd := exec.Command(perf, "record", "-q", "-o", recording, "-F", "99", "-e", "cpu-clock", "--call-graph", "dwarf,8192", "--", program, "work")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("perf record: %v\n%s", err, out)
		}
		commands = append(commands, []string{"perf", recording}, []string{"perf", recording, "--json"}, []string{"perf", recording, "--samples"}, []string{"perf", recording, "--folded"},
			[]string{"perf", recording, "--speedscope", "-"}, []string{"perf", recording, "--by-thread"}, []string{"perf", recording, "--comm", evil}, []string{"perf", recording, "--event", evil}, []string{"jit", recording})
	}
	escaped := 0
	run := func(args []string) {
		t.Run(fmt.Sprintf("%q", args), func(t *testing.T) {
			cmd := clew(t, args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "CLEW_HISTORY="+evil, "CLEW_CACHE="+evil, "LC_ALL=C.UTF-8", "DEBUGINFOD_URLS=")
			var out, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &stderr
			cmd.Run()
			if cmd.ProcessState.ExitCode() < 0 {
				t.Errorf("%v: %s", cmd.ProcessState, stderr.String())
			}
			for _, text := range []string{out.String(), stderr.String()} {
				if strings.Contains(text, `[2J`) {
					escaped++
				}
				if at := obeyed(text); at >= 0 {
					t.Errorf("clew prints %q", text[max(0, at-60):min(len(text), at+60)])
				}
			}
		})
	}
	for _, args := range commands {
		run(args)
	}
	// A core without its files.
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	run([]string{"stack", core})
	run([]string{"stack", core, "--json"})
	run([]string{"stack", pid})
	if escaped < len(commands)*2/3 {
		t.Errorf("%d outputs of %d commands have a hostile name: the test shows nothing", escaped, len(commands))
	}
}

// obeyed returns the index of the first character that a terminal obeys, or -1.
func obeyed(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") || r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return i
		}
	}
	return -1
}

// Several goroutines can write text and raw bytes. The first error is kept.
func TestStreamFails(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	s := &output.Stream{File: f}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { s.Raw().Write([]byte("raw")) })
		all.Go(func() { s.Write([]byte("text")) })
		all.Go(func() { s.Close() })
	}
	all.Wait()
	if err := s.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

// A newline in a name does not end the line of a warning. Otherwise the name could contain a
// forged warning.
func TestNameWithNewline(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a\nclew table: forged")
	if err := os.WriteFile(name, []byte("no ELF"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"table", name}, {"table", name + "/absent"}, {"stack", name}, {"jit", name}, {"perf", name}, {"check", name}, {"synth", name}} {
		_, stderr, _ := runToEnd(t, clew(t, args...), "DEBUGINFOD_URLS=")
		if strings.Contains(stderr, "\nclew table: forged") || !strings.Contains(stderr, `a\nclew table: forged`) {
			t.Errorf("clew %s:\n%s", args[0], stderr)
		}
	}
}
