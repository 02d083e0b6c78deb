// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build amd64

package perf_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/jit/perf"
)

// profiler is perf with a temporary directory.
type profiler struct {
	t    *testing.T
	path string
	dir  string
	spin string // the program in testdata/spin, with an .eh_frame_hdr
	pure string // the same, linked by Go without cgo
}

func newProfiler(t *testing.T) *profiler {
	p := &profiler{t: t, path: testprogram.RequireTool(t, "perf"), dir: t.TempDir()}
	testprogram.RequireTool(t, "gcc")
	if out, err := p.command("record", "-e", "cpu-clock", "-o", "try.data", "true").CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("perf_event_paranoid")) || bytes.Contains(out, []byte("not permitted")) {
			t.Skip("skipped: perf_event_open is not permitted")
		}
		t.Fatalf("%v\n%s", err, out)
	}
	// Debian's perf reads no .debug_frame, and Go writes nothing else. In a program with an
	// .eh_frame_hdr, which gcc's startup files contain, perf continues with the frame
	// pointers of Go's functions.
	p.spin = filepath.Join(p.dir, "spin")
	p.pure = filepath.Join(p.dir, "pure")
	for _, build := range []*exec.Cmd{
		exec.Command("go", "build", "-buildvcs=false", "-ldflags=-linkmode=external", "-o", p.spin, "./testdata/spin"),
		exec.Command("go", "build", "-buildvcs=false", "-o", p.pure, "./testdata/spin"),
	} {
		build.Env = append(os.Environ(), "CGO_ENABLED=1")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return p
}

func (p *profiler) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.path, args...)
	cmd.Dir = p.dir
	// perf keeps files in the home directory. A sample can be in the handler of a signal that preempts a
	// goroutine, of which a busy machine has more.
	cmd.Env = append(os.Environ(), "HOME="+p.dir, "JITDUMPDIR="+p.dir, "GODEBUG=asyncpreemptoff=1")
	return cmd
}

// run runs perf and returns its output.
func (p *profiler) run(args ...string) string {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("perf %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return stdout.String()
}

// record profiles the program with the given CLEW_PERF and returns its process ID. The
// other arguments are perf's.
func (p *profiler) record(variable, apart string, args ...string) (pid string) {
	p.t.Helper()
	args = append([]string{"record", "-q", "-e", "cpu-clock:u", "-F", "499", "-k", "mono", "-o", "perf.data"}, args...)
	args = append(args, "env", "CLEW_PERF="+variable, p.spin, apart)
	return strings.TrimSpace(p.run(args...))
}

// stacks returns the stacks of perf script, innermost first, that have a function.
func (p *profiler) stacks(data, with string) (list [][]string) {
	p.t.Helper()
	for sample := range strings.SplitSeq(p.run("script", "-i", data, "-F", "ip,sym"), "\n\n") {
		var stack []string
		for line := range strings.Lines(sample) {
			if fields := strings.Fields(line); len(fields) > 1 {
				stack = append(stack, strings.TrimSuffix(fields[1], ".abi0"))
			}
		}
		if slices.Contains(stack, with) {
			list = append(list, stack)
		}
	}
	return list
}

// goFrames are the callers of the generated code.
var goFrames = []string{"main.spin", "main.run", "main.main", "runtime.main", "runtime.goexit"}

// fewest is the minimum number of samples: 400 million iterations take much more than a tenth
// of a second, in which perf takes 50.
const fewest = 20

func TestPerf(t *testing.T) {
	p := newProfiler(t)
	for name, test := range map[string]func(*testing.T, *profiler){
		"jitdump": testJitdump, "dense": testDense, "map": testMap, "pure": testPure,
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			test(t, p)
		})
	}
}

