// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build amd64

package perfdata_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/target/perfdata"
)

// profiler is perf with a folder of its own.
type profiler struct {
	path, dir string
}

func newProfiler(t *testing.T) *profiler {
	p := &profiler{path: testprogram.RequireTool(t, "perf"), dir: t.TempDir()}
	if out, err := p.command("record", "-e", "cpu-clock", "-o", "try.data", "true").CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("perf_event_paranoid")) || bytes.Contains(out, []byte("not permitted")) {
			t.Skip("skipped: perf_event_open is not permitted")
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

func (p *profiler) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.path, args...)
	cmd.Dir = p.dir
	// perf keeps files in the home directory.
	cmd.Env = append(os.Environ(), "HOME="+p.dir)
	return cmd
}

// run runs perf and returns what it prints.
func (p *profiler) run(t *testing.T, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("perf %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return stdout.Bytes()
}

// load makes processes, maps and works.
const load = `for i in 1 2; do sh -c 'i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done' & done; wait`

// modes are the ways to record, by the arguments of perf record. Those with "-" as
// a file record to a pipe.
var modes = map[string][]string{
	"chains":   {"-e", "cpu-clock", "-g"},
	"stacks":   {"-e", "cpu-clock", "--call-graph", "dwarf,4096"},
	"zstd":     {"-e", "cpu-clock", "-g", "-z"},
	"zstd22":   {"-e", "cpu-clock", "-g", "-z22"},
	"pipe":     {"-e", "cpu-clock", "-g", "-o", "-"},
	"zstdpipe": {"-e", "cpu-clock", "--call-graph", "dwarf", "-z", "-o", "-"},
	"buildids": {"-e", "cpu-clock", "--buildid-mmap", "--namespaces", "--all-cgroups"},
	"system":   {"-a", "-e", "cpu-clock,task-clock,context-switches", "--switch-events"},
	"switches": {"-e", "cpu-clock", "--switch-events"},
	"group":    {"-e", "{cpu-clock,page-faults}:S", "-g", "--intr-regs", "-d", "--phys-data", "--data-page-size", "--code-page-size", "-k", "mono"},
	"many":     {"-e", "cpu-clock,page-faults:u,minor-faults/call-graph=fp/", "-W", "--sample-identifier", "--sample-cpu", "-k", "CLOCK_REALTIME", "--running-time"},
	"trace":    {"-e", "sched:sched_switch,cpu-clock", "-R"},
	"counts":   {"-e", "cpu-clock", "-s"},
	"threads":  {"-e", "cpu-clock", "-g", "--threads"},
	"tail":     {"-e", "cpu-clock", "--tail-synthesize", "-B"},
}

// record records in a mode and returns the path of the file.
func (p *profiler) record(t *testing.T, mode string) string {
	t.Helper()
	path := filepath.Join(p.dir, mode+".data")
	args := append([]string{"record", "-q", "-F", "4999"}, modes[mode]...)
	if slices.Contains(args, "-") {
		out := p.run(t, append(args, "sh", "-c", load)...)
		if err := os.WriteFile(path, out, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p.run(t, append(args, "-o", path, "sh", "-c", load)...)
	return path
}

// TestRecordings compares all records of recordings, in order and with all their
// fields, with what perf report -D prints.
func TestRecordings(t *testing.T) {
	p := newProfiler(t)
	for mode := range modes {
		t.Run(mode, func(t *testing.T) {
			path := p.record(t, mode)
			want := perfDump(string(p.run(t, "report", "-D", "-i", path)))
			r, err := perfdata.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			d := dumper{r: r}
			if r.Pipe() {
				d.base = 16
			}
			samples := 0
			for {
				rec, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if rec.Err != nil {
					t.Errorf("%v", rec.Err)
				}
				if _, ok := rec.Body.(*perfdata.Sample); ok {
					samples++
				}
				d.one(rec)
			}
			if samples < 10 {
				t.Errorf("%d samples", samples)
			}
			got := strings.Split(strings.TrimSuffix(d.String(), "\n"), "\n")
			for i := range got {
				got[i] = strings.TrimRight(got[i], " ")
			}
			if mode == "threads" {
				// perf reads one file after the other.
				slices.Sort(got)
				slices.Sort(want)
			}
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("%d lines, want %d; from line %d on\n%s\nwant\n%s", len(got), len(want), i,
						strings.Join(got[min(len(got), max(0, i-3)):min(len(got), i+5)], "\n"), strings.Join(want[min(len(want), max(0, i-3)):min(len(want), i+5)], "\n"))
				}
			}
			if c := r.Counts(); c.Late != 0 || c.Unknown != 0 {
				t.Errorf("%+v", c)
			}
		})
	}
}

var (
	headLine = regexp.MustCompile(`^((?:-?\d+ ){1,2}(?:0x[0-9a-f]+|0) \[0x[0-9a-f]+\]: PERF_RECORD_([A-Z_0-9]+))(.*)$`)
	bodyLine = regexp.MustCompile(`^(\.\.\. (FP chain|user regs|intr regs|ustack|weight|sample_read|time |id  |lost )|\.\.\.\.+ | \.\.? |\t\t)`)
)

// emptyStack is a stack of which nothing was asked for.
var emptyStack = regexp.MustCompile(`^\.\.\. ustack: size 0`)

// perfDump returns the lines of perf report -D that dumper writes too.
func perfDump(out string) (lines []string) {
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, " \n")
		if m := headLine.FindStringSubmatch(line); m != nil {
			switch m[2] {
			case "ID_INDEX", "EVENT_UPDATE", "CPU_MAP", "FINISHED_INIT", "FEATURE", "TIME_CONV", "AUXTRACE_INFO":
				line = m[1]
			}
			lines = append(lines, line)
		} else if m := emptyStack.FindString(line); m != "" {
			lines = append(lines, m)
		} else if bodyLine.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}
