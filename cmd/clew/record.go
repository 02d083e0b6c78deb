// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"
	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/check/coderules"
	"github.com/clewdev/clew/cmd/clew/continuous"
	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack/recording"
)

const recordHelp = `Sample running programs, and print their hottest functions and stacks, as
'clew perf' does. Recording ends with Ctrl-C, after --duration, or when the
programs have exited.

PROCESS is the ID or the name of a process. COMMAND is run and recorded until it
exits; standard output is its own, and the report goes to standard error. A
COMMAND that still runs when the recording ends gets SIGTERM, or the terminal's
Ctrl-C, and the report follows when it has exited.`

type recordFlags struct {
	all, noKernel     bool
	deferred          bool
	offCPU, wall      bool
	cgroup, raw       string
	outputs           []string
	open              bool
	frequency, period int
	duration          time.Duration
	show              perfFlags
	otlp              continuous.Flags
}

func recordCommand() *cli.Command {
	var flags recordFlags
	return &cli.Command{
		Name:        "record",
		Usage:       "Record profiles of running programs",
		Description: recordHelp,
		Metadata:    manual.SeeAlso("recordings", "collectors", "frames", "generated", "profiles", "debuginfod", "json", "exit-codes"),
		UsageText: `clew record PROCESS... [flags]
clew record [flags] -- COMMAND [ARGUMENT...]

Examples:
  clew record 4711                        until Ctrl-C
  clew record -o out.html -- ./server     a flame graph of a run
  clew record --all --duration 10s -o all.pb.gz    the whole system, for pprof
  clew record --all --send http://localhost:4318    to an OpenTelemetry Collector
  clew record --raw perf.data 4711        perf's format, for 'perf report'`,
		DisableSliceFlagSeparator: true,
		ShellComplete:             completeProcesses(),
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, Destination: &flags.outputs, Usage: "write a profile to `FILE`, in the format that its name ends with: .html (a flame graph), .pb.gz (for pprof), .speedscope.json, .folded or .otlp (OpenTelemetry's protocol)"},
			&cli.DurationFlag{Name: "duration", Destination: &flags.duration, HideDefault: true, Usage: "end after `TIME` (10s, 1m30s)"},
			&cli.IntFlag{Name: "frequency", Aliases: []string{"F"}, Destination: &flags.frequency, Value: record.DefaultFrequency, Usage: "take `N` samples a second on each processor"},
			&cli.BoolFlag{Name: "all", Destination: &flags.all, Usage: "record all processes"},
			&cli.BoolFlag{Name: "off-cpu", Destination: &flags.offCPU, Usage: "record where threads wait, and how long, instead of where they run"},
			&cli.BoolFlag{Name: "wall", Destination: &flags.wall, Usage: "record both, where threads run and where they wait, in nanoseconds"},
			&cli.BoolFlag{Name: "json", Destination: &flags.show.json, Usage: "print one JSON object"},
			&cli.BoolFlag{Name: "open", Destination: &flags.open, Usage: "open the flame graph in the browser: that of --output FILE.html, or a temporary file ($BROWSER, or xdg-open)"},
		}, grouped("Selection",
			&cli.StringFlag{Name: "cgroup", Destination: &flags.cgroup, Usage: "record the processes of a control group: its directory, or `PATH` below /sys/fs/cgroup (system.slice/nginx.service)"},
			&cli.StringFlag{Name: "event", Destination: &flags.show.event, Usage: "sample the event `NAME`: page-faults, cycles, LLC-load-misses, sched:sched_switch, … (default: cpu-clock)"},
			&cli.IntFlag{Name: "period", Destination: &flags.period, HideDefault: true, Usage: "take a sample after `N` events, instead of --frequency"},
			&cli.BoolFlag{Name: "deferred", Destination: &flags.deferred, Usage: "take call chains when threads return to user mode (Linux 6.19); those of Go programs can then lack callers"},
			&cli.BoolFlag{Name: "no-kernel", Destination: &flags.noKernel, Usage: "omit samples in the kernel and its frames"},
		), grouped("Output",
			&cli.StringFlag{Name: "raw", Destination: &flags.raw, Usage: "write the samples to `FILE`, as perf record -o - does"},
			&cli.IntFlag{Name: "top", Destination: &flags.show.top, Value: 20, Usage: "list `N` functions"},
			&cli.IntFlag{Name: "stacks", Destination: &flags.show.stacks, Value: 3, Usage: "print `N` stacks"},
			&cli.BoolFlag{Name: "by-thread", Destination: &flags.show.byThread, Usage: "print each thread by itself"},
			&cli.BoolFlag{Name: "no-lines", Destination: &flags.show.noLines, Usage: "omit source lines and inlined calls, which take most of the time after the recording"},
			&cli.BoolFlag{Name: "no-inline", Destination: &flags.show.noInline, Usage: "omit inlined calls"},
			&cli.StringFlag{Name: "by", Destination: &flags.show.profile.by, Usage: "separate the stacks of a profile by `WHAT`: process (the default if there are several), thread or none"},
		), grouped("OpenTelemetry", flags.otlp.List()...)),
		Action: func(ctx context.Context, c *cli.Command) error {
			names, command, dashed := atDash(c)
			if flags.offCPU && (c.IsSet("deferred") || c.IsSet("event") || c.IsSet("frequency") || c.IsSet("period") || c.IsSet("no-kernel")) {
				return errors.New("--off-cpu records every wait: --deferred, --event, --frequency, --period and --no-kernel do not apply")
			}
			if flags.wall && (flags.offCPU || c.IsSet("event") || c.IsSet("period") || c.IsSet("no-kernel")) {
				return errors.New("--wall records all time: --off-cpu, --event, --period and --no-kernel do not apply")
			}
			opts, err := flags.options(names, command, dashed)
			if err != nil {
				return err
			}
			if flags.otlp.Sends() {
				if len(flags.outputs) > 0 || flags.raw != "" || flags.show.json {
					return errors.New("profiles that are sent are neither printed nor written: --send and --every exclude --output, --raw and --json")
				}
				return flags.otlp.Run(ctx, opts)
			}
			return flags.record(ctx, opts)
		},
	}
}

