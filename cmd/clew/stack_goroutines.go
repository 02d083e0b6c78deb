// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"cmp"
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
	"github.com/clewdev/clew/stack/variable"
)

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

// maxUngrouped bounds the goroutines that are printed each by itself. A target can have 2^20. It is
// a variable for tests.
var maxUngrouped = 1 << 17

// printGoroutines walks, names and prints the goroutines of a snapshot. It reports whether all were
// read and are whole (see stack.Stack.Whole).
func printGoroutines(w io.Writer, colours style.Palette, s *snapshot.Snapshot, objects *stack.Objects, flags stackFlags) (complete bool, err error) {
	_, end := output.Progress("walking and naming the goroutines of "+targetLabel(s), 0)
	// There are many goroutines, so the default is not to print variables, also for cores.
	variables := flags.variables.wanted(true, &flags)
	var late []uint64
	options := golang.Options{System: flags.system, Share: true, Group: cmp.Or(flags.groupFrom(), maxUngrouped+1), Registers: variables,
		LatePages: func(pages []uint64) { late = append(late, pages...) }}
	list, err := golang.Goroutines(objects, options)
	if again := flags.core.opened.retake(s, late); again != s {
		s, objects = again, newObjects(again)
		defer objects.Close()
		list, err = golang.Goroutines(objects, options)
	}
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
		r.Damage = append(r.Damage, fmt.Sprintf("there are more than %d; equal ones are printed together, without the stack pointers of each", maxUngrouped))
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
		r.Variables, r.Locals, r.Raw, r.Advice = variable.NewReader(s, objects), flags.variables.locals, flags.variables.raw, flags.variables.advice()
	}
	return complete, flags.print(w, colours, objects, &r)
}
