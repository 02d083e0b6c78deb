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

// warnOfMissing warns of files that could not be read or were refused while stacks were named, and
// of objects of live stacks without a file: their frames have the names in the process's memory.
// named is the error of Objects.Name. A core reports what it lacks itself. warnOfMissing returns
// its sentences, and whether no file was refused, cut off or missing. A debug file that is not
// installed does not count.
func warnOfMissing(s *snapshot.Snapshot, stacks []stack.Stack, named error) (said []string, complete bool) {
	complete = true
	tell := func(text string) {
		said = append(said, text)
		output.Warn("%s", text)
	}
	if named != nil {
		for _, line := range printable.Lines(named) {
			if !slices.Contains(said, line) {
				tell(line)
			}
		}
		var refused *object.RefusedError
		complete = !errors.As(named, &refused) && !errors.Is(named, object.ErrCut)
	}
	if !s.Live {
		return said, complete
	}
	told := make(map[*stack.Object]bool)
	for i := range stacks {
		for j := range stacks[i].Frames {
			o := stacks[i].Frames[j].Object
			if o == nil || o.Missing == nil || told[o] {
				continue
			}
			told[o] = true
			complete = false
			reason := o.Missing.Error()
			var missing *debugfile.NotFoundError
			if errors.As(o.Missing, &missing) {
				reason = missing.Reason()
			}
			if errors.Is(o.Missing, fs.ErrPermission) {
				reason += " (root may open the file that is mapped, though it has no name any more)"
			}
			tell(fmt.Sprintf("%s was read from memory, which has few names: %s", o.Name, reason))
		}
	}
	return said, complete
}