// profileFormats are the formats of profiles by the ends of file names.
var profileFormats = []struct {
	suffix string
	write  func(*profile.Profile, io.Writer) error
}{
	{".pb.gz", (*profile.Profile).Pprof},
	{".html", (*profile.Profile).Flame},
	{".speedscope.json", (*profile.Profile).Speedscope},
	{".folded", (*profile.Profile).Folded},
}

// options checks the flags, and returns what to record.
func (f *recordFlags) options(names, command []string, dashed bool) (*record.Options, error) {
	sources := 0
	for _, given := range []bool{f.all, f.cgroup != "", len(names) > 0, dashed} {
		if given {
			sources++
		}
	}
	switch {
	case sources == 0:
		return nil, errors.New("name a process by its ID or its name, a command after --, --cgroup or --all")
	case sources > 1:
		return nil, errors.New("processes, a command after --, --cgroup and --all: choose one")
	case dashed && (len(command) == 0 || command[0] == ""):
		return nil, errors.New("no command after --")
	case f.frequency <= 0 || f.period < 0 || f.duration < 0:
		return nil, errors.New("--frequency, --period and --duration must be positive")
	case f.raw == "-":
		return nil, errors.New("--raw needs the name of a file, found -")
	case f.show.top < 0 || f.show.stacks < 0:
		return nil, errors.New("--top and --stacks must not be negative")
	}
	if _, known := profileRoots[f.show.profile.by]; !known || f.show.profile.by == "state" {
		return nil, fmt.Errorf("unknown --by %q, expected process, thread or none", f.show.profile.by)
	}
	if err := f.otlp.Check(slices.ContainsFunc(f.outputs, isOTLP)); err != nil {
		return nil, err
	}
	for _, name := range f.outputs {
		if f.format(name) == nil {
			return nil, fmt.Errorf("the name of %s does not say its format: end it with .html, .pb.gz, .speedscope.json, .folded or .otlp", name)
		}
	}
	opts := &record.Options{
		All: f.all, Cgroup: f.cgroup, Wall: f.wall, Duration: f.duration, Event: f.show.event, Frequency: f.frequency, Period: uint64(f.period), NoKernel: f.noKernel, Deferred: f.deferred,
		Recording: recording.Options{Search: input.SearchBelow(""), Analyzer: new(coderules.Analyzer), Lines: !f.show.noLines, NoInline: f.show.noInline},
	}
	opts.Recording.Hashes = slices.ContainsFunc(f.outputs, isOTLP)
	if f.offCPU {
		opts.OffCPU, opts.Frequency = true, 0
	}
	if dashed {
		opts.Command = exec.CommandContext(context.Background(), command[0], command[1:]...)
		opts.Command.Stdin, opts.Command.Stdout, opts.Command.Stderr = os.Stdin, output.Stdout.File, output.Stderr.File
	}
	pids, err := expandNames(names)
	if err != nil {
		return nil, err
	}
	for _, arg := range pids {
		if !snapshot.IsLive(arg) {
			return nil, notLive(arg)
		}
		pid, err := strconv.Atoi(arg)
		if err != nil || pid <= 0 {
			return nil, fmt.Errorf("%s is not a process ID", arg)
		}
		opts.Targets = append(opts.Targets, pid)
	}
	return opts, nil
}

