// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// AddTo adds each stack to a profile, with the weight 1, and the target to its title. An
// incomplete stack gets an outermost frame with the reason, "[no rule]", and a note.
func (s *Threads) AddTo(p *profile.Profile) {
	s.addTo(p, true, func(i int) (profile.Labels, string, int) {
		labels, name := s.thread(i)
		return labels, name, 1
	})
}

// AddTo adds the stack of each goroutine to a profile, with its state, in the same way as
// Threads.AddTo.
func (s *Goroutines) AddTo(p *profile.Profile) {
	stacks := s.Threads
	stacks.Stacks = s.stacks()
	stacks.addTo(p, true, func(i int) (profile.Labels, string, int) {
		g := &s.List[i]
		name := fmt.Sprintf("goroutine %d", g.ID)
		if n := len(g.Others); n > 0 {
			name += fmt.Sprintf(" and %s more", style.Grouped(uint64(n)))
		}
		return profile.Labels{Process: s.program(), PID: s.PID, State: g.Name}, name, 1 + len(g.Others)
	})
	for _, text := range s.Damage {
		p.Notes = append(p.Notes, "goroutines: "+text)
	}
}

// thread returns the labels of the thread of stack i, and its name in notes.
func (s *Threads) thread(i int) (profile.Labels, string) {
	t := s.Stacks[i].Thread
	return profile.Labels{Process: s.program(), PID: s.PID, Thread: t.Name, TID: t.ID}, fmt.Sprintf("thread %d", t.ID)
}

// addTo adds each stack, with the labels, name and weight that describe returns for it. With
// note it adds notes on incomplete stacks.
func (s *Threads) addTo(p *profile.Profile, note bool, describe func(i int) (labels profile.Labels, name string, weight int)) {
	if p.Title != "" {
		p.Title += ", "
	}
	if s.PID != 0 {
		p.Title += fmt.Sprintf("%s (%d)", cmp.Or(s.Command, "process"), s.PID)
	} else {
		p.Title += cmp.Or(s.Command, "an unknown process")
	}
	p.Notes = append(append(p.Notes, Notes(s.Stacks)...), s.Core.Notes()...)
	noted, more := 0, 0 // incomplete stacks: those with a note, and others
	seen := make(map[*stack.Object]bool)
	a := profileStack{Profile: p}
	for i := range s.Stacks {
		t := &s.Stacks[i]
		labels, name, weight := describe(i)
		for k := range t.Frames {
			f := &t.Frames[k]
			a.append(a.location(f, codeOf(&f.Code)))
			if o := f.Object; o != nil && len(o.Mappings) > 0 && !seen[o] {
				seen[o] = true
				if file, err := o.File(); err == nil {
					p.SetBuildID(o.Name, fmt.Sprintf("%x", file.BuildID()))
				}
			}
		}
		reason := endText(t.End())
		switch {
		case reason == "" || !note:
		case noted < maxNoted:
			noted++
			p.Notes = append(p.Notes, fmt.Sprintf("the stack of %s is incomplete: %s", name, cmp.Or(endNote(t), reason)))
		default:
			more += weight
		}
		a.add(reason, labels, int64(weight))
	}
	if more > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s more stacks are incomplete", style.Grouped(uint64(more))))
	}
}

// profileStack collects the frames of one stack after the other for a profile.
type profileStack struct {
	*profile.Profile
	calls     []profile.Frame // of one frame; a buffer
	locations []profile.Location
	builds    map[string]bool // the paths of several files
}

// location returns the location of a frame that runs a kind of code. Only location adds frames
// to a profile.
func (s *profileStack) location(f *stack.Frame, code profile.Code) profile.Location {
	s.calls = appendCalls(s.calls[:0], f)
	build := ""
	if f.Object != nil && s.builds[f.Object.Name] {
		build = f.Object.BuildID
	}
	for i := range s.calls {
		s.calls[i].Code, s.calls[i].Build = code, build
	}
	return s.Location(f.Address, s.calls)
}

func (s *profileStack) append(l profile.Location) { s.locations = append(s.locations, l) }

// add adds the stack to the profile and clears it. An incomplete stack gets an outermost frame
// with the reason, which is "" for a complete one.
func (s *profileStack) add(reason string, labels profile.Labels, weight int64) {
	if reason != "" {
		s.append(s.Location(0, []profile.Frame{{Function: "[" + reason + "]"}}))
	}
	s.Add(s.locations, labels, weight)
	s.locations = s.locations[:0]
}

// maxNoted is the number of incomplete stacks that get a note.
const maxNoted = 8

// program returns the base name of the target's program.
func (s *Threads) program() string {
	name, _, _ := strings.Cut(s.Command, " ")
	return name[strings.LastIndexByte(name, '/')+1:]
}

// AddTo adds the stacks of an event, given as an index of Events, to a profile. An incomplete
// stack gets an outermost frame with the reason, except for samples without a stack (NoStack).
func (r *Recording) AddTo(p *profile.Profile, event int) {
	p.Title = filepath.Base(r.Path)
	if line := r.Header.CommandLine; len(line) > 0 {
		p.Title = strings.Join(line, " ")
	}
	p.Notes = append(p.Notes, r.Notes...)
	a := profileStack{Profile: p, builds: make(map[string]bool)}
	builds := make(map[string]string)
	for _, o := range r.Objects {
		p.SetBuildID(o.Name, o.BuildID)
		if first, ok := builds[o.Name]; ok && first != o.BuildID {
			a.builds[o.Name] = true
		} else {
			builds[o.Name] = o.BuildID
		}
		if o.Hash != "" {
			p.SetFileHash(o.Name, o.Hash)
		}
	}
	if clock := &r.Header.Clock; !clock.Wall.IsZero() && r.Samples > 0 {
		p.Start, p.Duration = clock.Wall.Add(time.Duration(r.First-clock.Time)), r.Span()
	}
	locations := make([]profile.Location, len(r.Places()))
	for i := range locations {
		locations[i] = -1
	}
	for i := range r.Recording.Stacks {
		s := &r.Recording.Stacks[i]
		if int(s.Event) != event {
			continue
		}
		for n, f := range r.Frames(s) {
			if locations[n] < 0 {
				locations[n] = a.location(f, profileCodes[f.Object.Kind()])
			}
			a.append(locations[n])
		}
		reason := ""
		if s.Reason != unwind.NoStack {
			reason = endText(s.Reason)
		}
		t := &r.Threads[s.Thread]
		a.add(reason, profile.Labels{Process: t.Process, Thread: t.Name, PID: int(t.PID), TID: int(t.TID), Values: profile.MakeValues(t.Labels())}, int64(r.weight(s)))
	}
}
