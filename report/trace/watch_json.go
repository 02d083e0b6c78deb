// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"cmp"
	"io"
	"slices"

	"github.com/clewdev/clew/internal/printable"
)

type jsonWatched struct {
	PID        int               `json:"pid"`
	Command    string            `json:"command,omitempty"`
	Machine    string            `json:"machine"`
	Samples    int               `json:"samples"`
	IntervalNS int64             `json:"interval_ns"`
	TookNS     int64             `json:"took_ns"`
	Late       int               `json:"late,omitempty"`
	PauseNS    jsonPause         `json:"pause_ns"`
	Ended      string            `json:"ended,omitempty"`
	Stacks     []jsonKindOfStack `json:"stacks"`
	Notes      []string          `json:"notes,omitempty"`
}

type jsonPause struct {
	Total   int64 `json:"total"`
	Mean    int64 `json:"mean"`
	Longest int64 `json:"longest"`
}

type jsonKindOfStack struct {
	Count   int                 `json:"count"`
	Threads []jsonWatchedThread `json:"threads"`
	Frames  []jsonWatchedFrame  `json:"frames"`
	End     string              `json:"end"`
}

type jsonWatchedThread struct {
	TID   int    `json:"tid"`
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type jsonWatchedFrame struct {
	Function string `json:"function,omitempty"`
	Module   string `json:"module,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Inlined  bool   `json:"inlined,omitempty"`
}

// WatchSchema describes what [Watch.JSON] writes.
const WatchSchema = `Each line is an object for one process:
  pid, command, machine
  samples         the number of samples
  interval_ns, took_ns   the requested interval, and the whole duration
  late            samples that were skipped, because the previous one was not complete
  pause_ns        how long threads stood still, each by itself: {"total", "mean",
                  "longest"}
  ended           why there are fewer samples than requested
  stacks          most frequent first; stacks through the same functions are one:
    count         how often it was seen
    threads       the threads that had it: [{"tid", "name", "count"}]
    frames        innermost first: [{"function", "module", "file", "line",
                  "inlined"}]; "line" is absent if it differs
    end           why the walk ended; "end of stack" is a complete stack
  notes           ["…"]`

// JSON writes the stacks as one JSON object on one line. WatchSchema describes it.
func (w *Watch) JSON(to io.Writer) error {
	groups := w.groups()
	out := jsonWatched{PID: w.PID, Command: w.Command, Machine: w.Machine.Name, Samples: w.Samples,
		IntervalNS: w.Interval.Nanoseconds(), TookNS: w.Took.Nanoseconds(), Late: w.Late,
		PauseNS: jsonPause{w.Pause.Nanoseconds(), w.Pause.Nanoseconds() / int64(max(w.Stops, 1)), w.Longest.Nanoseconds()},
		Ended:   w.Ended, Stacks: make([]jsonKindOfStack, len(groups)), Notes: slices.Concat(Notes(w.Threads.Stacks), w.Notes(), w.Missed)}
	for i := range groups {
		g, s := &groups[i], &out.Stacks[i]
		*s = jsonKindOfStack{Count: g.count, Frames: make([]jsonWatchedFrame, len(g.frames)), End: cmp.Or(g.end, "end of stack")}
		for _, t := range g.threads {
			s.Threads = append(s.Threads, jsonWatchedThread{t.id, t.name, t.count})
		}
		for k, f := range g.frames {
			s.Frames[k] = jsonWatchedFrame{f.Function, f.Object, f.File, f.Line, f.Inlined}
			if f.Function == unnamed {
				s.Frames[k].Function = ""
			}
		}
	}
	return printable.EncodeJSON(to, &out)
}