// notLive returns the error for an argument that names no process.
func notLive(arg string) error {
	switch verb := verbFor(arg); {
	case arg == "":
		return errors.New("empty argument (did pidof find nothing?)")
	case verb == "perf" || verb == "stack":
		return fmt.Errorf("no process is named %s, but 'clew %s %[1]s' reads the file", arg, verb)
	}
	if _, err := exec.LookPath(arg); err == nil {
		return fmt.Errorf("no process is named %s; 'clew record -- %[1]s' runs it", arg)
	}
	return fmt.Errorf("no process is named %s", arg)
}

func isOTLP(name string) bool { return strings.HasSuffix(name, ".otlp") }

// format returns the function that writes the format of a file name, or nil.
func (f *recordFlags) format(name string) func(*profile.Profile, io.Writer) error {
	if isOTLP(name) {
		return func(p *profile.Profile, w io.Writer) error {
			return f.otlp.WriteFile(p, &record.Options{OffCPU: f.offCPU, Wall: f.wall, Event: f.show.event, Frequency: f.frequency, Period: uint64(f.period)}, w)
		}
	}
	for _, format := range profileFormats {
		if strings.HasSuffix(name, format.suffix) {
			return format.write
		}
	}
	return nil
}

func (f *recordFlags) record(ctx context.Context, opts *record.Options) error {
	for _, name := range f.outputs {
		if err := creatable(name); err != nil {
			return output.InputErrorf("%w", err)
		}
	}
	if f.raw == "" {
		_, err := f.run(ctx, opts)
		return err
	}
	var recorded bool
	var failed error
	err := outputfile.Write(f.raw, func(w io.Writer) error {
		raw := &rawWriter{to: w}
		opts.Raw = raw
		if recorded, failed = f.run(ctx, opts); !recorded {
			return failed // keep the file that exists
		}
		return raw.failed
	})
	var status output.Status
	switch {
	case err == nil || !recorded && failed != nil:
		return failed
	case failed == nil || errors.As(failed, &status):
		return output.InputErrorf("%w", err)
	}
	return errors.Join(output.InputErrorf("%w", err), failed)
}

// rawWriter writes until the first error, and discards the rest: the recording goes on without it.
type rawWriter struct {
	to     io.Writer
	failed error
}

func (r *rawWriter) Write(b []byte) (int, error) {
	if r.failed == nil {
		_, r.failed = r.to.Write(b)
	}
	return len(b), nil
}