// testJitdump checks that perf walks from generated code without frame pointers back to
// Go's main.
func testJitdump(t *testing.T, p *profiler) {
	pid := p.record("jitdump", "128", "--call-graph", "dwarf")
	p.run("inject", "--jit", "-i", "perf.data", "-o", "jit.data")
	stacks := p.stacks("jit.data", "inner")
	if len(stacks) < fewest {
		t.Fatalf("%d samples in the generated code, want more", len(stacks))
	}
	want := append([]string{"inner", "middle", "outer", "main.call"}, goFrames...)
	for _, stack := range stacks {
		if !slices.Equal(stack, want) {
			t.Fatalf("%d samples in the generated code, one at\n%v, want\n%v", len(stacks), stack, want)
		}
	}
	if out := p.run("script", "-i", "jit.data", "-F", "ip,sym,srcline", "--max-stack", "1"); !strings.Contains(out, "spin.lang:11") {
		t.Errorf("no source line in\n%.1000s", out)
	}

	d, err := perf.ReadJitdump(filepath.Join(p.dir, "jit-"+pid+".dump"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.Index().Functions()); n != 3 {
		t.Errorf("%d functions in the dump, want 3", n)
	}
}

// testDense publishes functions without space after them: perf does not unwind through
// "inner", but names it, and shows no wrong frame.
func testDense(t *testing.T, p *profiler) {
	p.record("jitdump", "0", "--call-graph", "dwarf")
	p.run("inject", "--jit", "-i", "perf.data", "-o", "jit.data")
	stacks := p.stacks("jit.data", "inner")
	if len(stacks) < fewest {
		t.Fatalf("%d samples in the generated code, want more", len(stacks))
	}
	for _, stack := range stacks {
		want := append([]string{"inner", "middle", "outer", "main.call"}, goFrames...)
		for len(want) > len(stack) && len(want) > 1 {
			want = slices.Delete(want, 1, 2)
		}
		if !slices.Equal(stack, want) {
			t.Fatalf("%d samples in the generated code, one at\n%v, want\n%v", len(stacks), stack, want)
		}
	}
}

// testMap checks that perf names generated code by the map alone.
func testMap(t *testing.T, p *profiler) {
	pid := p.record("map", "0", "--call-graph", "fp")
	t.Cleanup(func() { os.Remove("/tmp/perf-" + pid + ".map") })
	if stacks := p.stacks("perf.data", "inner"); len(stacks) < fewest {
		t.Errorf("%d samples in the generated code, want more", len(stacks))
	}
}

// testPure runs a program that is all Go, in which perf finds frames only by frame
// pointers. The commands are those of doc.go, except that perf record would write to a
// pipe.
func testPure(t *testing.T, p *profiler) {
	callers := append([]string{"main.call"}, goFrames...)
	for _, test := range []struct {
		name      string
		arguments []string // of the program
		record    []string // of perf record
		want      []string
	}{
		{"frame pointers", []string{"128", "frames"}, []string{"-g"}, append([]string{"inner", "middle", "outer"}, callers...)},
		{"no frame pointers", []string{"128"}, []string{"-g"}, append([]string{"inner"}, goFrames...)},
		{"tables", []string{"128"}, []string{"--call-graph", "dwarf"}, []string{"inner", "middle", "outer", "main.call"}},
	} {
		record := append(append([]string{"record", "-k", "mono"}, test.record...), "-o", "perf.data", "-q", "-e", "cpu-clock:u", "-F", "499", "env", "CLEW_PERF=jitdump", p.pure)
		p.run(append(record, test.arguments...)...)
		p.run("inject", "--jit", "-i", "perf.data", "-o", "jit.data")
		stacks := p.stacks("jit.data", "inner")
		if len(stacks) < fewest {
			t.Errorf("%s: %d samples in the generated code, want more", test.name, len(stacks))
		}
		// A sample may be in the prologue or epilogue.
		counts := make(map[string]int)
		for _, stack := range stacks {
			counts[strings.Join(stack, " ")]++
		}
		if n := counts[strings.Join(test.want, " ")]; n < len(stacks)*9/10 {
			t.Errorf("%s: %d of %d samples are as they should; got\n%v, want\n%v", test.name, n, len(stacks), counts, test.want)
		}
	}
}
