// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/internal/testprogram/collector"
	"github.com/clewdev/clew/object"
)

// service is clew record --send as a process.
type service struct {
	cmd *exec.Cmd
	log bytes.Buffer
}

// startService starts clew with arguments.
func startService(t *testing.T, args ...string) *service {
	t.Helper()
	testprogram.RequireTool(t, "curl")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self, args...)
	command.Args[0] = "clew"
	return startCommand(t, command)
}

// startCommand starts a command that becomes clew.
func startCommand(t *testing.T, command *exec.Cmd) *service {
	t.Helper()
	s := &service{cmd: command}
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		if t.Failed() {
			t.Logf("%q:\n%s", command.Args, s.log.Bytes())
		}
	})
	return s
}

var endedLine = regexp.MustCompile(`msg=ended samples=(\d+) lost=(\d+) sent=(\d+) dropped=(\d+) rejected=(\d+) kept=(\d+)`)

// terminate sends SIGTERM, and returns the counts of the last line of the log by name.
func (s *service) terminate(t *testing.T, code int) map[string]int {
	t.Helper()
	s.cmd.Process.Signal(syscall.SIGTERM)
	if s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != code {
		t.Errorf("clew: %v, expected exit code %d", s.cmd.ProcessState, code)
	}
	found := endedLine.FindSubmatch(s.log.Bytes())
	if found == nil {
		t.Fatal("the log does not say what was sent")
	}
	counts := make(map[string]int)
	for i, name := range []string{"samples", "lost", "sent", "dropped", "rejected", "kept"} {
		counts[name], _ = strconv.Atoi(string(found[i+1]))
	}
	return counts
}

// received is the profiles of a process that a collector has received.
type received struct {
	attributes map[string]any
	buildIDs   map[string]string // by the path of the file
	stacks     map[string]int64  // the weights by functions, outermost first
	kernel     map[string]bool   // names of the kernel's functions
	samples    int64
}

// share returns the share of the samples whose stack matches.
func (r *received) share(pattern string) float64 {
	expression, n := regexp.MustCompile(pattern), int64(0)
	for stack, weight := range r.stacks {
		if expression.MatchString(stack) {
			n += weight
		}
	}
	return float64(n) / float64(r.samples)
}

// byProcess joins messages.
func byProcess(t *testing.T, messages []pprofile.Profiles) map[int64]*received {
	t.Helper()
	all := make(map[int64]*received)
	for _, m := range messages {
		d := m.Dictionary()
		for _, resource := range m.ResourceProfiles().All() {
			pid, _ := resource.Resource().Attributes().Get("process.pid")
			r := all[pid.Int()]
			if r == nil {
				r = &received{buildIDs: make(map[string]string), stacks: make(map[string]int64), kernel: make(map[string]bool)}
				all[pid.Int()] = r
			}
			r.attributes = resource.Resource().Attributes().AsRaw()
			for _, p := range resource.ScopeProfiles().At(0).Profiles().All() {
				for _, s := range p.Samples().All() {
					r.samples += s.Values().At(0)
					r.stacks[r.stack(t, d, s)] += s.Values().At(0)
				}
			}
		}
	}
	return all
}

// stack returns the functions of a sample, and notes the build IDs of its mappings.
func (r *received) stack(t *testing.T, d pprofile.ProfilesDictionary, s pprofile.Sample) string {
	t.Helper()
	text := func(i int32) string { return d.StringTable().At(int(i)) }
	var names []string
	for _, i := range d.StackTable().At(int(s.StackIndex())).LocationIndices().All() {
		l := d.LocationTable().At(int(i))
		for _, line := range l.Lines().All() {
			names = append(names, text(d.FunctionTable().At(int(line.FunctionIndex())).NameStrindex()))
		}
		for _, a := range l.AttributeIndices().All() {
			if a := d.AttributeTable().At(int(a)); text(a.KeyStrindex()) == "profile.frame.type" && a.Value().Str() == "kernel" && len(names) > 0 {
				r.kernel[names[len(names)-1]] = true
			}
		}
		mapping := d.MappingTable().At(int(l.MappingIndex()))
		for _, a := range mapping.AttributeIndices().All() {
			if a := d.AttributeTable().At(int(a)); text(a.KeyStrindex()) == "process.executable.build_id.gnu" {
				r.buildIDs[text(mapping.FilenameStrindex())] = a.Value().Str()
			}
		}
	}
	slices.Reverse(names)
	return strings.Join(names, ";")
}

// last returns the values of the last message with metrics, by name.
func last(t *testing.T, messages []pmetric.Metrics) (values map[string]float64, resource pcommon.Map) {
	t.Helper()
	if len(messages) == 0 {
		t.Fatal("no metrics arrived")
	}
	r := messages[len(messages)-1].ResourceMetrics().At(0)
	values = make(map[string]float64)
	for _, m := range r.ScopeMetrics().At(0).Metrics().All() {
		if m.Type() == pmetric.MetricTypeSum {
			values[m.Name()] = m.Sum().DataPoints().At(0).DoubleValue()
		} else {
			values[m.Name()] = m.Gauge().DataPoints().At(0).DoubleValue()
		}
	}
	return values, r.Resource().Attributes()
}

