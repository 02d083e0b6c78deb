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
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
)

type watchFlags struct {
	interval time.Duration
	samples  int
}

func (f *watchFlags) flags() []cli.Flag {
	return grouped("Watching",
		&cli.DurationFlag{Name: "watch", Destination: &f.interval, HideDefault: true, Usage: "take the stacks every `INTERVAL` (100ms), and count equal ones"},
		&cli.IntFlag{Name: "samples", Aliases: []string{"n"}, Destination: &f.samples, HideDefault: true, Usage: "with --watch: end after `N` samples"},
	)
}

// check returns an error for flags that contradict each other. set is true if --watch is given.
func (f *watchFlags) check(s *stackFlags, set bool) error {
	switch {
	case set && f.interval <= 0:
		return errors.New("--watch needs an interval between samples, such as 100ms or 1s")
	case f.samples < 0 || f.samples > 0 && !set:
		return errors.New("-n needs --watch, and a number of samples above 0")
	case !set:
		return nil
	case s.registers || s.noGroup || s.allFrames || s.goroutines || s.hold || s.variables.args || s.variables.locals || s.variables.source:
		return errors.New("--watch counts the stacks of threads by functions; it excludes --registers, --no-group, --all-frames, --goroutines, --hold, --args, --locals and --source")
	}
	return s.core.refuse()
}

type watched struct {
	*process.Watch
	objects *stack.Objects
	sampler *stack.Sampler
	result  trace.Watch
	err     error // the reason why watching has ended
}

func (w *watched) sample(now time.Duration) {
	if w.err = w.Sample(w.sampler); w.err != nil {
		return
	}
	r := &w.result
	r.Samples++
	r.Took = now
	p := w.Pauses()
	r.Stops += p.Threads
	r.Pause += p.Total
	r.Longest = max(r.Longest, p.Longest)
}

// watchProcesses watches processes, and prints their stacks.
func watchProcesses(args []string, flags stackFlags) error {
	if len(args) == 0 {
		return errors.New("name a process by its ID or its name")
	}
	var list []*watched
	var failed error
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		if err != nil || pid <= 0 {
			return fmt.Errorf("%s is not a process ID, and only processes can be watched", arg)
		}
		w, err := newWatched(pid, &flags)
		if err != nil {
			if failed != nil {
				output.Warn("%v", failed)
			}
			failed = output.InputError(err)
			continue
		}
		defer w.objects.Close()
		defer w.Close()
		list = append(list, w)
	}
	if len(list) > 0 {
		watchAll(list, &flags.watch)
	}
	partial, printed := false, false
	flags.into = profile.New("samples")
	for _, w := range list {
		if w.err != nil && w.result.Samples == 0 {
			failed = output.InputError(errors.Join(failed, w.err))
			continue
		}
		partial = partial || w.err != nil && flags.watch.samples > 0
		if printed && !flags.json && !flags.profile.wanted() {
			fmt.Fprintln(output.Stdout)
		}
		printed = true
		complete, err := w.print(&flags)
		if err != nil {
			return err
		}
		partial = partial || !complete
	}
	return flags.finish(printed, partial, failed)
}

func newWatched(pid int, flags *stackFlags) (*watched, error) {
	// A thread that waits in the kernel for longer misses one sample only.
	w, err := process.NewWatch(pid, &process.Options{Threads: flags.threads, Timeout: 25 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	s := w.Target()
	s.Search = input.SearchBelow(s.Search.Root)
	objects := newObjects(s)
	result := trace.Watch{Interval: flags.watch.interval}
	result.PID, result.Command, result.Machine = pid, command(s), s.Machine
	return &watched{Watch: w, objects: objects, sampler: objects.NewSampler(), result: result}, nil
}

// watchAll samples the processes at each interval, one after the other, until all have ended, enough
// samples are taken, or the user interrupts it.
func watchAll(list []*watched, flags *watchFlags) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	done, end := output.Progress("samples", flags.samples)
	defer end()
	start := time.Now()
	next := start
	for n := 1; ; n++ {
		alive := false
		for _, w := range list {
			if w.err == nil {
				w.sample(time.Since(start))
			}
			alive = alive || w.err == nil
		}
		if done != nil {
			done(n)
		}
		if !alive || n == flags.samples {
			return
		}
		// Skip intervals that have passed, instead of taking a burst of samples.
		next = next.Add(flags.interval)
		if missed := int(time.Since(next) / flags.interval); missed > 0 {
			next = next.Add(time.Duration(missed) * flags.interval)
			for _, w := range list {
				if w.err == nil {
					w.result.Late += missed
				}
			}
		}
		select {
		case <-ctx.Done():
			for _, w := range list {
				if w.err == nil && flags.samples > 0 {
					w.result.Ended = "it was interrupted"
				}
			}
			return
		case <-time.After(time.Until(next)):
		}
	}
}

// print names the stacks and prints them in the form that the flags select. It reports whether no
// file was refused or is missing.
func (w *watched) print(flags *stackFlags) (complete bool, err error) {
	r := &w.result
	if w.err != nil {
		r.Ended = w.err.Error()
		var e *process.Error
		if errors.As(w.err, &e) && e.Reason != "" {
			r.Ended = e.Reason
		}
	}
	_, end := output.Progress("naming the stacks of "+targetLabel(w.Target()), 0)
	err = w.objects.Name(w.sampler.Stacks, stack.NameOptions{Lines: !flags.noLines})
	end()
	r.Missed, complete = warnOfMissing(w.Target(), w.sampler.Stacks, err)
	r.Threads.Stacks, r.Counts, r.Lost = w.sampler.Stacks, w.sampler.Counts, w.sampler.Lost
	if flags.profile.wanted() {
		r.AddTo(flags.into)
	}
	out := bufio.NewWriterSize(output.Stdout, 1<<16)
	switch {
	case flags.json:
		err = r.JSON(out)
	case !flags.profile.wanted():
		err = r.Text(out, output.Stdout.Palette())
	default:
		err = nil
	}
	return complete, errors.Join(err, out.Flush())
}
