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
		why := ""
		switch s.End {
		case recording.Whole, recording.Chain, recording.NoStack:
		default:
			why = s.End.String()
		}
		t := &r.Threads[s.Thread]
		a.add(why, profile.Labels{Process: t.Process, Thread: t.Name, PID: int(t.PID), TID: int(t.TID)}, int64(r.weight(s)))
	}
}
