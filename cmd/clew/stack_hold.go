// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/clewdev/clew/report"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
)

// checkHold finds what makes no sense with --hold. It is for values.
func (f *stackFlags) checkHold() error {
	switch {
	case !f.hold:
		return nil
	case f.profile.wanted():
		return errors.New("--hold reads variables, and a profile contains none: choose one")
	}
	f.variables.args = f.variables.args || !f.variables.noArgs && !f.noLines
	return nil
}

// holdStacks has the stacks of a process printed while it stands still, and returns what
// writes what was printed.
func holdStacks(pid int, flags stackFlags) (show func(io.Writer) (complete bool, err error), err error) {
	objects, err := readAhead(pid, &flags)
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	var text bytes.Buffer
	var complete bool
	var failed error
	var source *report.SourceText
	opts := flags.snapshot()
	opts.Hold = func(s *snapshot.Snapshot) {
		objects.SetSnapshot(s)
		s.Command = commandLine(pid) // which is asked for of who runs
		flags.variables.later = true
		complete, failed = printStacks(&text, stdout.palette(), &stack.Walked{Snapshot: s, Objects: objects}, flags)
		source = flags.variables.text(s)
	}
	s, err := process.Snapshot(pid, opts)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) (bool, error) {
		if _, err := w.Write(filled(source, text.Bytes(), stdout.palette())); err != nil {
			return false, err
		}
		warn("process %d stood still for %v, until all of it was read", pid, s.Pause.Round(10*time.Microsecond))
		return complete, failed
	}, nil
}

// filled returns stacks of a target that was held, with the lines of their source: these
// are read now, when it runs again.
func filled(source *report.SourceText, text []byte, colours report.Palette) []byte {
	if source == nil {
		return text
	}
	defer tellSource(source)
	return source.Fill(text, colours)
}

// readAhead returns the objects of a process with what printing its stacks takes of their
// files.
func readAhead(pid int, flags *stackFlags) (*stack.Objects, error) {
	variables := flags.variables.wanted(true, flags)
	t, err := process.Stacks(pid, flags.snapshot(), flags.walk(variables))
	if err != nil {
		return nil, err
	}
	naming := stack.NameOptions{Lines: !flags.noLines}
	if variables {
		naming.Meanwhile = variable.NewReader(t.Snapshot, t.Objects).Ahead(t.Stacks)
	}
	_ = t.Objects.Name(t.Stacks, naming) // what is wrong is told the second time
	return t.Objects, nil
}