// creatable returns the error that the creation of a file would lead to, which a user wants to know
// before the recording.
func creatable(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	f, err := outputfile.Create(name)
	if err != nil {
		return err
	}
	return f.Close()
}

// ofTerminal reports whether Ctrl-C interrupts this process's group, which a command is part of.
func ofTerminal() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// run records and prints. It reports whether there is a recording.
func (f *recordFlags) run(ctx context.Context, opts *record.Options) (recorded bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	var interrupted, outlived atomic.Bool
	go func() {
		select {
		case s := <-signals:
			interrupted.Store(s == os.Interrupt)
			cancel()
		case <-ctx.Done():
		}
		signal.Stop(signals) // a second Ctrl-C ends clew
	}()
	show, end := output.ProgressText()
	if command := opts.Command; command != nil {
		command.Cancel = func() error {
			outlived.Store(true)
			if show != nil {
				show("waiting until " + filepath.Base(command.Path) + " has exited")
			}
			if interrupted.Load() && ofTerminal() {
				return nil // the terminal has told it
			}
			return command.Process.Signal(syscall.SIGTERM)
		}
	}
	var last record.Status
	opts.Status = func(s record.Status) {
		last = s
		if show != nil {
			next := "Ctrl-C ends the recording"
			if s.Ended {
				next = "finding names and lines"
			}
			show(fmt.Sprintf("%s of %s, %s lost, %d s; %s",
				style.Count(int(s.Samples), "sample"), style.Count(s.Threads, "thread"), style.Grouped(s.Lost), int(s.Elapsed.Seconds()), next))
		}
	}
	rec, err := record.Run(ctx, *opts)
	end()
	if rec == nil {
		return false, output.InputError(input.StartError(err))
	}
	to, path := output.Stdout, "live processes"
	if opts.Command != nil {
		to, path = output.Stderr, opts.Command.Path
	}
	// A command that outlived the recording used time that was not sampled.
	if note := f.unsampled(opts, rec.Samples+last.Lost); note != "" && err == nil && !outlived.Load() {
		rec.Notes = append(rec.Notes, note)
	}
	if rec.Samples == 0 && err == nil && f.show.json {
		rec.Notes = append(rec.Notes, f.noSamples(opts))
	}
	w := bufio.NewWriterSize(to, 1<<16)
	shown := &trace.Recording{Recording: rec, Path: path, ByThread: f.show.byThread, Periods: f.offCPU || f.wall, Time: f.offCPU || f.wall}
	if failed := errors.Join(f.print(shown, w, to), w.Flush(), f.profiles(shown)); failed != nil {
		return true, failed
	}
	if last.Lost > 0 {
		output.Warn("%d records were lost, because %s", last.Lost, f.lossAdvice(&last))
	}
	switch {
	case err != nil:
		return true, output.Partial(fmt.Errorf("%w; the output covers only the part before the error", err))
	case rec.Samples == 0:
		return true, output.Partial(errors.New(f.noSamples(opts)))
	case opts.Command != nil && !outlived.Load() && ctx.Err() == nil && !opts.Command.ProcessState.Success():
		return true, exitAs(opts.Command, &exec.ExitError{ProcessState: opts.Command.ProcessState})
	case !rec.Complete:
		return true, output.Status(output.ExitNo)
	}
	return true, nil
}

// lossAdvice says why records were lost, and what helps.
func (f *recordFlags) lossAdvice(s *record.Status) string {
	const busy = "the machine was too busy to read them; "
	switch {
	case s.Others > s.Bytes/2:
		return "programs start, end, map files or change their names faster than this can be read; record fewer processes"
	case f.offCPU || f.wall:
		return busy + "record fewer processes" // a wait has a sample whatever the frequency
	case f.period > 0 || strings.Contains(f.show.event, ":"):
		return busy + "a larger --period helps" // a tracepoint has period 1 by default
	}
	return busy + "a lower --frequency helps"
}

