// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"io"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/unwind"
)

// jsonStacks is the JSON form of a target's stacks. Addresses are strings of hexadecimal
// digits after "0x", because some readers of JSON cannot represent all 64-bit numbers.
type jsonStacks struct {
	PID     int          `json:"pid,omitempty"`
	Command string       `json:"command,omitempty"`
	Machine string       `json:"machine"`
	PauseNS int64        `json:"pause_ns,omitempty"`
	Threads []jsonThread `json:"threads"`
	Notes   []string     `json:"notes,omitempty"` // see Notes

	// For a core.
	Core    string        `json:"core,omitempty"` // its path
	Signal  *jsonSignal   `json:"signal,omitempty"`
	Missing []jsonMissing `json:"missing,omitempty"`
	Damage  []string      `json:"damage,omitempty"`
}

type jsonThread struct {
	TID    int               `json:"tid"`
	Name   string            `json:"name"`
	Also   []jsonOtherThread `json:"also,omitempty"` // the other threads of a group
	Frames []jsonFrame       `json:"frames"`
	End    string            `json:"end"`             // why the walk ended: "end of stack", "no rule", …
	Error  string            `json:"error,omitempty"` // that ended the walk
}

type jsonOtherThread struct {
	TID  int    `json:"tid"`
	Name string `json:"name"`
}

type jsonFrame struct {
	PC string `json:"pc"`
	SP string `json:"sp,omitempty"`
	jsonSymbol
	Module    string `json:"module,omitempty"`
	Generated string `json:"generated,omitempty"` // the source that describes generated code
	Address   string `json:"address,omitempty"`   // in the module, without load bias; in a caller, of the call
	jsonSource
	Inlined   []jsonInlined     `json:"inlined,omitempty"` // innermost first
	Method    string            `json:"method"`            // how the frame was found
	Gap       bool              `json:"gap,omitempty"`     // frames may be missing before it
	Signal    bool              `json:"signal,omitempty"`  // a signal trampoline
	Late      bool              `json:"late,omitempty"`    // read after the process ran on
	Registers map[string]string `json:"registers,omitempty"`
	Arguments []jsonVariable    `json:"arguments,omitzero"` // absent if unknown
	Locals    []jsonVariable    `json:"locals,omitzero"`
}

// jsonSymbol is the function of a place in code.
type jsonSymbol struct {
	Function string  `json:"function,omitempty"` // demangled
	Symbol   string  `json:"symbol,omitempty"`   // as in the object
	Offset   *uint64 `json:"offset,omitempty"`   // from the symbol, in bytes
}

type jsonSource struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// jsonCall is an inlined call.
type jsonCall struct {
	Function string `json:"function"`
	jsonSource
}

type jsonInlined struct {
	jsonCall
	Arguments []jsonVariable `json:"arguments,omitzero"`
	Locals    []jsonVariable `json:"locals,omitzero"`
}

// ThreadSchema describes what [Threads.JSON] writes.
const ThreadSchema = `Each line is an object for one process or core:
  pid, command, machine   "pid" is absent if a core does not contain it
  pause_ns        how long the process stood still; absent if it did not
  threads         by ID; with --group, one for all threads with equal stacks:
    tid, name
    also          the other threads of the group: [{"tid", "name"}]; their "sp" and
                  "registers" are left out
    frames        innermost first:
      pc          the program counter; in a caller, the return address
      sp          the stack pointer, or a lower bound of it after a frame without
                  CFI; absent for a tail call
      function    the function, demangled; absent if it is unknown
      symbol, offset   the symbol as the object has it, and the offset of "pc" in it
      module      the file that holds the code; [jit] for generated code
      generated   the source that describes the generated code
      address     the address in the module, as 'clew at' takes it; in a caller, of
                  the last byte of the call
      file, line  of the source
      inlined     inlined calls, innermost first: [{"function", "file", "line",
                  "arguments", "locals"}]
      method      how the frame was found: registers, CFI, frame pointer, return
                  address, code, back chain, signal context, bad call, or tail call;
                  see 'clew help frames'
      gap         true if callers may be missing between the previous frame and
                  this one
      signal      true for the frame of a signal trampoline
      late        true if it was read after the process ran again
      registers   with --registers: by name
      arguments   of the function, in the order of the source; absent if they were
                  not requested or are not described:
        name, type  "" and absent in a Go program without debugging information
        value     as gdb or Delve prints it, or as Go's own tracebacks do: "0x5?" if
                  it may be stale; absent if it is unknown
        entry     the value when the function was called, if the caller gives it
        trace     for Go, the value in Go's own tracebacks if "value" is lost; it can
                  be older than the last assignment
        error     why there is no value: "optimized out", …
        late      true if it was read after the process ran again
      locals      with --locals: in the same form, innermost block first
    end           why the walk ended; "end of stack" is a complete stack
    error         the error that ended it
  notes           remarks on all stacks, such as files without debugging
                  information: ["…"]
  core            for a core: its path
  signal          for a core: {"number", "name", "code", "tid", "address", "sender"}
  missing         for a core: [{"path", "build_id", "address", "error"}]
  damage          for a core: what is wrong with it: ["…"]
Addresses and registers are strings ("0x7f3c00001139"). "offset" is in bytes.`

