// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build amd64

package perfdata_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot/perfdata"
)

// profiler is perf with a directory of its own.
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

// load starts processes, maps memory and computes.
const load = `for i in 1 2; do sh -c 'i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done' & done; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; wait`

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
	args := append([]string{"record", "-q", "-N", "-F", "4999"}, modes[mode]...)
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

// TestRecordings compares all records of recordings, in order and with all their fields, with
// the output of perf report -D.
func TestRecordings(t *testing.T) {
	p := newProfiler(t)
	for mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel() // perf record sleeps most of the time
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
			got := perfDump(d.String())
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
			if c := r.Counts(); c.Unknown != 0 {
				t.Errorf("%+v", c)
			}
		})
	}
}

var (
	headLine = regexp.MustCompile(`^((?:-?\d+ ){1,2}(?:0x[0-9a-f]+|0) \[0x[0-9a-f]+\]: PERF_RECORD_([A-Z_0-9]+))(.*)$`)
	bodyLine = regexp.MustCompile(`^(\.\.\. (FP chain|user regs|ustack)|\t\t)`)
	partLine = regexp.MustCompile(`^\.\.\.\.+ `) // of the last line with three dots
)

// emptyStack matches a stack that was not requested.
var emptyStack = regexp.MustCompile(`^\.\.\. ustack: size 0`)

// perfDump returns the lines of perf report -D that dumper writes too. The rest of a name with
// an end of line is left out: "system" records whatever processes there are.
func perfDump(out string) (lines []string) {
	read := false // the last field is one of Sample
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, " \n")
		if !partLine.MatchString(line) {
			read = bodyLine.MatchString(line)
		}
		if m := headLine.FindStringSubmatch(line); m != nil {
			switch m[2] {
			case "READ", "SWITCH", "SWITCH_CPU_WIDE", "BPF_EVENT", "CGROUP", "THREAD_MAP", "ID_INDEX", "EVENT_UPDATE", "CPU_MAP", "FINISHED_INIT", "FEATURE", "TIME_CONV", "AUXTRACE_INFO":
				line = m[1]
			}
			lines = append(lines, line)
		} else if m := emptyStack.FindString(line); m != "" {
			lines = append(lines, m)
		} else if read {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestRecordingHeaders compares headers and build IDs with perf's output.
func TestRecordingHeaders(t *testing.T) {
	p := newProfiler(t)
	for _, mode := range []string{"group", "zstd"} {
		path := p.record(t, mode)
		r, err := perfdata.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		h := r.Header()
		// The events of a group have the order of the group.
		first := r.Attributes()[0]
		for _, a := range r.Attributes() {
			if a.IDs[0] < first.IDs[0] {
				first = a
			}
		}
		got := []string{
			"# hostname : " + h.Hostname,
			"# os release : " + h.OSRelease,
			"# cmdline : " + strings.ReplaceAll(strings.Join(h.CommandLine, " "), "'", `\'`),
			"# event : name = " + first.Name + ",",
		}
		if mode != "zstd" {
			got = append(got, "# clockid: monotonic (1)")
			if h.Clock.ID != 1 || h.Clock.Time == 0 || time.Since(h.Clock.Wall) > time.Hour {
				t.Errorf("%+v", h.Clock)
			}
		}
		want := string(p.run(t, "report", "--header-only", "-i", path))
		for _, line := range got {
			if !strings.Contains(want, line) {
				t.Errorf("%s: %q is not in\n%s", mode, line, want)
			}
		}
		if mode == "zstd" {
			// perf record -z writes none.
			if n := len(r.BuildIDs()); n > 0 {
				t.Errorf("%d build IDs", n)
			}
			continue
		}
		var ids []string
		for _, id := range r.BuildIDs() {
			ids = append(ids, fmt.Sprintf("%x %s", id.ID, id.Path))
		}
		list := strings.Split(strings.TrimSpace(string(p.run(t, "buildid-list", "-i", path))), "\n")
		slices.Sort(ids)
		slices.Sort(list)
		if len(ids) == 0 || !slices.Equal(ids, list) {
			t.Errorf("%q, want %q", ids, list)
		}
	}
}

// TestLostRecords makes perf lose records, and compares the counts.
func TestLostRecords(t *testing.T) {
	p := newProfiler(t)
	path := filepath.Join(p.dir, "lost.data")
	// Many samples with a stack each, and a buffer of one page.
	p.run(t, "record", "-q", "-N", "-e", "cpu-clock:u", "-F", "20000", "--call-graph", "dwarf,3000", "-m", "1", "-o", path, "sh", "-c", load)
	r, err := perfdata.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var lost, samples uint64
	for line := range strings.Lines(string(p.run(t, "report", "-D", "-i", path))) {
		var id, n uint64
		if _, text, ok := strings.Cut(line, "PERF_RECORD_LOST: "); ok {
			if _, err := fmt.Sscanf(text, "id:%d: lost:%d", &id, &n); err != nil {
				t.Fatal(err)
			}
			lost += n
		}
		if _, text, ok := strings.Cut(line, "PERF_RECORD_LOST_SAMPLES: "); ok {
			if _, err := fmt.Sscanf(text, "id:%d: lost samples :%d", &id, &n); err != nil {
				t.Fatal(err)
			}
			samples += n
		}
	}
	if err := drain(r, func(*perfdata.Record) {}); err != io.EOF {
		t.Fatal(err)
	}
	if c := r.Counts(); c.Lost != lost || c.LostSamples != samples || lost+samples == 0 {
		t.Errorf("%+v, want %d lost and %d samples", c, lost, samples)
	}
}

// TestMutatedRecordings is TestMutations with perf's own recordings.
func TestMutatedRecordings(t *testing.T) {
	p := newProfiler(t)
	for _, mode := range []string{"chains", "zstdpipe"} {
		b, err := os.ReadFile(p.record(t, mode))
		if err != nil {
			t.Fatal(err)
		}
		mutate(t, b, rand.New(rand.NewPCG(6, 6)), 100)
	}
}
