// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile

import (
	"io"
	"slices"

	"github.com/clewdev/clew/internal/printable"
)

// The JSON of speedscope's file format. The schema is at
// https://www.speedscope.app/file-format-schema.json.
type speedscopeFile struct {
	Schema   string              `json:"$schema"`
	Name     string              `json:"name,omitempty"`
	Exporter string              `json:"exporter"`
	Active   int                 `json:"activeProfileIndex"`
	Shared   speedscopeShared    `json:"shared"`
	Profiles []speedscopeProfile `json:"profiles"`
}

type speedscopeShared struct {
	Frames []speedscopeFrame `json:"frames"`
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

type speedscopeProfile struct {
	Type    string    `json:"type"`
	Name    string    `json:"name"`
	Unit    string    `json:"unit"`
	Start   int64     `json:"startValue"`
	End     int64     `json:"endValue"`
	Samples [][]int32 `json:"samples"` // frames, outermost first
	Weights []int64   `json:"weights"`
}

// Speedscope writes the profile in the format of https://www.speedscope.app: one
// profile of all stacks and, if there are several threads, one for each thread.
func (p *Profile) Speedscope(w io.Writer) error {
	out := speedscopeFile{
		Schema:   "https://www.speedscope.app/file-format-schema.json",
		Name:     p.Title,
		Exporter: "clew",
		Shared:   speedscopeShared{make([]speedscopeFrame, len(p.frames))},
	}
	for i := range p.frames {
		f := &p.frames[i]
		out.Shared.Frames[i] = speedscopeFrame{f.Name(), f.File, f.Line}
	}
	unit := "none"
	switch p.unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes":
		unit = p.unit
	}
	add := func(name string, samples []sample) {
		s := speedscopeProfile{Type: "sampled", Name: name, Unit: unit, Samples: make([][]int32, len(samples)), Weights: make([]int64, len(samples))}
		for i, sample := range samples {
			stack := p.stack(nil, sample.node)
			slices.Reverse(stack)
			s.Samples[i], s.Weights[i] = stack, sample.weight
			s.End += sample.weight
		}
		out.Profiles = append(out.Profiles, s)
	}
	add("all "+p.unit, p.samples)
	if len(p.threads) > 1 {
		byThread := make([][]sample, len(p.threads))
		for _, s := range p.samples {
			byThread[s.thread] = append(byThread[s.thread], s)
		}
		several := p.processes() > 1
		for i, samples := range byThread {
			l := &p.threads[i]
			name := l.within()
			if several {
				name = labelName("process", l.Process, l.PID) + ", " + name
			}
			add(name, samples)
		}
	}
	return printable.EncodeJSON(w, &out)
}
