// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/check/coderules"
	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack/recording"
)

const perfHelp = `Print the hottest functions and stacks of a recording of perf. "self" counts the
samples in a function, "total" also those in the functions that it called.

FILE is the file that 'perf record' has written; - is standard input. A profile that
'clew record -o FILE.otlp' has written is printed too.`

type perfFlags struct {
	json, samples, noLines, noInline, byThread, periods bool

	event, sysroot, comm string
	pids, threads        []int
	top, stacks          int
	profile              profileFlags
}

func perfCommand() *cli.Command {
	var flags perfFlags
	return &cli.Command{
		Name:        "perf",
		Usage:       "Print a recording of perf, as text or as a profile",
		Description: perfHelp,
		Metadata:    manual.SeeAlso("recordings", "frames", "generated", "profiles", "debuginfod", "json", "exit-codes"),
		UsageText: `clew perf FILE [flags]

Examples:
  clew perf perf.data                     the hottest functions and stacks
  clew perf --flame out.html perf.data    a flame graph
  clew perf --comm server perf.data       only the program server
  clew perf --pprof out.pb.gz perf.data   a profile for pprof
  perf record -o - -g ./server | clew perf -`,
		Flags: slices.Concat([]cli.Flag{
			&cli.IntFlag{Name: "top", Destination: &flags.top, Value: 20, Usage: "list `N` functions"},
			&cli.StringFlag{Name: "comm", Destination: &flags.comm, Usage: "only samples of processes or threads named `NAME`"},
			&cli.BoolFlag{Name: "samples", Destination: &flags.samples, Usage: "print every sample with its stack, as perf script does"},
			&cli.BoolFlag{Name: "json", Destination: &flags.json, Usage: "print one JSON object"},
		}, grouped("Selection",
			&cli.StringFlag{Name: "event", Destination: &flags.event, Usage: "only samples of the event `NAME`"},
			&cli.IntSliceFlag{Name: "pid", Destination: &flags.pids, Usage: "only samples of the processes with these `PID`s"},
			&cli.IntSliceFlag{Name: "thread", Destination: &flags.threads, Usage: "only samples of the threads with these `TID`s"},
		), grouped("Output",
			&cli.BoolFlag{Name: "by-thread", Destination: &flags.byThread, Usage: "print each thread by itself"},
			&cli.BoolFlag{Name: "periods", Destination: &flags.periods, Usage: "count how often the event occurred, not the samples"},
			&cli.IntFlag{Name: "stacks", Destination: &flags.stacks, Value: 3, Usage: "print `N` stacks"},
			&cli.BoolFlag{Name: "no-lines", Destination: &flags.noLines, Usage: "omit source lines and inlined calls, which take most of the time"},
			&cli.BoolFlag{Name: "no-inline", Destination: &flags.noInline, Usage: "omit inlined calls"},
		), grouped("Files",
			&cli.StringFlag{Name: "sysroot", Destination: &flags.sysroot, Usage: "look for files below `DIR`"},
		), flags.profile.flags()),
		Action: func(_ context.Context, c *cli.Command) error {
			collectLate()
			if !c.IsSet("pid") {
				flags.pids = nil
			}
			if !c.IsSet("thread") {
				flags.threads = nil
			}
			if c.Args().Len() != 1 {
				return errors.New("name one recording, as perf record writes it (perf.data), or - for standard input")
			}
			if err := flags.check(); err != nil {
				return err
			}
			if content, _ := input.ContentOf(c.Args().First()); content == input.OTLP {
				for _, name := range []string{"json", "samples", "event", "pid", "thread", "comm", "by-thread", "periods", "no-lines", "no-inline", "sysroot"} {
					if c.IsSet(name) {
						return fmt.Errorf("--%s is for perf recordings; %s is an OTLP profile", name, c.Args().First())
					}
				}
				return flags.printProfile(c.Args().First())
			}
			return printRecording(c.Args().First(), &flags)
		},
	}
}

func (f *perfFlags) check() error {
	switch {
	case f.samples && f.json:
		return errors.New("--samples and --json both write to standard output: choose one")
	case f.samples && f.profile.wanted():
		return errors.New("--samples prints samples, but a profile counts them: choose one")
	case f.profile.by == "state":
		return errors.New("--by state is for goroutines: perf records threads")
	case f.top < 0 || f.stacks < 0:
		return errors.New("--top and --stacks must not be negative")
	}
	return f.profile.check(f.json)
}