// Profiles of programs in C, in Go, and in Go with C arrive through two real collectors in a row,
// with all samples, the functions, the attributes and the build IDs. SIGTERM sends the last
// interval, which is the only one by gRPC, whose endpoint the environment names. The metrics of the recorder arrive too.
func TestRecordToCollectors(t *testing.T) {
	programs := []struct{ path, shown, name, outermost, heaviest string }{
		{testprogram.Build(t, "shares.c", "-O2", "-g", "-Wl,--build-id"), "", "shares", `^(__)?clone3?;(start_thread|.*pthread.*);worker;`, `;worker;heavy(;|$)`},
		{testprogram.Build(t, "goshares"), "", "goshares", `^runtime\.`, `;main\.heavy$`},
		{testprogram.BuildCgo(t, "goshares"), "", "goshares", `.`, `^runtime\.goexit;main\.callC;.*;calls;spin$`},
	}
	final := collector.Start(t, collector.Options{})
	first := collector.Start(t, collector.Options{Next: final})
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	args := []string{"record", "--frequency", "199", "--label", "team=blue"}
	pids, targets := make([]int64, len(programs)), make([]int, len(programs))
	for i, p := range programs {
		t.Setenv("OTEL_SERVICE_NAME", fmt.Sprint("service-", i))
		start := testprogram.Start
		programs[i].shown = p.path
		if p.name == "goshares" && os.Geteuid() == 0 { // both at the same path, in containers
			start, programs[i].shown = testprogram.StartElsewhere, "/mnt/clew-hidden/goshares"
		}
		process := start(t, p.path, map[string][]string{"shares": {"1", "0"}}[p.name]...)
		pids[i], targets[i] = int64(process.PID), process.PID
		args = append(args, strconv.Itoa(process.PID))
	}
	os.Unsetenv("OTEL_SERVICE_NAME")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []struct {
		url       string // the one in the environment has http for gRPC too
		flags     []string
		protocol  string
		intervals int // at least
	}{
		{"http://" + first.HTTP, []string{"--send", "http://" + first.HTTP, "--every", "500ms"}, "", 3},
		{"http://" + first.GRPC, []string{"--every", "1h"}, "grpc", 1},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", run.url)
		t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", run.protocol)
		s := startService(t, slices.Concat(args, run.flags)...)
		before, metricsBefore := len(final.Profiles(t)), len(final.Metrics(t))
		waitRecording(t, s.cmd.Process.Pid)
		waitUsed(t, time.Second, targets...) // in which the programs take all processors
		arrived := func() int { return len(final.Profiles(t)) - before }
		for end := time.Now().Add(time.Minute); arrived() < run.intervals-1 && time.Now().Before(end); {
			time.Sleep(100 * time.Millisecond) // the machine is busy
		}
		if n := arrived(); n < run.intervals-1 || run.intervals == 1 && n != 0 {
			t.Errorf("%s: %d profiles arrived before SIGTERM", run.url, n)
		}
		counts := s.terminate(t, 0)
		messages := final.Profiles(t)[before:]
		if len(messages) < run.intervals || counts["dropped"]+counts["rejected"]+counts["kept"] > 0 {
			t.Errorf("%s: %d profiles, %v", run.url, len(messages), counts)
		}
		processes, samples := byProcess(t, messages), int64(0)
		for _, r := range processes {
			samples += r.samples
		}
		if samples == 0 || samples != int64(counts["samples"]) || len(processes) != len(programs) {
			t.Errorf("%s: %d samples of %d processes arrived, %d were taken", run.url, samples, len(processes), counts["samples"])
		}
		for i, p := range programs {
			r := processes[pids[i]]
			if r == nil || r.samples < 20 {
				t.Errorf("%s: no samples of %s", run.url, p.path)
				continue
			}
			if full := r.share(p.outermost); full < 0.95 {
				t.Errorf("%s: %.1f%% of the samples of %s begin at the outermost function: %v", run.url, 100*full, p.path, r.stacks)
			}
			if heavy := r.share(p.heaviest); heavy < 0.05 || p.name == "shares" && (heavy < 0.6 || heavy > 0.9) {
				t.Errorf("%s: %.1f%% of the samples of %s are in %s: %v", run.url, 100*heavy, p.path, p.heaviest, r.stacks)
			}
			want := map[string]any{
				"service.name": fmt.Sprint("service-", i), "process.executable.name": p.name, "process.executable.path": p.shown,
				"process.pid": pids[i], "host.name": host, "team": "blue", "deployment.environment.name": "test",
			}
			for key, value := range want {
				if r.attributes[key] != value {
					t.Errorf("%s: %s is %v, expected %v", p.path, key, r.attributes[key], value)
				}
			}
			o, err := object.Open(p.path)
			if err != nil {
				t.Fatal(err)
			}
			if id := fmt.Sprintf("%x", o.BuildID()); id == "" || r.buildIDs[p.shown] != id {
				t.Errorf("%s has the build ID %s, expected %s: %v", p.path, r.buildIDs[p.shown], id, r.buildIDs)
			}
			o.Close()
		}
		checkMetrics(t, final.Metrics(t)[metricsBefore:], samples, counts["lost"])
	}
}

