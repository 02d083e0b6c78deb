// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
)

// warnOfMissing warns of files that could not be read or were refused while stacks were named. It
// also warns of objects of a live process without a file: their frames only have the names in the
// process's memory. (The report of a core lists its missing files.) nameErr is the error of
// Objects.Name. warnOfMissing returns its warnings, and whether no file was refused, truncated or
// missing. A debug file that is not installed does not count.
func warnOfMissing(s *snapshot.Snapshot, stacks []stack.Stack, nameErr error) (warnings []string, complete bool) {
	complete = true
	warn := func(text string) {
		warnings = append(warnings, text)
		output.Warn("%s", text)
	}
	if nameErr != nil {
		for _, line := range printable.Lines(nameErr) {
			if !slices.Contains(warnings, line) {
				warn(line)
			}
		}
		var refused *object.RefusedError
		complete = !errors.As(nameErr, &refused) && !errors.Is(nameErr, object.ErrCut)
	}
	if !s.Live {
		return warnings, complete
	}
	reported := make(map[*stack.Object]bool)
	for i := range stacks {
		for j := range stacks[i].Frames {
			o := stacks[i].Frames[j].Object
			if o == nil || o.Missing == nil || reported[o] {
				continue
			}
			reported[o] = true
			complete = false
			reason := o.Missing.Error()
			var missing *debugfile.NotFoundError
			if errors.As(o.Missing, &missing) {
				reason = missing.Reason()
			}
			if errors.Is(o.Missing, fs.ErrPermission) {
				reason += " (root may open the mapped file, although it has been deleted)"
			}
			warn(fmt.Sprintf("%s was read from memory, which has few names: %s", o.Name, reason))
		}
	}
	return warnings, complete
}
