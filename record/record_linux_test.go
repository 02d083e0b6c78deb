// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack/recording"
	"github.com/clewdev/clew/unwind"
)

// functions returns the names of the functions of a stack, innermost first.
func functions(rec *recording.Recording, s *recording.Stack) (names []string) {
	for _, f := range rec.Frames(s) {
		names = append(names, f.Symbol.Name)
	}
	return names
}

// spent returns the samples by process and function: heavy, light, or "" for others. It fails the
// test unless nearly all samples end at the start of a thread or a program.
func spent(t *testing.T, rec *recording.Recording) map[int32]map[string]int {
	t.Helper()
	counts := make(map[int32]map[string]int)
	whole, all := 0, 0
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		names := functions(rec, s)
		pid := rec.Threads[s.Thread].PID
		if counts[pid] == nil {
			counts[pid] = make(map[string]int)
		}
		in := ""
		for _, name := range []string{"heavy", "light"} {
			if slices.Contains(names, name) {
				in = name
			}
		}
		counts[pid][in] += int(s.Samples)
		all += int(s.Samples)
		if s.Reason == unwind.EndOfStack {
			whole += int(s.Samples)
		} else {
			t.Logf("%d samples end with %v: %q", s.Samples, s.Reason, names)
		}
	}
	if whole*100 < all*99 {
		t.Errorf("%d of %d samples reach the outermost frame, fewer than 99%%", whole, all)
	}
	return counts
}

// checkShares compares the samples in heavy and light with the shares of processor time.
func checkShares(t *testing.T, counts map[string]int) {
	t.Helper()
	heavy, light := float64(counts["heavy"]), float64(counts["light"])
	n := heavy + light
	// Five standard deviations of a binomial distribution, and a hundredth for switches of threads
	// at the sampled moments.
	if n < 50 || math.Abs(heavy/n-0.75) > 5*math.Sqrt(0.75*0.25/n)+0.01 {
		t.Errorf("%v of %v samples are in heavy, which spends 75%% of the time", heavy, n)
	}
}

// until returns a context that ends when each of some processes has n samples.
func until(t *testing.T, n int, pids ...int) (context.Context, recording.Options) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	left := make(map[int32]int)
	for _, pid := range pids {
		left[int32(pid)] = n
	}
	return ctx, recording.Options{Filter: func(thread *recording.Thread, _ string) bool {
		if left[thread.PID] > 0 {
			if left[thread.PID]--; left[thread.PID] == 0 {
				delete(left, thread.PID)
			}
		}
		if len(left) == 0 {
			cancel()
		}
		return true
	}}
}

// untilProgram returns a context that ends when the processes of a program have n samples. A busy machine
// takes them as it has time.
func untilProgram(t *testing.T, n int, path string) (context.Context, recording.Options) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	name := filepath.Base(path)
	return ctx, recording.Options{Filter: func(thread *recording.Thread, _ string) bool {
		if thread.Process == name {
			if n--; n == 0 {
				cancel()
			}
		}
		return true
	}}
}

func build(t *testing.T) string {
	return testprogram.Build(t, "shares.c", "-O2", "-fomit-frame-pointer", "-pthread")
}

