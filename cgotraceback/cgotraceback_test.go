// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package cgotraceback_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/ianlancetaylor/demangle"
)

// builds are the programs that tests have built, by their flags.
var builds struct {
	sync.Mutex
	paths map[string]string
	dir   string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if builds.dir != "" {
		os.RemoveAll(builds.dir)
	}
	os.Exit(code)
}

// build builds testdata/program. The settings are variables of the environment, and the rest
// are flags of go build. With rustc a part of the program is in Rust.
func build(t testing.TB, settings []string, flags ...string) string {
	t.Helper()
	testprogram.RequireTool(t, "gcc")
	testprogram.RequireTool(t, "g++")
	builds.Lock()
	defer builds.Unlock()
	key := fmt.Sprint(settings, flags)
	if path, ok := builds.paths[key]; ok {
		return path
	}
	if builds.paths == nil {
		builds.paths = make(map[string]string)
		dir, err := os.MkdirTemp("", "cgotraceback")
		if err != nil {
			t.Fatal(err)
		}
		builds.dir = dir
	}
	path := filepath.Join(builds.dir, "program"+strconv.Itoa(len(builds.paths)))
	args := []string{"build", "-o", path}
	environment := []string{"CGO_ENABLED=1"}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GOROOT=") { // which GOTOOLCHAIN chooses
			environment = append(environment, e)
		}
	}
	if hasRust(settings) {
		library := filepath.Join(builds.dir, "libstep.a")
		if _, err := os.Stat(library); err != nil {
			run(t, exec.Command("rustc", "--crate-type=staticlib", "-Cpanic=abort", "-O", "-g", "-o", library, "testdata/program/step.rs"))
		}
		args = append(args, "-tags=rust")
		environment = append(environment, "CGO_LDFLAGS=-L"+builds.dir)
	}
	cmd := exec.Command("go", append(append(args, flags...), "./testdata/program")...)
	cmd.Env = append(environment, settings...)
	run(t, cmd)
	builds.paths[key] = path
	return path
}

// hasRust reports whether rustc builds for the machine and the C library of the settings.
func hasRust(settings []string) bool {
	_, err := exec.LookPath("rustc")
	return err == nil && len(settings) == 0
}

func run(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// output runs a program that may crash, and returns what it writes.
func output(t testing.TB, path string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "GOTRACEBACK=system")
	out, _ := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s %v does not end:\n%s", path, args, out)
	}
	return string(out)
}

// frame is a function as debuggers name it, and its line.
type frame struct{ function, line string }

var address = regexp.MustCompile(`^\tpc=|^\t(.*) pc=0x`)

// traced returns the frames of C code in the first traceback of a crash: those before Go's.
func traced(t testing.TB, out string) (frames []frame) {
	t.Helper()
	_, out, ok := strings.Cut(out, "\ngoroutine ")
	if !ok {
		t.Fatalf("no traceback:\n%s", out)
	}
	lines := strings.Split(out, "\n")[1:]
	for i := 0; i+1 < len(lines); i += 2 {
		m := address.FindStringSubmatch(lines[i+1])
		if m == nil || strings.Contains(lines[i+1], " sp=") {
			break
		}
		frames = append(frames, frame{plain(lines[i]), m[1]})
	}
	return frames
}

// plain returns a name without return type, parameters and the parts that compilers add.
func plain(name string) string {
	name = demangle.Filter(name, demangle.NoParams)
	if i := strings.LastIndexByte(name, ' '); i >= 0 && !strings.HasSuffix(name, ">") || strings.HasPrefix(name, "void ") {
		name = name[i+1:]
	}
	name, _, _ = strings.Cut(name, ".cold")
	return name
}

func functions(frames []frame) (names []string) {
	for _, f := range frames {
		names = append(names, f.function)
	}
	return names
}

// outer are the functions around each crash, from step.cc on.
func outer(rust bool) []string {
	if rust {
		return []string{"step::middle", "rust_step", "step::next<int>", "cpp_step"}
	}
	return []string{"step::next<int>", "cpp_step"}
}

// crashes are the innermost functions of each crash. "*" stands for functions of the C library.
var crashes = map[string][]string{
	"segv":    {"store", "crash", "c_inner"},
	"abort":   {"*", "c_inner"},
	"trap":    {"c_inner"},
	"null":    {"c_inner"},
	"tail":    {"c_inner"}, // a jump to no function
	"handler": {"store", "crash", "on_signal", "*", "raise_signal", "c_inner"},
	"nocfi":   {"no_cfi_inner", "no_cfi_outer", "c_inner"},
}

func matches(names, want []string) bool {
	for i, w := range want {
		if w == "*" {
			for n := i; n <= len(names); n++ {
				if n > i && matches(names[n:], want[i+1:]) {
					return true
				}
			}
			return false
		}
		if i >= len(names) || names[i] != w {
			return false
		}
	}
	return len(names) == len(want)
}

