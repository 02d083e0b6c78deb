// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/golang"
)

// goroutineFlags are the flags of goroutines.
type goroutineFlags struct {
	goroutines, system bool
}

func (f *goroutineFlags) flags() []cli.Flag {
	return append([]cli.Flag{
		&cli.BoolFlag{Name: "goroutines", Destination: &f.goroutines, Usage: "print the goroutines of a Go program instead of its threads"},
	}, grouped("Goroutines",
		&cli.BoolFlag{Name: "system", Destination: &f.system, Usage: "with --goroutines: print the runtime's own goroutines too"},
	)...)
}

// checkGoroutines finds what makes no sense with goroutines.
func (f *stackFlags) checkGoroutines() error {
	switch {
	case f.system && !f.goroutines:
		return errors.New("--system adds the runtime's own goroutines: it needs --goroutines")
	case f.goroutines && f.threads != nil:
		return errors.New("--goroutines and --thread: choose one")
	case f.goroutines && f.registers:
		return errors.New("--goroutines and --registers: waiting goroutines have no registers; choose one")
	case f.goroutines && f.profile.by == "thread":
		return errors.New("--by thread is for stacks of threads: use --by state for goroutines")
	case !f.goroutines && f.profile.by == "state":
		return errors.New("--by state is for goroutines: it needs --goroutines")
	}
	return nil
}

// maxApart bounds how many goroutines are printed each by itself: a target can have 2^20.
// It is a variable for tests.
var maxApart = 1 << 17

// goroutinesFrom returns from how many goroutines on equal ones are grouped.
func (f *stackFlags) goroutinesFrom() int {
	if from := f.groupFrom(); from > 0 {
		return from
	}
	return maxApart + 1
}

// printGoroutines walks, names and prints the goroutines of a snapshot, and reports
// whether all of them were read and are whole (see stack.Stack.Whole).
func printGoroutines(w io.Writer, colours style.Palette, s *snapshot.Snapshot, objects *stack.Objects, flags stackFlags) (complete bool, err error) {
	_, end := output.Progress("walking and naming the goroutines of "+targetLabel(s), 0)
	// Of cores too they are shown when they are asked for: there are many goroutines.
	variables := flags.variables.wanted(true, &flags)
	list, err := golang.Goroutines(objects, golang.Options{System: flags.system, Share: true, Group: flags.goroutinesFrom(), Registers: variables})
	if errors.Is(err, golang.ErrNoGo) {
		end()
		return false, output.InputError(fmt.Errorf("%s: %w", targetLabel(s), err))
	}
	r := trace.Goroutines{List: list}
	complete = err == nil
	if err != nil {
		r.Damage = printable.Lines(err)
	}
	if flags.groupFrom() == 0 && slices.ContainsFunc(list, func(g golang.Goroutine) bool { return len(g.Others) > 0 }) {
		r.Damage = append(r.Damage, fmt.Sprintf("there are more than %d; equal ones are printed together, without the stack pointers of each", maxApart))
	}
	err = golang.Name(objects, list, stack.NameOptions{Lines: !flags.noLines})
	end()
	stacks := make([]stack.Stack, len(list))
	for i := range list {
		stacks[i] = list[i].Stack
	}
	missed, whole := warnOfMissing(s, stacks, err)
	r.Target, complete = flags.target(s, missed), complete && whole
	for i := range list {
		complete = complete && list[i].Stack.Whole()
	}
	if variables {
		flags.variables.addGoroutines(&r, s, objects)
	}
	if flags.profile.wanted() {
		r.AddTo(flags.into)
	}
	switch {
	case flags.json:
		err = r.JSON(w)
	case !flags.profile.wanted():
		text := flags.variables.text(objects)
		err = r.Text(w, trace.Options{Palette: colours, AllFrames: flags.allFrames, UTF8: output.UTF8(), Source: text})
		warnOfSource(text)
	}
	return complete, err
}
