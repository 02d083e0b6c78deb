// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"path/filepath"
	"strings"

	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/stack/recording"
)

// AddTo adds the stacks of an event, an index of Events, to a profile. A stack
// whose outer frames are missing has a frame that says why, outermost, but where
// there was no stack to be cut: the sample is an address (NoStack).
func (r *Recording) AddTo(p *profile.Profile, event int) {
	p.Title = filepath.Base(r.Path)
	if line := r.Header.CommandLine; len(line) > 0 {
		p.Title = strings.Join(line, " ")
	}
	p.Notes = append(p.Notes, r.Notes...)
	for i := range r.Objects {
		p.SetBuildID(r.Objects[i].Name, r.Objects[i].BuildID)
	}
	places := r.Places()
	locations := make([]profile.Location, len(places))
	for i := range locations {
		locations[i] = -1
	}
	var stack []profile.Location
	var frames []profile.Frame
	for i := range r.Recording.Stacks {
		s := &r.Recording.Stacks[i]
		if int(s.Event) != event {
			continue
		}
		stack = stack[:0]
		for n := range r.Indexes(s) {
			if locations[n] < 0 {
				frames = appendRecorded(frames[:0], &places[n])
				locations[n] = p.Location(places[n].Address, frames)
			}
			stack = append(stack, locations[n])
		}
		switch s.End {
		case recording.Whole, recording.Chain, recording.NoStack:
		default:
			stack = append(stack, p.Location(0, []profile.Frame{{Function: "[" + s.End.String() + "]"}}))
		}
		t := &r.Threads[s.Thread]
		p.Add(stack, profile.Labels{Process: t.Process, Thread: t.Name, PID: int(t.PID), TID: int(t.TID)}, int64(r.weight(s)))
	}
}
