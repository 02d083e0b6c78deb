// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"fmt"
	"io"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/target"
	"github.com/clewdev/clew/unwind"
)

// The JSON form of stacks: one object a target. Addresses are strings of
// hexadecimal digits behind "0x", as numbers of 64 bits do not survive every
// reader of JSON.
type jsonStacks struct {
	PID     int          `json:"pid,omitempty"`
	Command string       `json:"command,omitempty"`
	Machine string       `json:"machine"`
	PauseNS int64        `json:"pause_ns,omitempty"`
	Threads []jsonThread `json:"threads"`
	Notes   []string     `json:"notes,omitempty"` // see Notes

	// Of a core.
	Core    string        `json:"core,omitempty"` // its path
	Signal  *jsonSignal   `json:"signal,omitempty"`
	Missing []jsonMissing `json:"missing,omitempty"`
	Damage  []string      `json:"damage,omitempty"`
}

type jsonThread struct {
	TID    int               `json:"tid"`
	Name   string            `json:"name"`
	Also   []jsonOtherThread `json:"also,omitempty"` // of a group: the others
	Frames []jsonFrame       `json:"frames"`
	End    string            `json:"end"`             // why the walk ended: "end of stack", "no rule", …
	Error  string            `json:"error,omitempty"` // what stood in its way
}

type jsonOtherThread struct {
	TID  int    `json:"tid"`
	Name string `json:"name"`
}

type jsonFrame struct {
	PC        string            `json:"pc"`
	SP        string            `json:"sp,omitempty"`
	Function  string            `json:"function,omitempty"` // demangled
	Symbol    string            `json:"symbol,omitempty"`   // as the object has it
	Offset    *uint64           `json:"offset,omitempty"`   // of pc from the symbol, bytes
	Module    string            `json:"module,omitempty"`
	Generated string            `json:"generated,omitempty"` // where generated code was found
	Address   string            `json:"address,omitempty"`   // of the call in the module, without load bias
	File      string            `json:"file,omitempty"`
	Line      int               `json:"line,omitempty"`
	Inlined   []jsonInlined     `json:"inlined,omitempty"` // innermost first
	Method    string            `json:"method"`            // how the frame was found
	Gap       bool              `json:"gap,omitempty"`     // frames may be missing before it
	Signal    bool              `json:"signal,omitempty"`  // a signal trampoline
	Late      bool              `json:"late,omitempty"`    // read after the process ran on
	Registers map[string]string `json:"registers,omitempty"`
	Arguments []jsonVariable    `json:"arguments,omitzero"` // absent where they are not known
	Locals    []jsonVariable    `json:"locals,omitzero"`
}

type jsonInlined struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`

	Arguments []jsonVariable `json:"arguments,omitzero"`
	Locals    []jsonVariable `json:"locals,omitzero"`
}

// StackSchema describes what [Stacks.JSON] writes.
const StackSchema = `Each line is an object for one process or core:
  pid, command, machine   "pid" is absent where a core does not tell it
  pause_ns        how long the process stood still; absent where it did not
  threads         by ID; with --group one for all whose stacks are equal:
    tid, name
    also          the others of the group: [{"tid", "name"}]; their "sp" and
                  "registers" are not shown
    frames        innermost first:
      pc          where the frame goes on
      sp          its stack pointer; absent of a tail call
      function    what it is in, demangled; absent where that is not known
      symbol, offset   the symbol as the object has it, and how far "pc" is in it
      module      the file that holds it; [jit] for generated code
      generated   how generated code was found
      address     in the module, as 'clew at' takes it: of a caller, of the last
                  byte of its call
      file, line  of the source
      inlined     calls inlined there, innermost first: [{"function", "file",
                  "line", "arguments", "locals"}]
      method      how the frame was found: registers, CFI, frame pointer, return
                  address (the word at the stack pointer or in the link register,
                  after a call), back chain, signal context, bad call; "tail call"
                  of a function without a frame, which called the one before it in
                  the place of its return: by the debugging information
      gap         true if callers may be missing between the frame before and this
                  one
      signal      true for the frame of a signal's trampoline
      late        true if it was read after the process ran on
      registers   with --registers: by name
      arguments   of the function, in the order of the source; absent where they
                  were not asked for or nothing tells of them:
        name, type  "" and absent in a Go program without debugging information
        value     as gdb or Delve prints it, or as Go's own traces do: "0x5?"
                  where something else may be left; absent where it is not known
        entry     what it was when the function was called, where the caller tells
        trace     of Go, what its own traces have where the value is lost: it can
                  be that of before an assignment
        error     why there is no value: "optimized out", …
        late      true if it was read after the process ran on
      locals      with --locals: in the same form, innermost block first
    end           why the walk ended; "end of stack" is its end
    error         what stood in its way
  notes           what is to be known of all of it, as which files have no
                  debugging information: ["…"]
  core            of a core: its path
  signal          of a core: {"number", "name", "code", "tid", "address",
                  "sender"}
  missing         of a core: [{"path", "build_id", "address", "error"}]
  damage          of a core: what is wrong with it: ["…"]
