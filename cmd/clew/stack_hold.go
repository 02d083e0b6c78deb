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

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
)

// checkHold returns an error for flags that contradict --hold. With --hold, arguments are printed by
// default.
func (f *stackFlags) checkHold() error {
	switch {
	case !f.hold:
		return nil
	case f.profile.wanted():
		return errors.New("--hold reads variables; a profile contains none: choose one")
	}
	f.variables.args = f.variables.args || !f.variables.noArgs && !f.noLines
	return nil
}

// holdStacks formats the stacks of a process while it stands still. The returned function writes
// them.
func holdStacks(name string, flags stackFlags) (show func(io.Writer) (complete bool, err error), err error) {
	objects, err := readAhead(name, &flags)
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	var text bytes.Buffer
	var complete bool
	var failed error
	var source *style.SourceFiles
	opts := flags.options()
	opts.Hold = func(s *snapshot.Snapshot) {
		objects.SetSnapshot(s)
		s.Command = commandLine(s.PID) // it is lost if the process ends
		flags.variables.later = true
		complete, failed = printStacks(&text, output.Stdout.Palette(), &stack.Walked{Snapshot: s, Objects: objects}, flags)
		source = flags.variables.text(objects)
	}
	held, err := openSource(name, &flags.core, opts)
	if err != nil {
		return nil, err
	}
	defer held.Close()
	s, err := held.Snapshot()
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) (bool, error) {
		if _, err := w.Write(filled(source, text.Bytes(), output.Stdout.Palette())); err != nil {
			return false, err
		}
		output.Warn("process %d stood still for %v until everything was read", s.PID, s.Pause.Round(10*time.Microsecond))
		return complete, failed
	}, nil
}

// filled adds source lines to the stacks of a target that was held. It reads the lines after the
// target runs again.
func filled(source *style.SourceFiles, text []byte, colours style.Palette) []byte {
	if source == nil {
		return text
	}
	defer warnOfSource(source)
	return source.Fill(text, colours)
}

// readAhead returns the objects of a process after reading the files that printing its stacks needs.
func readAhead(name string, flags *stackFlags) (*stack.Objects, error) {
	variables := flags.variables.wanted(true, flags)
	_, t, err := flags.take(name)
	if err != nil {
		return nil, err
	}
	if t.Stacks == nil {
		t.Stacks = t.Objects.Walk(flags.walk(variables))
	}
	naming := stack.NameOptions{Lines: !flags.noLines}
	if variables {
		naming.Meanwhile = variable.NewReader(t.Snapshot, t.Objects).Ahead(t.Stacks)
	}
	_ = t.Objects.Name(t.Stacks, naming) // the second naming reports the errors
	return t.Objects, nil
}