func testCrashes(t *testing.T, rust bool, run func(kind string) string) {
	for kind, inner := range crashes {
		t.Run(kind, func(t *testing.T) {
			out := run(kind)
			want := append(slices.Clone(inner), outer(rust)...)
			got := functions(traced(t, out))
			if kind == "handler" { // tail calls differ between compilers
				got = slices.DeleteFunc(got, func(n string) bool { return n == "on_signal" })
				want = slices.DeleteFunc(want, func(n string) bool { return n == "on_signal" })
			}
			if !matches(got, want) {
				t.Errorf("C frames %q, want %q:\n%.3000s", got, want, out)
			}
			if !regexp.MustCompile(`\ngoMiddle\n.*\nc_outer\n`).MatchString(out) {
				t.Errorf("the frames between two calls of Go are missing:\n%.3000s", out)
			}
		})
	}
	t.Run("overflow", func(t *testing.T) {
		got := functions(traced(t, run("overflow")))
		if len(got) != 32 || slices.ContainsFunc(got, func(n string) bool { return n != "overflow" }) {
			t.Errorf("C frames %q, want 32 of overflow", got)
		}
	})
	t.Run("overwrite", func(t *testing.T) {
		// The function that overwrote its return address is the last one. On arm64 a function
		// saves it below its variables, so that its caller's is overwritten.
		got, want := functions(traced(t, run("overwrite"))), []string{"store", "crash", "overwrite"}
		if !slices.Equal(got, want) && (runtime.GOARCH != "arm64" || !slices.Equal(got, append(want, "c_inner"))) {
			t.Errorf("C frames %q, want %q", got, want)
		}
	})
	t.Run("callers", func(t *testing.T) {
		out := run("callers")
		if !regexp.MustCompile(`(?m)^goCallers .*\nc_outer .*/program\.c:\d+$`).MatchString(out) {
			t.Errorf("C frames are missing in runtime.Callers:\n%s", out)
		}
	})
}

// TestCrashes compares the C frames of crashes with the program's functions.
func TestCrashes(t *testing.T) {
	path := build(t, nil)
	testCrashes(t, hasRust(nil), func(kind string) string { return output(t, path, kind) })
}

var printed = regexp.MustCompile(`(?m)^#\d+ +(?:0x[0-9a-f]+ in )?(\S.*?) \((?:.*?\) at (\S+:\d+)|.*)$`)

// TestCrashesEqualGDB compares the C frames of crashes, their lines and the inlined calls with
// gdb's.
func TestCrashesEqualGDB(t *testing.T) {
	gdb := testprogram.RequireTool(t, "gdb")
	path := build(t, nil)
	for _, kind := range []string{"segv", "abort", "trap", "handler", "nocfi", "null", "tail"} {
		t.Run(kind, func(t *testing.T) {
			cmd := exec.Command(gdb, "-nx", "-batch", "-ex", "set print frame-arguments none", "-ex", "set width 0",
				"-ex", "handle SIGURG nostop noprint pass",
				"-ex", "handle SIGUSR2 nostop noprint pass", "-ex", "run", "-ex", "bt", "--args", path, kind)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("gdb: %v\n%s", err, out)
			}
			var want []frame
			for _, m := range printed.FindAllStringSubmatch(string(out), -1) {
				if strings.HasPrefix(m[1], "runtime.") {
					break
				}
				// gdb adds tail calls, the address 0, and the module of a function that is not mangled.
				if m[1] != "??" && m[1] != "__pthread_kill_internal" && m[1] != "__pthread_kill_esrch" {
					want = append(want, frame{strings.Replace(plain(m[1]), "step::rust_step", "rust_step", 1), filepath.Base(m[2])})
				}
			}
			got := traced(t, output(t, path, kind))
			got = slices.DeleteFunc(got, func(f frame) bool { return f.function == "<signal handler called>" }) // gdb prints no address
			for i := range got {
				got[i].line = filepath.Base(got[i].line)
			}
			if len(want) < 5 || !slices.Equal(got, want) {
				t.Errorf("frames\n%q\ngdb's\n%q\n%s", got, want, out)
			}
		})
	}
}

// TestThread crashes in C code that Go code calls in a thread of C.
func TestThread(t *testing.T) {
	out := output(t, build(t, nil), "thread")
	want := append(slices.Clone(crashes["segv"]), outer(hasRust(nil))...)
	if got := functions(traced(t, out)); !slices.Equal(got, want) {
		t.Errorf("C frames %q, want %q", got, want)
	}
	if !regexp.MustCompile(`\ngoMiddle\n.*\nthread\n`).MatchString(out) {
		t.Errorf("the frames of the thread are missing:\n%s", out)
	}
}

// TestSmallStack calls Go code at the end of small stacks.
func TestSmallStack(t *testing.T) {
	if out := output(t, build(t, nil), "small"); !strings.Contains(out, "counted 15\n") {
		t.Errorf("want 15 calls:\n%.3000s", out)
	}
}

