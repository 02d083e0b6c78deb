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

// tellMissed warns of what could not be read or was refused while stacks were named,
// named being what Objects.Name returned, and of objects of live stacks whose file is
// not to be had: the frames in them have the names that the process's memory has. A
// core tells itself what it lacks. It returns what it said, a sentence each, and
// whether no file was refused, cut off or missing; a debug file that is not installed is
// none.
func tellMissed(s *snapshot.Snapshot, stacks []stack.Stack, named error) (said []string, complete bool) {
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