// unsampled returns a note if the samples stand for less than half of the time that the command ran in user mode.
func (f *recordFlags) unsampled(opts *record.Options, samples uint64) string {
	if samples == 0 || opts.Command == nil || opts.Command.ProcessState == nil || f.offCPU || f.wall || f.period > 0 || f.show.event != "" && f.show.event != "cpu-clock" {
		return ""
	}
	period := time.Second / time.Duration(f.frequency)
	if period < time.Millisecond {
		return "" // the kernel may take fewer samples, to bound its own time
	}
	used, sampled := opts.Command.ProcessState.UserTime(), time.Duration(samples)*period
	if used < 2*sampled || used-sampled < 5*period {
		return ""
	}
	return fmt.Sprintf("the command used %v of processor time in user mode, but its samples stand for %v: threads and processes that run for less than %v are hardly sampled; a higher --frequency or --all shows more",
		used.Round(time.Millisecond), sampled.Round(time.Millisecond), period.Round(10*time.Microsecond))
}

// noSamples says why a recording has no samples, and what would have some.
func (f *recordFlags) noSamples(opts *record.Options) string {
	switch {
	case f.offCPU:
		return "no samples: no wait began meanwhile; 'clew stack PID' shows where a process is"
	case f.wall:
		return "no samples: the programs hardly ran, and no wait began meanwhile; 'clew stack PID' shows where a process is"
	case f.show.event != "" && f.show.event != "cpu-clock":
		return "no samples: the event " + f.show.event + " did not happen meanwhile"
	}
	const more = "a higher --frequency, --wall or --off-cpu shows more"
	if f.period > 0 {
		return fmt.Sprintf("no samples: the programs used less processor time than --period %d; --wall or --off-cpu shows more", f.period)
	}
	period := (time.Second / time.Duration(f.frequency)).Round(10 * time.Microsecond)
	if opts.Command != nil && opts.Command.ProcessState != nil {
		used := opts.Command.ProcessState.UserTime() + opts.Command.ProcessState.SystemTime()
		return fmt.Sprintf("no samples: the command used %v of processor time, and a sample stands for %v; %s", used.Round(10*time.Microsecond), period, more)
	}
	return fmt.Sprintf("no samples: the programs used less processor time than a sample stands for (%v); %s", period, more)
}

func (f *recordFlags) print(r *trace.Recording, w *bufio.Writer, to *output.Stream) error {
	if f.show.json {
		return r.JSON(w)
	}
	return r.Text(w, trace.RecordingOptions{Palette: to.Palette(), Functions: f.show.top, Stacks: f.show.stacks})
}

// profiles writes the files of --output.
func (f *recordFlags) profiles(r *trace.Recording) error {
	if f.open && f.page() == "" {
		page, err := os.CreateTemp("", "clew-record-*.html")
		if err != nil {
			return output.InputErrorf("%w", err)
		}
		page.Close()
		f.outputs = append(f.outputs, page.Name())
	}
	if len(f.outputs) == 0 {
		return nil
	}
	unit := "samples"
	if f.offCPU || f.wall {
		unit = "nanoseconds"
	}
	p := profile.New(unit)
	p.Roots = profileRoots[f.show.profile.by]
	if len(r.Events) > 0 {
		r.AddTo(p, 0)
	}
	var failed []error
	for _, name := range f.outputs {
		if err := outputfile.Write(name, func(w io.Writer) error { return f.format(name)(p, w) }); err != nil {
			failed = append(failed, output.InputErrorf("%w", err)) // another file can be on another disk
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	if f.open {
		if err := output.OpenPage(f.page()); err != nil {
			return output.InputErrorf("%w", err)
		}
	}
	return nil
}

// page returns the flame graph of --output, "" for none.
func (f *recordFlags) page() string {
	i := slices.IndexFunc(f.outputs, func(name string) bool { return strings.HasSuffix(name, ".html") })
	if i < 0 {
		return ""
	}
	return f.outputs[i]
}