func TestCommand(t *testing.T) {
	path := build(t)
	var raw bytes.Buffer
	var last record.Status
	threads := 0
	cmd := exec.Command(path, "2", "600")
	rec, err := record.Run(context.Background(), record.Options{
		Command: cmd, Frequency: 499, StackSize: 8 << 10, Raw: &raw,
		Status: func(s record.Status) { last, threads = s, max(threads, s.Threads) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if !cmd.ProcessState.Success() {
		t.Errorf("the command ends with %v", cmd.ProcessState)
	}
	counts := spent(t, rec)
	pid := int32(cmd.Process.Pid)
	if len(counts) != 1 || counts[pid] == nil {
		t.Fatalf("samples of processes %v, expected only %d", slices.Collect(maps.Keys(counts)), pid)
	}
	checkShares(t, counts[pid])
	if last.Samples != rec.Samples || last.Lost != 0 || rec.Counts.Missed() != 0 || rec.Counts.Late != 0 || rec.Counts.Invalid != 0 {
		t.Errorf("status %+v, %d samples, counts %+v", last, rec.Samples, rec.Counts)
	}

	if threads < 2 || threads > 3 || last.Threads != 0 {
		t.Errorf("at most %d threads with samples, and %d at the end; expected 2 or 3, and none", threads, last.Threads)
	}

	t.Run("raw", func(t *testing.T) { testRaw(t, raw.Bytes(), rec) })
}

// testRaw reads a recording again: with Clew, and with perf.
func testRaw(t *testing.T, raw []byte, rec *recording.Recording) {
	r, err := perfdata.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	again, err := recording.Read(r, recording.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := func(rec *recording.Recording) (lines []string) {
		for i := range rec.Stacks {
			s := &rec.Stacks[i]
			lines = append(lines, strings.Join(functions(rec, s), " ")+strconv.FormatUint(s.Samples, 10))
		}
		return lines
	}
	if x, y := text(rec), text(again); !slices.Equal(x, y) {
		t.Errorf("stacks of the raw recording:\n%q\nwhile recording:\n%q", y, x)
	}

	perf := testprogram.RequireTool(t, "perf")
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var notes bytes.Buffer
	cmd := exec.Command(perf, "script", "-F", "tid,ip,sym", "-i", path)
	cmd.Stderr = &notes
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("perf script: %v\n%s", err, notes.Bytes())
	}
	samples := strings.Split(strings.TrimSpace(string(out)), "\n\n")
	heavy := 0
	for _, s := range samples {
		if regexp.MustCompile(` heavy\n(.*\n)*.* worker\n`).MatchString(s) {
			heavy++
		}
	}
	if len(samples) != int(rec.Samples) {
		t.Errorf("perf script prints %d samples of %d", len(samples), rec.Samples)
	}
	want := 0
	for _, n := range spent(t, rec) {
		want += n["heavy"]
	}
	// perf's unwinder fails at some instructions.
	if heavy > want || heavy < want*95/100 {
		t.Errorf("perf finds worker and heavy in %d samples, Clew in %d\n%s", heavy, want, notes.Bytes())
	}
}

// A recording of running processes includes the threads that run already, and what they
// start.
func TestTargets(t *testing.T) {
	path := build(t)
	first, second := testprogram.Start(t, path, "1", "0"), testprogram.Start(t, path, "2", "0")
	ctx, options := until(t, 200, first.PID, second.PID)
	rec, err := record.Run(ctx, record.Options{Targets: []int{first.PID, second.PID}, Frequency: 499, Recording: options})
	if err != nil {
		t.Fatal(err)
	}
	counts := spent(t, rec)
	if len(counts) != 2 {
		t.Errorf("samples of %d processes, expected 2", len(counts))
	}
	for pid, n := range counts {
		t.Logf("process %d: %v", pid, n)
		checkShares(t, n)
	}
	if !first.Running() || !second.Running() {
		t.Error("a recorded process has ended")
	}
}

// A forked child, and the program after exec, are recorded from their start.
func TestForkAndExec(t *testing.T) {
	rec, err := record.Run(context.Background(), record.Options{Command: exec.Command(build(t), "1", "500", "fork"), Frequency: 499})
	if err != nil {
		t.Fatal(err)
	}
	counts := spent(t, rec)
	if len(counts) != 2 {
		t.Fatalf("samples of %d processes, expected 2", len(counts))
	}
	var sums []int
	for _, n := range counts {
		checkShares(t, n)
		sums = append(sums, n["heavy"]+n["light"])
	}
	// The parent does the work twice.
	slices.Sort(sums)
	if ratio := float64(sums[1]) / float64(sums[0]); ratio < 1.5 || ratio > 2.6 {
		t.Errorf("%d and %d samples, expected twice as many in the parent", sums[1], sums[0])
	}
}

// Run ends when all targets have ended.
func TestTargetsEnd(t *testing.T) {
	p := testprogram.Start(t, build(t), "1", "500")
	rec, err := record.Run(context.Background(), record.Options{Targets: []int{p.PID}})
	if err != nil {
		t.Fatal(err)
	}
	if rec.Samples == 0 {
		t.Error("no samples")
	}
}

// A target that is named twice is sampled once.
func TestTargetTwice(t *testing.T) {
	p := testprogram.Start(t, build(t), "1", "0")
	targets := []int{p.PID, os.Getpid(), p.PID}
	ctx, options := until(t, 200, p.PID)
	rec, err := record.Run(ctx, record.Options{Targets: targets, Frequency: 499, Recording: options})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range rec.Stacks {
		if s := &rec.Stacks[i]; rec.Threads[s.Thread].PID == int32(p.PID) {
			n += int(s.Samples)
		}
	}
	if most := int(499 * rec.Span().Seconds() * 1.2); n == 0 || n > most {
		t.Errorf("%d samples in %v, expected at most %d", n, rec.Span(), most)
	}
	if targets[1] != os.Getpid() {
		t.Error("the caller's targets have changed")
	}
}

func TestAll(t *testing.T) {
	p := testprogram.Start(t, build(t), "1", "0")
	ctx, options := until(t, 200, p.PID)
	rec, err := record.Run(ctx, record.Options{All: true, Frequency: 499, Recording: options})
	if os.Geteuid() != 0 {
		if !errors.Is(err, record.ErrRefused) {
			t.Errorf("without privileges: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	n := make(map[string]int)
	for i := range rec.Stacks {
		if s := &rec.Stacks[i]; rec.Threads[s.Thread].PID == int32(p.PID) {
			for _, name := range functions(rec, s) {
				if name == "heavy" || name == "light" {
					n[name] += int(s.Samples)
				}
			}
		}
	}
	checkShares(t, n)
}

// Other users may record their own processes, without the kernel's frames, and no others.
func TestUnprivileged(t *testing.T) {
	if mode := os.Getenv("CLEW_RECORD_TEST"); mode != "" {
		opts := record.Options{All: true}
		if mode != "all" {
			opts = record.Options{Command: exec.Command(mode, "1", "800"), Frequency: 499}
		}
		rec, err := record.Run(context.Background(), opts)
		if mode == "all" {
			if !errors.Is(err, record.ErrRefused) || !strings.Contains(err.Error(), "CAP_PERFMON") || !strings.Contains(err.Error(), "perf_event_paranoid") {
				t.Errorf("all processes: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkShares(t, spent(t, rec)[int32(opts.Command.Process.Pid)])
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("skipped: needs root's rights to run as another user")
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for from, to := range map[string]string{build(t): "shares", os.Args[0]: "test"} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	paranoid, _ := strconv.Atoi(strings.TrimSpace(string(level)))
	for _, mode := range []string{"all", filepath.Join(dir, "shares")} {
		if mode == "all" && paranoid <= 0 || mode != "all" && paranoid > 2 {
			continue
		}
		cmd := exec.Command(filepath.Join(dir, "test"), "-test.run=^TestUnprivileged$")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CLEW_RECORD_TEST="+mode)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("as another user, %s: %v\n%s", mode, err, out)
		}
	}
}

// The waits of a program that sleeps take as long as it sleeps.
func TestOffCPU(t *testing.T) {
	cmd := exec.Command("sleep", "0.4")
	rec, err := record.Run(context.Background(), record.Options{Command: cmd, OffCPU: true})
	if os.Geteuid() != 0 && errors.Is(err, record.ErrRefused) && strings.Contains(err.Error(), "perf_event_paranoid") {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	slept := time.Duration(0)
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		if rec.Threads[s.Thread].PID == int32(cmd.Process.Pid) && slices.ContainsFunc(functions(rec, s), func(name string) bool { return strings.HasSuffix(name, "nanosleep") }) {
			slept += time.Duration(s.Weight)
		}
	}
	// The thread leaves the processor some time after it has set the timer.
	if slept < 390*time.Millisecond || slept > rec.Span() {
		t.Errorf("the program sleeps for %v in a recording of %v, expected 400 ms or more", slept, rec.Span())
	}
	if name := rec.Events[0].Name; name != "context-switches" {
		t.Errorf("the event is %s", name)
	}
}

// The time of a thread is that on a processor and that of its waits.
func TestWall(t *testing.T) {
	cmd := exec.Command("sh", "-c", `"$0" 1 300 && exec sleep 0.3`, build(t))
	var raw bytes.Buffer
	rec, err := record.Run(context.Background(), record.Options{Command: cmd, Wall: true, Frequency: 499, Raw: &raw})
	if os.Geteuid() != 0 && errors.Is(err, record.ErrRefused) && strings.Contains(err.Error(), "perf_event_paranoid") {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var slept, busy time.Duration
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		switch names := functions(rec, s); {
		case slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, "nanosleep") }):
			slept += time.Duration(s.Weight) // or it waits for a processor, before or after
		case slices.Contains(names, recording.RunnableName): // another program had the processor
		case slices.Contains(names, "heavy") || slices.Contains(names, "light"):
			busy += time.Duration(s.Weight)
		}
	}
	// The thread leaves the processor some time after it has set the timer.
	if slept < 290*time.Millisecond || slept > rec.Span() || busy < 200*time.Millisecond || busy > 450*time.Millisecond {
		t.Errorf("the programs sleep for %v and run for %v in %v, expected 300 ms or more, and about 300 ms", slept, busy, rec.Span())
	}
	if len(rec.Events) != 1 || rec.Events[0].Name != "wall-clock" || rec.Counts.Invalid != 0 || !rec.Complete {
		t.Errorf("events %+v, counts %+v, notes %q", rec.Events, rec.Counts, rec.Notes)
	}
	r, err := perfdata.NewReader(&raw)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err = recording.Read(r, recording.Options{})
	if err != nil || len(rec.Events) != 2 || rec.Events[0].Name != "cpu-clock" || rec.Events[1].Name != "context-switches" || rec.Events[1].Samples == 0 {
		t.Errorf("events of the raw recording: %+v, %v", rec.Events, err)
	}
}

// perf records while Clew records: a bit of one event must not change the records of others.
func TestBesidePerf(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: needs root's rights to record all processes")
	}
	perf := testprogram.RequireTool(t, "perf")
	path := build(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	recorded := make(chan error, 1)
	begun := make(chan struct{})
	var once sync.Once
	go func() {
		_, err := record.Run(ctx, record.Options{All: true, Status: func(record.Status) { once.Do(func() { close(begun) }) }})
		recorded <- err
	}()
	select {
	case <-begun:
	case err := <-recorded:
		t.Fatalf("the recording ended: %v", err)
	}
	cmd := exec.Command(perf, "record", "-q", "-e", "cpu-clock", "-o", filepath.Join(t.TempDir(), "perf.data"), path, "1", "100")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("perf record: %v\n%s", err, out)
	}
	cancel()
	if err := <-recorded; err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		name string
		opts record.Options
		want string
		is   error
	}{
		{"nothing", record.Options{}, "one of Targets", nil},
		{"two", record.Options{All: true, Targets: []int{1}}, "one of Targets", nil},
		{"no process", record.Options{Targets: []int{math.MaxInt32}}, "process 2147483647", os.ErrProcessDone},
		{"no program", record.Options{Command: exec.Command("/nonexistent/program")}, "/nonexistent/program", fs.ErrNotExist},
		{"event", record.Options{All: true, Event: "nosuch"}, `event "nosuch"`, record.ErrUnsupported},
		{"modifier", record.Options{All: true, Event: "cycles:u"}, "--no-kernel omits the kernel", record.ErrUnsupported},
		{"tracepoint", record.Options{All: true, Event: "../..:x"}, "event", record.ErrUnsupported},
		{"control group", record.Options{Cgroup: "/nonexistent"}, "control group /nonexistent: no such file or directory; expected a directory, or a path below /sys/fs/cgroup", fs.ErrNotExist},
		{"no control group", record.Options{Cgroup: "/tmp"}, "/tmp: not a directory of a control group", nil},
		{"duration", record.Options{All: true, Duration: -1}, "duration", nil},
		{"waits and event", record.Options{All: true, OffCPU: true, Event: "cpu-clock"}, "OffCPU excludes", nil},
		{"waits and deferred", record.Options{All: true, OffCPU: true, Deferred: true}, "OffCPU excludes", nil},
		{"wall and waits", record.Options{All: true, Wall: true, OffCPU: true}, "Wall excludes", nil},
		{"stack size", record.Options{All: true, StackSize: 1 << 20}, "stack copies", nil},
		{"frequency", record.Options{All: true, Frequency: -1}, "frequency", nil},
		{"frequency above the limit", record.Options{Targets: []int{os.Getpid()}, Frequency: 1 << 30}, "perf_event_max_sample_rate", nil},
	} {
		_, err := record.Run(ctx, test.opts)
		if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%s: error %v, expected %q and %v", test.name, err, test.want, test.is)
		}
	}
}

// Older kernels do not defer call chains.
func TestDeferred(t *testing.T) {
	opts := record.Options{Command: exec.Command(build(t), "1", "300"), Frequency: 499, Deferred: true}
	rec, err := record.Run(context.Background(), opts)
	switch {
	case errors.Is(err, record.ErrUnsupported) && strings.Contains(err.Error(), "Linux 6.19"):
	case err != nil:
		t.Fatal(err)
	default:
		checkShares(t, spent(t, rec)[int32(opts.Command.Process.Pid)])
	}
}

// A raw recording that cannot be written does not end the recording.
func TestRawFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	rec, err := record.Run(context.Background(), record.Options{Command: exec.Command(build(t), "1", "500"), Frequency: 499, Raw: full})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, expected %v", err, syscall.ENOSPC)
	}
	if rec == nil {
		t.Fatal("no recording")
	}
	for _, n := range spent(t, rec) {
		checkShares(t, n)
	}
}