Addresses and registers are strings ("0x7f3c00001139"); offset is a number of
bytes.`

// json is the JSON form of what is told of the target, but for the notes.
func (t *Target) json() jsonStacks {
	out := jsonStacks{PID: t.PID, Command: t.Command, Machine: t.Machine.Name, PauseNS: t.Pause.Nanoseconds()}
	t.Core.fill(&out)
	return out
}

// JSON writes the stacks as one JSON object on one line; StackSchema describes
// it.
func (s *Stacks) JSON(w io.Writer) error {
	groups := s.groups()
	variables := s.variables(true, true) // JSON is UTF-8 wherever it is read
	out := s.json()
	out.Threads = make([]jsonThread, len(groups))
	for i := range groups {
		stack := groups[i].stack
		t := &out.Threads[i]
		*t = jsonThread{TID: stack.Thread.ID, Name: stack.Thread.Name, End: stack.Reason.String(),
			Frames: make([]jsonFrame, len(stack.Frames))}
		for _, other := range groups[i].threads[1:] {
			t.Also = append(t.Also, jsonOtherThread{other.ID, other.Name})
		}
		if stack.Err != nil {
			t.Error = stack.Err.Error()
		}
		variables.begin()
		for j := range stack.Frames {
			t.Frames[j] = s.jsonFrame(&stack.Frames[j], variables.calls(stack, j, groups[i].others))
		}
	}
	out.Notes = append(s.notes(), s.Missed...)
	return printable.EncodeJSON(w, &out)
}

func (s *Stacks) jsonFrame(f *target.Frame, calls []shownCall) jsonFrame {
	out := jsonFrame{PC: fmt.Sprintf("%#x", f.PC), Symbol: f.Symbol.Name, Method: f.Method.String(), Gap: f.Gap, Signal: f.Trampoline, Late: f.Late}
	if f.TailCall {
		out.Method = "tail call"
	} else {
		out.SP = fmt.Sprintf("%#x", f.SP)
	}
	if name := FunctionName(f); name != unnamed {
		out.Function = name
	}
	if offset, ok := f.Offset(); ok {
		out.Offset = &offset
	}
	if f.Object != nil {
		out.Module, out.Address = f.Object.Name, fmt.Sprintf("%#x", f.Address)
		if f.Object.Generated != target.NotGenerated {
			out.Generated = f.Object.Generated.String()
		}
	}
	if l := f.Location(); l != nil {
		out.File, out.Line = l.File, l.Line
	}
	for i := range max(len(f.Locations)-1, 0) {
		l := &f.Locations[i]
		inlined := jsonInlined{Function: calledIn(&f.Symbol, l.Function), File: l.File, Line: l.Line}
		if c := call(calls, i, len(f.Locations)); c != nil {
			inlined.Arguments, inlined.Locals = s.jsonCall(c)
		}
		out.Inlined = append(out.Inlined, inlined)
	}
	if c := call(calls, len(f.Locations)-1, len(f.Locations)); c != nil {
		out.Arguments, out.Locals = s.jsonCall(c)
	}
	if s.Registers && f.Registers != nil {
		out.Registers = make(map[string]string)
		for column := range uint64(unwind.MaxColumns) {
			if v, ok := f.Registers.Get(column); ok {
				out.Registers[s.Machine.RegisterName(column)] = fmt.Sprintf("%#x", v)
			}
		}
	}
	return out
}

func (s *Stacks) jsonCall(c *shownCall) (arguments, locals []jsonVariable) {
	arguments = jsonVariables(c.arguments)
	if s.Locals {
		locals = jsonVariables(c.locals)
	}
	return arguments, locals
}