// TestPanics recovers from panics in Go code that C code has called. The runtime never releases
// their contexts.
func TestPanics(t *testing.T) {
	out := output(t, build(t, nil), "panics")
	if !regexp.MustCompile(`(?m)^goCallers .*\nc_outer `).MatchString(out) || !strings.Contains(out, "NoContext:0") {
		t.Errorf("C frames are missing after many panics:\n%s", out)
	}
}

// TestQuit sends SIGQUIT while C code runs that Go code has called, which C code has called.
func TestQuit(t *testing.T) {
	t.Setenv("NAMES_ONLY", "1")
	var out string
	for range 3 { // the signal can arrive between two calls
		p := testprogram.Start(t, build(t, nil), "quit")
		time.Sleep(100 * time.Millisecond)
		if out = p.Quit(); regexp.MustCompile(`\ngoMiddle\n.*\nc_outer\n`).MatchString(out) {
			return
		}
	}
	t.Errorf("C frames are missing:\n%s", out)
}

// TestQuitOfAllThreads sends SIGQUIT while C code hangs on another thread than the first one, which
// gets the signal. With GOTRACEBACK=crash the runtime sends the signal to all threads.
func TestQuitOfAllThreads(t *testing.T) {
	t.Setenv("NAMES_ONLY", "1")
	for level, want := range map[string]bool{"crash": true, "all": false} {
		t.Setenv("GOTRACEBACK", level)
		var out string
		found := false
		for range 3 { // the signal can arrive before the call
			p := testprogram.Start(t, "sh", "-c", `ulimit -c 0; exec "$0" quit elsewhere`, build(t, nil))
			time.Sleep(100 * time.Millisecond)
			out = p.Quit()
			found = found || regexp.MustCompile(`(?m)^spin\n.*\nc_inner\n`).MatchString(out)
		}
		if found != want {
			t.Errorf("%s: C frames of another thread: %t, want %t\n%.5000s", level, found, want, out)
		}
	}
}

// TestTrace looks for functions of C in the stacks of an execution trace.
func TestTrace(t *testing.T) {
	if out := output(t, build(t, nil), "trace"); !strings.Contains(out, "go 1.2") || !strings.Contains(out, "c_outer") || !strings.Contains(out, "goMiddle") {
		t.Errorf("%d bytes of a trace without functions of C", len(out))
	}
}

// TestMutants walks by damaged tables: a walk may be wrong then, but not crash.
func TestMutants(t *testing.T) {
	n := 1000
	if sample.Full() {
		n = 10000
	}
	if out := output(t, build(t, nil), "mutants", strconv.Itoa(n)); !strings.Contains(out, " accepted\n{Walks:") {
		t.Error(out)
	}
}

// BenchmarkWalk measures a walk through 20 frames in a signal handler.
func BenchmarkWalk(b *testing.B) {
	path := build(b, nil)
	b.Setenv("NAMES_ONLY", "1")
	best := math.Inf(1)
	for b.Loop() {
		var frames int
		var each float64
		out := output(b, path, "bench")
		if _, err := fmt.Sscanf(out, "%d frames %f ns", &frames, &each); err != nil || frames != 20 {
			b.Fatal(out)
		}
		best = min(best, each)
	}
	b.ReportMetric(best, "ns/walk")
}

// TestHandlersCallNoLibrary looks at what the code that runs in signal handlers refers to. Compilers
// can replace a loop by a call of memcpy.
func TestHandlersCallNoLibrary(t *testing.T) {
	nm := testprogram.RequireTool(t, "nm")
	testprogram.RequireTool(t, "gcc")
	maps := regexp.MustCompile(`^context\.c mmap$`)
	known := regexp.MustCompile(`^\S+ (clew_|_GLOBAL_OFFSET_TABLE_$|__aarch64_)`) // the last are atomic operations
	for _, compiler := range []string{"gcc", "clang", "aarch64-linux-gnu-gcc"} {
		if _, err := exec.LookPath(compiler); err != nil {
			continue
		}
		for _, source := range []string{"traceback.c", "framepointer.c", "symbolizer.c", "context.c", "publish.c"} {
			object := filepath.Join(t.TempDir(), "o")
			run(t, exec.Command(compiler, "-O2", "-fPIC", "-fno-stack-protector", "-fno-builtin-memcpy", "-fno-builtin-memset",
				"-Wall", "-Wextra", "-Werror", "-c", "-o", object, source))
			for line := range strings.Lines(run(t, exec.Command(nm, "-u", object))) {
				if name := source + " " + strings.Fields(line)[1]; !known.MatchString(name) && !maps.MatchString(name) {
					t.Errorf("%s refers to %s", compiler, name)
				}
			}
		}
	}
}

// TestSmallAlternateStack profiles a thread of C whose alternate stack has no space for a walk.
func TestSmallAlternateStack(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("skipped: the sizes are those of amd64")
	}
	if out := output(t, build(t, nil), "alternate"); !strings.Contains(out, "NoContext:") {
		t.Error(out)
	}
}
