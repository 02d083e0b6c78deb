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

// AddTo adds the stacks of an event, given as an index of Events, to a profile. An incomplete
// stack gets an outermost frame with the reason, except for samples without a stack (NoStack).
func (r *Recording) AddTo(p *profile.Profile, event int) {
	p.Title = filepath.Base(r.Path)
	if line := r.Header.CommandLine; len(line) > 0 {
		p.Title = strings.Join(line, " ")
	}
	p.Notes = append(p.Notes, r.Notes...)
	for _, o := range r.Objects {
		p.SetBuildID(o.Name, o.BuildID)
	}
	locations := make([]profile.Location, len(r.Places()))
	for i := range locations {
		locations[i] = -1
	}
	a := profileStack{Profile: p}
	for i := range r.Recording.Stacks {
		s := &r.Recording.Stacks[i]
		if int(s.Event) != event {
			continue
		}
		for n, c := range r.Frames(s) {
			if locations[n] < 0 {
				a.calls = appendRecorded(a.calls[:0], c)
				locations[n] = p.Location(c.Address, a.calls)
			}
			a.append(locations[n])
		}
		reason := ""
		if s.End != recording.Whole && s.End != recording.Chain && s.End != recording.NoStack {
			reason = s.End.String()
		}
		t := &r.Threads[s.Thread]
		a.add(reason, profile.Labels{Process: t.Process, Thread: t.Name, PID: int(t.PID), TID: int(t.TID)}, int64(r.weight(s)))
	}
}
