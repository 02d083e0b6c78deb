// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package cgotraceback_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/cgotraceback"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/google/pprof/profile"
)

// TestProfile profiles C and C++ code of all kinds at once. Each sample must lead from C to
// Go's functions.
func TestProfile(t *testing.T) {
	path := build(t, nil)
	d := "3s"
	if sample.Full() {
		d = "60s"
	}
	testProfile(t, hasRust(nil), exec.Command(path, "profile", d))
}

// TestSymbolize prints profiles of programs whose C code has no lines, with the option that the
// documentation recommends, and with others.
func TestSymbolize(t *testing.T) {
	for _, program := range []struct {
		flag    string
		options map[string]string // to the functions that are shown
	}{
		{"-ldflags=-w", map[string]string{"remote": "inlined Go C++", "local": "Go C++", "none": "inlined Go mangled C++"}},
		{"-ldflags=-s", map[string]string{"remote": "inlined Go", "local": ""}},
	} {
		path := build(t, nil, program.flag)
		out, err := exec.Command(path, "shares", "1s").Output()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "profile")
		if err := os.WriteFile(file, out, 0o666); err != nil {
			t.Fatal(err)
		}
		for option, want := range program.options {
			text := run(t, exec.Command("go", "tool", "pprof", "-traces", "-symbolize="+option, path, file))
			var got []string
			for _, f := range [][2]string{{" main.goMiddle (inline)\n", "inlined"}, {" main.goOuter\n", "Go"}, {" _ZN4step4nextIiEEvT_\n", "mangled C++"}, {" step::next\n", "C++"}} {
				if strings.Contains(text, f[0]) {
					got = append(got, f[1])
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s, %s: %q, want %q:\n%.2000s", program.flag, option, got, want, text)
			}
		}
	}
}

// TestRecursion profiles a function that calls itself directly, and in an inlined call, in turn.
// runtime/pprof must not take one frame for a call that was inlined into the next.
func TestRecursion(t *testing.T) {
	out, err := exec.Command(build(t, nil), "recursion", "1s").Output()
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(out)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, s := range p.Sample {
		var frames []string
		for _, l := range s.Location {
			var lines []string
			for _, line := range l.Line {
				lines = append(lines, line.Function.Name)
			}
			frames = append(frames, strings.Join(lines, "<"))
		}
		first := slices.Index(frames, "turn")
		if first < 1 || !strings.HasSuffix(frames[first-1], "spin") {
			continue
		}
		i := first
		for i < len(frames) && frames[i] == []string{"turn", "half<turn"}[(i-first)%2] {
			i++
		}
		if compared++; !strings.HasPrefix(strings.Join(frames[i:], " "), "turns c_inner ") {
			t.Errorf("frames %q", frames)
		}
	}
	if compared < 10 {
		t.Errorf("%d stacks compared", compared)
	}
}

// profiled runs a program that writes a profile, and returns the names of each sample and the
// counters that the program prints.
func profiled(t *testing.T, cmd *exec.Cmd) (samples [][]string, c cgotraceback.Counters) {
	t.Helper()
	var errors bytes.Buffer
	cmd.Stderr = &errors
	cmd.Env = append(os.Environ(), "NAMES_ONLY=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &errors)
	}
	p, err := profile.ParseData(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			for _, line := range l.Line {
				names = append(names, plain(line.Function.Name))
			}
		}
		for range s.Value[0] {
			samples = append(samples, names)
		}
	}
	if _, err := fmt.Sscanf(errors.String(), "{Walks:%d Frames:%d ByFramePointer:%d Complete:%d Full:%d NoTables:%d NoModule:%d NoRule:%d Unreadable:%d NoProgress:%d Unloaded:%d NoContext:%d",
		&c.Walks, &c.Frames, &c.ByFramePointer, &c.Complete, &c.Full, &c.NoTables, &c.NoModule, &c.NoRule, &c.Unreadable, &c.NoProgress, &c.Unloaded, &c.NoContext); err != nil {
		t.Fatalf("%v:\n%s", err, &errors)
	}
	return samples, c
}

