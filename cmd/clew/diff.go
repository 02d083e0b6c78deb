// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/manual"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/profile/otlp"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/stack/recording"
)

const diffHelp = `Compare two profiles: which functions take a larger share than before, and which a
smaller one. The profiles are scaled to the same total, so they may have different
lengths.

BEFORE and AFTER may have different formats: pprof profiles, OTLP profiles (clew record
-o FILE.otlp), folded stacks, pages with a flame graph, speedscope files, and perf
recordings.`

// diffFormats ends the message about a file in another format.
const diffFormats = "'clew diff' reads pprof and OTLP profiles, folded stacks, flame graph pages, speedscope files and perf recordings"

type diffFlags struct {
	json, noLines bool
	flame, event  string
	top           int
}

func diffCommand() *cli.Command {
	var flags diffFlags
	return &cli.Command{
		Name:        "diff",
		Usage:       "Compare two profiles",
		Description: diffHelp,
		Metadata:    manual.SeeAlso("profiles", "recordings", "json", "exit-codes"),
		UsageText: `clew diff BEFORE AFTER [flags]

Examples:
  clew diff old.pb.gz new.pb.gz               the functions that changed most
  clew diff old.folded new.folded --top 100   more of them
  clew diff perf.data.old perf.data           two perf recordings
  clew diff --flame d.html a.pb.gz b.pb.gz    a flame graph, red where b has more
  clew diff --json a.html b.html              for a script`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "flame", Destination: &flags.flame, Usage: "write a flame graph of AFTER to `FILE`, a page of HTML: red where it has more than BEFORE, blue where less"},
			&cli.IntFlag{Name: "top", Destination: &flags.top, Value: 20, Usage: "list `N` functions"},
			&cli.StringFlag{Name: "event", Destination: &flags.event, Usage: "read the event `NAME` of perf recordings that have several"},
			&cli.BoolFlag{Name: "no-lines", Destination: &flags.noLines, Usage: "omit inlined calls in perf recordings; finding them takes most of the time"},
			&cli.BoolFlag{Name: "json", Destination: &flags.json, Usage: "print one JSON object"},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			collectLate()
			if c.Args().Len() != 2 {
				return errors.New("name two profiles, the earlier one first")
			}
			if flags.top < 0 {
				return errors.New("--top must not be negative")
			}
			if c.Args().Get(0) == "-" && c.Args().Get(1) == "-" {
				return errors.New("standard input (-) is one profile: name a file for the other")
			}
			return flags.print(c.Args().Get(0), c.Args().Get(1))
		},
	}
}

func (f *diffFlags) print(before, after string) error {
	var profiles [2]*profile.Profile
	partial := false
	for i, path := range []string{before, after} {
		if info, err := input.Regular(path); path != "-" && info != nil && err != nil {
			return err
		}
		var complete bool
		var err error
		profiles[i], complete, err = f.read(path)
		if errors.Is(err, fs.ErrNotExist) {
			return output.InputErrorf("%s: no such file", path)
		}
		if errors.Is(err, profile.ErrFormat) {
			return output.InputErrorf("%s: %w; %s", path, err, diffFormats)
		}
		if err != nil {
			return output.InputErrorf("%s: %w", path, err)
		}
		if profiles[i].Total() == 0 {
			return output.InputErrorf("%s: the profile is empty", path)
		}
		partial = partial || !complete
	}
	if x, y := profiles[0].Unit(), profiles[1].Unit(); x != y {
		output.Warn("%s counts %s, and %s %s: only shares are compared", before, x, after, y)
	}
	d := profile.NewDifference(profiles[0], profiles[1])
	d.After.Title = before + " → " + after
	shown := &trace.Difference{Difference: d, Paths: [2]string{before, after}, Functions: f.top, Palette: output.Stdout.Palette()}
	if f.flame != "" {
		if err := writeOutput(f.flame, false, d.Flame); err != nil {
			return output.InputErrorf("%w", err)
		}
	}
	out := bufio.NewWriterSize(output.Stdout, 1<<16)
	print := shown.Text
	if f.json {
		print = shown.JSON
	}
	if f.flame != "-" {
		if err := errors.Join(print(out), out.Flush()); err != nil {
			return err
		}
	}
	if partial {
		return output.Status(output.ExitNo)
	}
	return nil
}

// read reads a profile, or makes one from a perf recording.
func (f *diffFlags) read(path string) (p *profile.Profile, complete bool, err error) {
	if content, _ := input.ContentOf(path); content == input.Recording {
		return f.readRecording(path)
	}
	p, err = readProfile(path)
	return p, true, err
}

// readProfile reads a profile of any format. The path - stands for standard input.
func readProfile(path string) (*profile.Profile, error) {
	file := os.Stdin
	if path != "-" {
		if _, err := input.Regular(path); err != nil {
			return nil, err
		}
		var err error
		if file, err = os.Open(path); err != nil {
			return nil, err
		}
		defer file.Close()
	}
	r := bufio.NewReader(file)
	if start, _ := r.Peek(16); otlp.Recognize(start) {
		return otlp.Read(r)
	}
	return profile.Read(r)
}

func (f *diffFlags) readRecording(path string) (*profile.Profile, bool, error) {
	r, err := openRecording(path)
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	opts := recording.Options{Search: input.SearchBelow(""), Lines: !f.noLines}
	if f.event != "" {
		opts.Filter = (&perfFlags{event: f.event}).counts
	}
	rec, failed := recording.Read(r, opts)
	if failed != nil {
		output.Warn("%s: %v; only the part before the error is compared", path, failed)
	}
	shown := &trace.Recording{Recording: rec, Path: path}
	if f.event != "" {
		if err := hasEvent(shown, f.event); err != nil {
			return nil, false, err
		}
	}
	event, err := profiledEvent(shown)
	if err != nil {
		return nil, false, err
	}
	p := profile.New("samples")
	shown.AddTo(p, event)
	for _, note := range rec.Notes {
		output.Warn("%s: %s", path, note)
	}
	return p, failed == nil && rec.Complete, nil
}
