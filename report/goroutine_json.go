// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/clewdev/clew/target"
)

// jsonGoroutines is the JSON form of goroutines: that of stacks with goroutines in the
// place of threads.
type jsonGoroutines struct {
	jsonStacks
	Threads    *struct{}       `json:"threads,omitempty"` // there are none
	Goroutines []jsonGoroutine `json:"goroutines"`
}

type jsonGoroutine struct {
	ID       uint64       `json:"id"`
	State    string       `json:"state"`
	Scan     bool         `json:"scan,omitempty"`
	WaitedNS int64        `json:"waited_ns,omitempty"`
	Locked   bool         `json:"locked,omitempty"`
	System   bool         `json:"system,omitempty"`
	TID      int          `json:"tid,omitempty"`
	Created  *jsonCreated `json:"created,omitempty"`
	Also     []uint64     `json:"also,omitempty"`
	Frames   []jsonFrame  `json:"frames"`
	End      string       `json:"end"`
	Error    string       `json:"error,omitempty"`
}

type jsonCreated struct {
	Goroutine uint64 `json:"goroutine,omitempty"`
	PC        string `json:"pc"`
	Function  string `json:"function,omitempty"`
	Module    string `json:"module,omitempty"`
	Address   string `json:"address,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
}

// GoroutineSchema describes what [Goroutines.JSON] writes, besides what
// [StackSchema] does.
const GoroutineSchema = `With --goroutines there are, in the place of threads:
  goroutines      with --group one for all that are equal:
    id
    state         "running", "runnable", "syscall", …, or why it waits: "select"
    scan          true where the garbage collector was at its stack
    waited_ns     for how long it waits; absent where no garbage collection has
                  noticed it, and of a core
    locked        true where it is locked to its thread
    system        true for one that the runtime made for itself
    tid           the thread that runs it; absent where none does
    created       by which go statement: {"goroutine", "pc", "function", "module",
                  "address", "file", "line"}; absent for the first one
    also          the IDs of the others of the group: [19, 20]
    frames, end, error   as those of a thread`

// JSON writes the goroutines as one JSON object on one line; StackSchema and
// GoroutineSchema describe it.
func (s *Goroutines) JSON(w io.Writer) error {
	groups := s.groups()
	stacks := s.stacks()
	variables := stacks.variables(true, true) // JSON is UTF-8 wherever it is read
	out := jsonGoroutines{jsonStacks: s.json(), Goroutines: make([]jsonGoroutine, len(groups))}
	for i, group := range groups {
		g := group[0]
		to := &out.Goroutines[i]
		*to = jsonGoroutine{ID: g.ID, State: g.Name, Scan: g.Scan, WaitedNS: g.Waited.Nanoseconds(), Locked: g.Locked, System: g.System,
			Created: createdJSON(g), Frames: make([]jsonFrame, len(g.Stack.Frames)), End: g.Stack.Reason.String()}
		if g.Stack.Thread != nil {
			to.TID = g.Stack.Thread.ID
		}
		for _, other := range group[1:] {
			to.Also = append(to.Also, other.ID)
		}
		if g.Stack.Err != nil {
			to.Error = g.Stack.Err.Error()
		}
		variables.begin()
		for k := range g.Stack.Frames {
			to.Frames[k] = stacks.jsonFrame(&g.Stack.Frames[k], variables.calls(&g.Stack, k, others(group)))
		}
	}
	out.Notes = append(s.notes(), s.Missed...)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(&out)
}

func createdJSON(g *target.Goroutine) *jsonCreated {
	f := &g.Created
	if f.PC == 0 {
		return nil
	}
	out := &jsonCreated{Goroutine: g.Parent, PC: fmt.Sprintf("%#x", f.PC)}
	if name := FunctionName(f); name != unnamed {
		out.Function = name
	}
	if f.Object != nil {
		out.Module, out.Address = f.Object.Name, fmt.Sprintf("%#x", f.Address)
	}
	out.File, out.Line = innermost(f)
	return out
}