func testProfile(t *testing.T, rust bool, cmd *exec.Cmd) {
	t.Helper()
	samples, c := profiled(t, cmd)
	seen := make(map[string]bool)
	for _, names := range samples {
		all := strings.Join(names, " ")
		for _, f := range names {
			seen[f] = true
		}
		if slices.Contains(names, "after_go") && !slices.Equal(names, []string{"after_go", "runtime._ExternalCode"}) {
			t.Errorf("frames %q of a thread of C that has called Go: the runtime asks for them now", names)
		}
		if !strings.Contains(all, "main.goOuter") {
			continue // of the runtime, or of a thread of C
		}
		if i := slices.Index(names, "cpp_step"); i >= 0 {
			if !strings.Contains(all, "cpp_step runtime.cgocall") || !strings.Contains(all, "goMiddle c_outer") {
				t.Errorf("a sample with missing frames: %q", names)
			}
		}
		if i := slices.Index(names, "c_inner"); i >= 0 && !slices.Equal(names[i+1:][:len(outer(rust))], outer(rust)) {
			t.Errorf("a sample with missing frames: %q", names)
		}
	}
	for _, f := range []string{"spin", "jump", "step::thrower", "no_cfi_inner", "alternate", "only_c", "after_go", "main.goOuter"} {
		if !seen[f] {
			t.Errorf("no sample of %s", f)
		}
	}
	t.Logf("%d samples, %+v", len(samples), c)
	// longjmp has no rules for the instructions between those that change the registers.
	if c.Walks < 50 || c.Cut() > c.Walks/20 || c.NoTables != 0 || c.ByFramePointer == 0 {
		t.Errorf("%d of %d walks were cut", c.Cut(), c.Walks)
	}
}

// withShares returns how many samples have cpp_step on their stack, and which share of these
// has each function, and has it innermost.
func withShares(samples [][]string) (total int, on, self map[string]float64) {
	on, self = make(map[string]float64), make(map[string]float64)
	for _, names := range samples {
		end := slices.Index(names, "cpp_step")
		if end < 0 {
			continue
		}
		total++
		self[names[0]]++
		for i, name := range names[:end] {
			if !slices.Contains(names[:i], name) {
				on[name]++
			}
		}
	}
	for _, shares := range []map[string]float64{on, self} {
		for name := range shares {
			shares[name] /= float64(total)
		}
	}
	return total, on, self
}

// TestSharesEqualPerf compares the shares of the functions of C, C++ and Rust in a CPU profile
// with those by perf, which records the program at the same time. perf does not know how to
// walk from Go to its callers in C, so that the frames within one call from Go are compared.
func TestSharesEqualPerf(t *testing.T) {
	perf := testprogram.RequireTool(t, "perf")
	path := build(t, nil)
	d := "4s"
	if sample.Full() {
		d = "30s"
	}
	data := filepath.Join(t.TempDir(), "perf.data")
	ours, _ := profiled(t, exec.Command(perf, "record", "-q", "-F", "499", "-e", "cpu-clock", "--call-graph", "dwarf,16384", "-o", data, "--", path, "shares", d))
	out, err := exec.Command(perf, "script", "-i", data, "-F", "ip,sym", "--no-inline").Output()
	if err != nil {
		t.Fatalf("perf script: %v", err)
	}
	var theirs [][]string
	for stack := range strings.SplitSeq(string(out), "\n\n") {
		var names []string
		for line := range strings.Lines(stack) {
			// The signal of the profile comes at the end of what the kernel does, so perf's frames of the kernel
			// have none beside them.
			if address, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !(len(address) == 16 && strings.HasPrefix(address, "ffff")) {
				name, _, _ = strings.Cut(name, "(")
				names = append(names, plain(name))
			}
		}
		if len(names) > 0 {
			theirs = append(theirs, names)
		}
	}
	n, on, self := withShares(ours)
	m, onTheirs, selfTheirs := withShares(theirs)
	compared := 0
	for kind, pair := range map[string][2]map[string]float64{"on the stack": {on, onTheirs}, "innermost": {self, selfTheirs}} {
		for name, p := range pair[1] {
			if p < 0.05 || strings.HasPrefix(name, "[") {
				continue
			}
			compared++
			// Five standard deviations of the difference. Two samples more on each side keep
			// shares of 0 and 1 from having none.
			pooled := (pair[0][name]*float64(n) + p*float64(m) + 2) / float64(n+m+4)
			most := 5 * math.Sqrt(pooled*(1-pooled)*(1/float64(n)+1/float64(m)))
			t.Logf("%s %s: %.1f%%, by perf %.1f%%, at most %.1f%% apart", name, kind, 100*pair[0][name], 100*p, 100*most)
			if math.Abs(pair[0][name]-p) > most {
				t.Errorf("%s %s: %.1f%% of %d samples, and %.1f%% of %d by perf", name, kind, 100*pair[0][name], n, 100*p, m)
			}
		}
	}
	if n < 50 || m < 200 || compared < 5 {
		t.Errorf("%d functions compared, of %d and %d samples", compared, n, m)
	}
}
