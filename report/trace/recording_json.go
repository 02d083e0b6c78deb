// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"io"
	"maps"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// jsonRecording is the JSON form of a recording. Stacks refer to threads, objects and frames
// by index. Addresses and times, in nanoseconds, are strings for the reason given at
// jsonStacks.
type jsonRecording struct {
	Recording string          `json:"recording"` // path
	Command   []string        `json:"command,omitempty"`
	Host      string          `json:"host,omitempty"`
	Release   string          `json:"release,omitempty"` // of the kernel
	Machine   string          `json:"machine,omitempty"`
	Samples   uint64          `json:"samples"`
	FirstNS   string          `json:"first_ns"`
	LastNS    string          `json:"last_ns"`
	Lost      uint64          `json:"lost,omitempty"`
	Events    []jsonEvent     `json:"events"`
	Threads   []jsonRecThread `json:"threads"`
	Objects   []jsonObject    `json:"objects"`
	Frames    []jsonRecFrame  `json:"frames"`
	Stacks    []jsonRecStack  `json:"stacks"`
	Notes     []string        `json:"notes,omitempty"`
	Complete  bool            `json:"complete"`
}

type jsonEvent struct {
	Name    string `json:"name"`
	Samples uint64 `json:"samples"`
	Periods uint64 `json:"periods"` // how often the event occurred
}

type jsonRecThread struct {
	PID     int32  `json:"pid"`
	TID     int32  `json:"tid"`
	Process string `json:"process"`
	Name    string `json:"name"`

	Labels map[string]string `json:"labels,omitempty"` // of the goroutine that it ran
}

type jsonObject struct {
	Name      string `json:"name"`
	BuildID   string `json:"build_id,omitempty"`
	File      string `json:"file,omitempty"`      // that was read
	Generated string `json:"generated,omitempty"` // the source that describes generated code
	Error     string `json:"error,omitempty"`
}

type jsonRecFrame struct {
	Kind    string `json:"kind"`             // "native", "go", "jit", "kernel", …
	Object  *int   `json:"object,omitempty"` // index of objects
	Address string `json:"address"`          // in the object, or at run time
	Returns bool   `json:"returns,omitempty"`
	jsonSymbol
	jsonSource
	Inlined []jsonCall `json:"inlined,omitempty"` // innermost first
}

type jsonRecStack struct {
	Event   int32  `json:"event"`
	Thread  int32  `json:"thread"`
	Samples uint64 `json:"samples"`
	Periods uint64 `json:"periods"`
	End     string `json:"end"`    // why it ends: "whole", "call chain", …
	Frames  []int  `json:"frames"` // innermost first
}

// RecordingSchema describes what [Recording.JSON] writes.
const RecordingSchema = `One object for the recording. Threads, objects and frames are lists, and other
members refer to them by index, from 0:
  {"recording", "command", "host", "release", "machine", "samples", "first_ns",
   "last_ns", "lost", "events": [{"name", "samples", "periods"}],
   "threads": [{"pid", "tid", "process", "name", "labels"}],
   "objects": [{"name", "build_id", "file", "generated", "error"}],
   "frames": [{"kind", "object", "address", "returns", "function", "symbol",
   "offset", "file", "line", "inlined": [{"function", "file", "line"}]}],
   "stacks": [{"event", "thread", "samples", "periods", "end", "frames"}],
   "notes", "complete"}
The frames of a stack are innermost first. "kind" is "native", "go", "jit" (generated
code), "kernel", "hypervisor", "guest" (code of a virtual machine), or "unknown":
no object is known at the address. "end" is "whole", "call chain" (as far as it was
recorded), "stack copy cut" and others. Addresses are strings ("0x7f3c00001139"), and
so are the times, in nanoseconds. "labels" are those that a Go program has set for the
goroutine (runtime/pprof.Do); a thread with several is listed as often. Only 'clew
record' knows them.`

var recordedKinds = [...]string{
	stack.Unknown: "unknown", stack.Native: "native", stack.Go: "go", stack.Generated: "jit",
	stack.Kernel: "kernel", stack.Hypervisor: "hypervisor", stack.Guest: "guest",
}

// JSON writes the recording as one JSON object on one line. RecordingSchema describes it.
func (r *Recording) JSON(w io.Writer) error {
	rec := r.Recording
	out := jsonRecording{Recording: r.Path, Command: rec.Header.CommandLine, Host: rec.Header.Hostname, Release: rec.Header.OSRelease,
		Samples: rec.Samples, FirstNS: fmt.Sprint(rec.First), LastNS: fmt.Sprint(rec.Last), Lost: rec.Counts.Missed(),
		Events: []jsonEvent{}, Threads: []jsonRecThread{}, Objects: []jsonObject{}, Frames: []jsonRecFrame{}, Stacks: []jsonRecStack{},
		Notes: rec.Notes, Complete: rec.Complete}
	if rec.Machine != nil {
		out.Machine = rec.Machine.Name
	}
	for i := range rec.Events {
		out.Events = append(out.Events, jsonEvent{rec.Events[i].Name, rec.Events[i].Samples, rec.Events[i].Weight})
	}
	for _, t := range rec.Threads {
		labels := maps.Collect(t.Labels())
		out.Threads = append(out.Threads, jsonRecThread{t.PID, t.TID, t.Process, t.Name, labels})
	}
	objects := make(map[*stack.Object]*int)
	for i, o := range rec.Objects {
		objects[o] = &i
		j := jsonObject{Name: o.Name, BuildID: o.BuildID, File: o.Path}
		if o.Generated != generated.None {
			j.Generated = o.Generated.String()
		}
		if o.Err != nil {
			j.Error = o.Err.Error()
		}
		out.Objects = append(out.Objects, j)
	}
	places := rec.Places()
	for i := range places {
		c := &places[i]
		j := jsonRecFrame{Kind: recordedKinds[c.Object.Kind()], Object: objects[c.Object], Address: fmt.Sprintf("%#x", c.Address), Returns: c.Returns}
		j.jsonSymbol, j.jsonSource, j.Inlined = codeJSON(c)
		out.Frames = append(out.Frames, j)
	}
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		j := jsonRecStack{Event: s.Event, Thread: s.Thread, Samples: s.Samples, Periods: s.Weight, End: s.Reason.String(), Frames: []int{}}
		if s.Reason == unwind.EndOfStack {
			j.End = "whole"
		}
		for place := range rec.Frames(s) {
			j.Frames = append(j.Frames, place)
		}
		out.Stacks = append(out.Stacks, j)
	}
	return printable.EncodeJSON(w, &out)
}