// A collector that is killed, or does not answer, delays no sample. The spool keeps the profiles, and
// the next recording sends them.
func TestRecordWithoutCollector(t *testing.T) {
	c := collector.Start(t, collector.Options{})
	program := testprogram.Start(t, testprogram.Build(t, "shares.c", "-O2", "-g", "-Wl,--build-id"), "1", "0")
	spool := t.TempDir()
	record := func() *service {
		return startService(t, "record", "--frequency", "199", strconv.Itoa(program.PID), "--send", "http://"+c.HTTP, "--every", "1s", "--spool", spool)
	}
	arrived := func() (samples int) {
		for _, r := range byProcess(t, c.Profiles(t)) {
			samples += int(r.samples)
		}
		return samples
	}
	away := record()
	waitFor(t, "no metrics arrive", func() bool { return len(c.Metrics(t)) > 0 })
	pid := away.cmd.Process.Pid
	waitFor(t, "clew sends all the time", func() bool { // a message without an answer would arrive twice
		syscall.Kill(pid, syscall.SIGSTOP)
		waitFor(t, "clew does not stop", func() bool { return stopped(pid) })
		if len(childrenOf(pid)) == 0 {
			return true
		}
		syscall.Kill(pid, syscall.SIGCONT)
		return false
	})
	c.Kill()
	killed, before := time.Now(), arrived()
	syscall.Kill(pid, syscall.SIGCONT)
	// Four intervals or more, and fewer than the metrics of which the oldest would be dropped.
	waitUsed(t, 200*time.Millisecond, program.PID)
	time.Sleep(time.Until(killed.Add(3500 * time.Millisecond)))
	first := away.terminate(t, 0)
	if first["kept"] < 4 || first["dropped"] > 0 {
		t.Error(first)
	}
	if got := first["samples"] - before; got < 30 { // of 700, or fewer on a busy machine
		t.Errorf("%d samples without a collector, in 200 ms of processor time or more", got)
	}
	c.Restart(t)
	back := record()
	waitRecording(t, back.cmd.Process.Pid)
	waitUsed(t, 500*time.Millisecond, program.PID)
	second := back.terminate(t, 0)
	if got := arrived(); second["kept"] > 0 || got != first["samples"]+second["samples"] {
		t.Errorf("%d samples arrived, of %v and %v", got, first, second)
	}
}

// Ctrl-C ends the wait for a collector that does not answer, whether the recording ended by itself or by Ctrl-C.
func TestInterruptedWait(t *testing.T) {
	testprogram.RequireTool(t, "curl")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	// A shell ignores SIGINT for its background jobs, and so would clew. A signal that is handled is not inherited.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, os.Interrupt)
	defer signal.Stop(handled)
	path := testprogram.Build(t, "shares.c", "-O2", "-g", "-Wl,--build-id")
	program := testprogram.Start(t, path, "1", "0")
	for _, args := range [][]string{{"--", path, "1", "300"}, {strconv.Itoa(program.PID)}} {
		cmd := clew(t, slices.Concat([]string{"record", "--send", "http://" + silent.Addr().String()}, args)...)
		log, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for lines := bufio.NewScanner(log); lines.Scan(); fmt.Fprintln(&text, lines.Text()) {
			switch {
			case strings.Contains(lines.Text(), "msg=recording") && len(args) == 1:
				waitUsed(t, 300*time.Millisecond, program.PID)
				fallthrough
			case strings.Contains(lines.Text(), "sending the rest"):
				cmd.Process.Signal(os.Interrupt)
			}
		}
		cmd.Wait()
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
			t.Errorf("%q: %v, expected SIGINT:\n%s", args, cmd.ProcessState, &text)
		}
	}
}

// checkMetrics checks what the recorder reports about itself.
func checkMetrics(t *testing.T, messages []pmetric.Metrics, samples int64, lost int) {
	t.Helper()
	values, resource := last(t, messages)
	if values["clew.record.samples"] != float64(samples) || values["process.cpu.time"] <= 0 || values["clew.record.lost"] != float64(lost) {
		t.Errorf("metrics %v, expected %d samples", values, samples)
	}
	for _, name := range []string{"clew.export.sent", "clew.export.dropped", "clew.export.rejected", "clew.export.unclear", "clew.export.queue.messages", "clew.export.queue.size"} {
		if _, ok := values[name]; !ok {
			t.Errorf("no metric %s in %v", name, slices.Sorted(maps.Keys(values)))
		}
	}
	if name, _ := resource.Get("service.name"); name.Str() != "clew" {
		t.Errorf("metrics of %v", resource.AsRaw())
	}
}
