// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"errors"
	"io/fs"

	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/target/modulefile"
)

// tellMissing warns of the objects of live stacks whose file is not to be had: the
// frames in them have the names that the process's memory has. A core tells itself
// what it lacks.
func tellMissing(s *target.Snapshot, stacks []target.Stack) {
	if !s.Live {
		return
	}
	told := make(map[*target.Object]bool)
	for i := range stacks {
		for j := range stacks[i].Frames {
			o := stacks[i].Frames[j].Object
			if o == nil || o.Missing == nil || told[o] {
				continue
			}
			told[o] = true
			reason := o.Missing.Error()
			var missing *modulefile.NotFoundError
			if errors.As(o.Missing, &missing) {
				reason = missing.Reason()
			}
			if errors.Is(o.Missing, fs.ErrPermission) {
				reason += " (root may open the file that is mapped, though it has no name any more)"
			}
			warn("%s was read from memory, which has few names: %s", o.Name, reason)
		}
	}
}