func printRecording(path string, flags *perfFlags) error {
	if err := input.Exist(flags.sysroot); err != nil {
		return err
	}
	r, err := openRecording(path)
	if err != nil {
		return output.InputError(err)
	}
	defer r.Close()
	opts := recording.Options{Analyzer: new(coderules.Analyzer), Search: input.SearchBelow(flags.sysroot), Lines: !flags.noLines, NoInline: flags.noInline}
	if flags.event != "" || flags.pids != nil || flags.threads != nil || flags.comm != "" {
		opts.Filter = flags.counts
	}
	total := int64(0)
	if info, _ := input.Regular(path); info != nil {
		total = info.Size()
	}
	progress, to := output.Progress, io.Writer(output.Stdout)
	if flags.samples {
		// trace.Samples escapes each name once, instead of in each sample.
		progress, to = output.ProgressBesideOutput, output.Stdout.Raw()
	}
	out := bufio.NewWriterSize(to, 1<<16)
	if flags.samples {
		var text []byte
		var samples trace.Samples
		opts.Each = func(s *recording.Sample) error {
			text = samples.Append(text[:0], s)
			_, err := out.Write(text)
			return err
		}
	}
	done, end := progress("MB read", int(total>>20))
	if done != nil {
		opts.Progress = func(read int64) { done(int(read >> 20)) }
	}
	rec, failed := recording.Read(r, opts)
	end()
	var write *fs.PathError
	if errors.As(failed, &write) && write.Op == "write" {
		return failed
	}
	if path == "-" {
		path = "standard input"
	}
	shown := &trace.Recording{Recording: rec, Path: path, Periods: flags.periods, ByThread: flags.byThread}
	if err := errors.Join(flags.print(shown, out), out.Flush()); err != nil {
		return err
	}
	if failed != nil {
		return output.Partial(fmt.Errorf("%s: %w; the output covers only the part before the error", path, failed))
	}
	if opts.Filter != nil && rec.Samples == 0 {
		return output.Partial(fmt.Errorf("%s: no sample matches --event, --pid, --thread and --comm", path))
	}
	if !rec.Complete {
		return output.Status(output.ExitNo)
	}
	return nil
}

// printProfile prints an OTLP profile.
func (f *perfFlags) printProfile(path string) error {
	p, err := readProfile(path)
	if err != nil {
		return output.InputErrorf("%s: %w", path, err)
	}
	if f.profile.wanted() {
		for _, note := range p.Notes {
			output.Warn("%s", note)
		}
		return f.profile.write(p)
	}
	out := bufio.NewWriterSize(output.Stdout, 1<<16)
	shown := &trace.Profile{Profile: p, Path: path}
	return errors.Join(shown.Text(out, trace.RecordingOptions{Palette: output.Stdout.Palette(), Functions: f.top, Stacks: f.stacks}), out.Flush())
}

// openRecording opens a recording. The path - stands for standard input.
func openRecording(path string) (*perfdata.Reader, error) {
	if path == "-" {
		r, err := perfdata.NewReader(os.Stdin)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return r, nil
	}
	// perf record --threads writes a directory.
	info, err := input.Regular(path)
	if err != nil && info != nil && !info.IsDir() {
		return nil, fmt.Errorf("%w; - is standard input", err)
	}
	r, err := perfdata.Open(path)
	if err == nil {
		return r, nil
	}
	switch c, _ := input.ContentOf(path); {
	case errors.Is(err, fs.ErrNotExist) && info != nil && info.IsDir():
		return nil, fmt.Errorf("%s: a directory without a recording of perf", path)
	case c == input.Core || c == input.Minidump:
		return nil, fmt.Errorf("%s: not a recording of perf but a dump of a process; 'clew stack %[1]s' reads it", path)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no such file; 'perf record -g COMMAND' writes perf.data", path)
	}
	return nil, err
}

// counts reports whether the flags select the samples of a thread and an event.
func (f *perfFlags) counts(t *recording.Thread, event string) bool {
	return (f.event == "" || f.event == event) &&
		(f.pids == nil || slices.Contains(f.pids, int(t.PID))) &&
		(f.threads == nil || slices.Contains(f.threads, int(t.TID))) &&
		(f.comm == "" || f.comm == t.Process || f.comm == t.Name)
}

func (f *perfFlags) print(r *trace.Recording, out *bufio.Writer) error {
	switch {
	case f.event != "" && r.Samples == 0:
		if err := hasEvent(r, f.event); err != nil {
			return output.InputErrorf("%s: %w", r.Path, err)
		}
	case f.samples:
		for _, note := range r.Notes {
			output.Warn("%s", note)
		}
		return nil
	case f.json:
		if err := r.JSON(out); err != nil {
			return err
		}
	}
	if f.profile.wanted() {
		event, err := profiledEvent(r)
		if err != nil {
			return err
		}
		unit := "samples"
		if f.periods {
			unit = r.Events[event].Name
		}
		p := profile.New(unit)
		r.AddTo(p, event)
		for _, note := range r.Notes {
			output.Warn("%s", note)
		}
		return f.profile.write(p)
	}
	if f.json {
		return nil
	}
	return r.Text(out, trace.RecordingOptions{Palette: output.Stdout.Palette(), Functions: f.top, Stacks: f.stacks})
}

// hasEvent returns an error if a recording lacks an event.
func hasEvent(r *trace.Recording, name string) error {
	var names []string
	for i := range r.Events {
		names = append(names, r.Events[i].Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	return fmt.Errorf("no event %q; it has %s", name, strings.Join(names, ", "))
}

func profiledEvent(r *trace.Recording) (event int, err error) {
	var names []string
	for i := range r.Events {
		if r.Events[i].Samples > 0 {
			event = i
			names = append(names, r.Events[i].Name)
		}
	}
	if slices.ContainsFunc(names, func(s string) bool { return s != names[0] }) {
		return 0, fmt.Errorf("a profile contains one event: choose it with --event (%s)", strings.Join(names, ", "))
	}
	return event, nil
}