// json returns the JSON form of the target, without threads and notes.
func (t *Target) json() jsonStacks {
	out := jsonStacks{PID: t.PID, Command: t.Command, Machine: t.Machine.Name, PauseNS: t.Pause.Nanoseconds()}
	t.Core.fill(&out)
	return out
}

// JSON writes the stacks as one JSON object on one line. ThreadSchema describes it.
func (s *Threads) JSON(w io.Writer) error {
	groups := s.groups()
	variables := s.variables(true, true) // JSON is always UTF-8
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

func (s *Threads) jsonFrame(f *stack.Frame, calls []shownCall) jsonFrame {
	out := jsonFrame{PC: fmt.Sprintf("%#x", f.PC), Method: f.Method.String(), Gap: f.Gap, Signal: f.Trampoline, Late: f.Late}
	if f.TailCall {
		out.Method = "tail call"
	} else {
		out.SP = fmt.Sprintf("%#x", f.SP)
	}
	var inlined []jsonCall
	out.jsonSymbol, out.jsonSource, inlined = codeJSON(f)
	if f.Object != nil {
		out.Module, out.Address = f.Object.Name, fmt.Sprintf("%#x", f.Address)
		if f.Object.Generated != generated.None {
			out.Generated = f.Object.Generated.String()
		}
	}
	for i := range inlined {
		out.Inlined = append(out.Inlined, jsonInlined{jsonCall: inlined[i]})
		if c := call(calls, i, len(f.Locations)); c != nil {
			out.Inlined[i].Arguments, out.Inlined[i].Locals = s.variablesJSON(c)
		}
	}
	if c := call(calls, len(f.Locations)-1, len(f.Locations)); c != nil {
		out.Arguments, out.Locals = s.variablesJSON(c)
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

// codeJSON returns the JSON form of the place of a frame in code.
func codeJSON(f *stack.Frame) (symbol jsonSymbol, source jsonSource, inlined []jsonCall) {
	symbol.Symbol = f.Symbol.Name
	if name := FunctionName(f); name != unnamed {
		symbol.Function = name
	}
	if offset, ok := f.Offset(); ok {
		symbol.Offset = &offset
	}
	if l := f.Location(); l != nil {
		source = jsonSource{l.File, l.Line}
	}
	for i := range max(len(f.Locations)-1, 0) {
		l := &f.Locations[i]
		inlined = append(inlined, jsonCall{style.CallName(&f.Symbol, l.Function), jsonSource{l.File, l.Line}})
	}
	return symbol, source, inlined
}

// variablesJSON returns the JSON form of the variables of a call.
func (s *Threads) variablesJSON(c *shownCall) (arguments, locals []jsonVariable) {
	arguments = jsonVariables(c.arguments)
	if s.Locals {
		locals = jsonVariables(c.locals)
	}
	return arguments, locals
}

type jsonVariable struct {
	Name  string `json:"name"`
	Type  string `json:"type,omitempty"`
	Value string `json:"value,omitempty"`
	Entry string `json:"entry,omitempty"`
	Trace string `json:"trace,omitempty"`
	Error string `json:"error,omitempty"`
	Late  bool   `json:"late,omitempty"`
}

func jsonVariables(list []shownVariable) []jsonVariable {
	out := make([]jsonVariable, 0, len(list))
	for i := range list {
		v := &list[i]
		out = append(out, jsonVariable{v.name, v.data.typ, v.data.text, v.data.entry, v.data.trace, v.data.problem, v.late})
	}
	return out
}
