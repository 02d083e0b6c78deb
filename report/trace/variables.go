// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"sync/atomic"

	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
	"github.com/clewdev/clew/value/stdtype"
)

// Limits, because the debugging information determines the number of variables and the
// target's memory their sizes.
const (
	maxFrameVariables = 1 << 12
	maxVariables      = 1 << 20 // of all frames
	maxVariableText   = 64 << 20
	maxPending        = 256 // variables that a printer counts before it adds them to the total
)

// differs replaces the value of a variable that differs between threads with equal stacks.
const differs = "<differs>"

// optimizedOut is the text of debuggers for a value that the compiler removed.
const optimizedOut = "optimized out"

// shownVariable is a variable of a frame.
type shownVariable struct {
	name string
	line []byte // as in a backtrace: an argument "n=5", a local variable "n = 5"
	data *shownData
	late bool
}

// shownData is a variable in the JSON form.
type shownData struct{ typ, text, entry, trace, problem string }

// shownCall is a function or an inlined call of a frame with its variables.
type shownCall struct {
	name      string // as in the source, without parameters
	arguments []shownVariable
	locals    []shownVariable
	late      bool // a variable was read after the target ran on
}

// variables reads and formats the variables of stacks, one frame at a time.
type variables struct {
	reader  *variable.Reader
	printer print.Printer
	json    bool
	locals  bool
	names   map[*value.Scope]string // of functions
	spent   *variablesSpent
	pending struct{ count, size int64 } // not yet added to spent

	first       *stack.Stack                      // the first stack of a group, or nil
	firstFrames []variable.Frame                  // of first; its memory is reused
	frames      map[*stack.Stack][]variable.Frame // of the other stacks of the group
	shown       frameBuffer
}

// frameBuffer is the calls, variables and text of the current frame.
type frameBuffer struct {
	calls     []shownCall
	variables []shownVariable
	text      []byte
}

// variablesSpent counts the variables, and the bytes of their text, of all goroutines that
// print the same stacks.
type variablesSpent struct{ count, size atomic.Int64 }

func (s *Threads) variables(utf8, json bool) *variables {
	if s.Variables == nil {
		return nil
	}
	v := &variables{reader: s.Variables, printer: print.Printer{Symbols: style.Demangled{Symbolizer: s.Variables}, Demangle: style.Demangle, UTF8: utf8}, json: json, locals: s.Locals, spent: new(variablesSpent)}
	if !s.Raw {
		v.printer.Present = stdtype.Present
	}
	return v.clone()
}

// clone returns a copy of v for another goroutine, with the same counters.
func (v *variables) clone() *variables {
	if v == nil {
		return nil
	}
	return &variables{reader: v.reader, printer: v.printer, json: v.json, locals: v.locals, spent: v.spent,
		names: make(map[*value.Scope]string), frames: make(map[*stack.Stack][]variable.Frame)}
}

// begin starts a group of stacks.
func (v *variables) begin() {
	if v != nil {
		v.first = nil
		clear(v.frames)
	}
}

func (v *variables) framesOf(s *stack.Stack) []variable.Frame {
	switch v.first {
	case nil:
		v.first, v.firstFrames = s, v.reader.Frames(s, v.firstFrames)
		return v.firstFrames
	case s:
		return v.firstFrames
	}
	frames, ok := v.frames[s]
	if !ok {
		frames = v.reader.Frames(s, nil)
		v.frames[s] = frames
	}
	return frames
}

// canSpend reports whether the limits allow one more variable.
func (v *variables) canSpend() bool {
	return v.spent.count.Load()+v.pending.count < maxVariables && v.spent.size.Load()+v.pending.size < maxVariableText
}

// calls returns the calls of frame i of a stack with their variables, innermost first. See
// call for their correspondence to Locations. Values that differ in others, which are equal
// stacks of other threads, are replaced. The result is valid until the next call.
func (v *variables) calls(walked *stack.Stack, i int, others []*stack.Stack) []shownCall {
	if v == nil {
		return nil
	}
	v.shown.truncate(0, 0, 0)
	calls := v.appendCalls(walked, i)
	own, variables, text := len(v.shown.calls), len(v.shown.variables), len(v.shown.text)
	for _, other := range others {
		if len(calls) == 0 || !v.canSpend() {
			break
		}
		if i >= len(other.Frames) {
			continue
		}
		for k, call := range v.appendCalls(other, i) {
			if k < len(calls) {
				calls[k].merge(&call)
			}
		}
		v.shown.truncate(own, variables, text)
	}
	return calls
}

// appendCalls appends the calls of frame i of a stack to v.shown, and returns them.
func (v *variables) appendCalls(walked *stack.Stack, i int) []shownCall {
	if f := &walked.Frames[i]; f.Trampoline || f.Object == nil {
		return nil
	}
	frame := &v.framesOf(walked)[i]
	buffer, start := &v.shown, len(v.shown.calls)
	scopes := frame.Scopes()
	for k, scope := range scopes {
		var c shownCall
		c.name = v.name(scope, &walked.Frames[i], k == len(scopes)-1)
		left, first := maxFrameVariables, len(buffer.variables)
		var traced []string // the arguments in Go's own traceback
		for n, a := range scope.Arguments {
			if left--; left < 0 || !v.canSpend() {
				break
			}
			shown := v.argument(a, frame)
			if k == len(scopes)-1 && shown.isLost() {
				if traced == nil {
					traced = goTraced(frame, len(scope.Arguments))
				}
				shown.addTraced(traced[n])
				shown.late = shown.late || frame.Late()
			}
			c.late = c.late || shown.late
			buffer.variables = append(buffer.variables, shown)
		}
		c.arguments = buffer.since(first)
		if v.locals {
			first = len(buffer.variables)
			declared := declaredBefore(frame, &walked.Frames[i], k, len(scopes))
			for _, b := range scope.Blocks {
				for _, l := range b.Variables {
					if !l.Argument && l.Line >= declared {
						continue
					}
					if left--; left < 0 || !v.canSpend() {
						break
					}
					shown := v.local(l, frame)
					c.late = c.late || shown.late
					buffer.variables = append(buffer.variables, shown)
				}
			}
			c.locals = buffer.since(first)
		}
		buffer.calls = append(buffer.calls, c)
	}
	if len(scopes) == 0 {
		v.appendGoArguments(frame)
	}
	return buffer.calls[start:len(buffer.calls):len(buffer.calls)]
}

// isLost reports whether an argument was optimized out.
func (s *shownVariable) isLost() bool {
	if s.data != nil {
		return s.data.problem == optimizedOut
	}
	return bytes.HasSuffix(s.line, []byte("=<"+optimizedOut+">"))
}

// goTraced returns the arguments of a Go function as Go's own traceback prints them, with ""
// for unknown ones. They can be older than the last assignment.
func goTraced(frame *variable.Frame, arguments int) []string {
	list, _ := frame.GoArguments()
	if len(list) != arguments {
		return make([]string, arguments)
	}
	for k, text := range list {
		if strings.ContainsAny(text, "?._<") { // stale, truncated, omitted, unreadable
			list[k] = ""
		}
	}
	return list
}

// addTraced adds the text of Go's traceback to an argument that was optimized out.
func (s *shownVariable) addTraced(text string) {
	switch {
	case text == "":
	case s.data != nil:
		s.data.trace = text
	default:
		s.line = append(bytes.TrimSuffix(s.line, []byte(">")), ", "+text+" in a trace>"...)
	}
}

// appendGoArguments appends the arguments of a Go function without debugging information.
func (v *variables) appendGoArguments(frame *variable.Frame) {
	arguments, ok := frame.GoArguments()
	if !ok {
		return
	}
	first, late := len(v.shown.variables), frame.Late()
	for _, a := range arguments {
		if !v.canSpend() {
			break
		}
		v.spend(len(a))
		shown := shownVariable{line: []byte(a), late: late}
		if v.json {
			shown.data = &shownData{text: a}
		}
		v.shown.variables = append(v.shown.variables, shown)
	}
	v.shown.calls = append(v.shown.calls, shownCall{arguments: v.shown.since(first), late: late})
}

func (r *frameBuffer) truncate(calls, variables, text int) {
	r.calls, r.variables, r.text = r.calls[:calls], r.variables[:variables], r.text[:text]
}

// since returns the variables from index first on.
func (r *frameBuffer) since(first int) []shownVariable {
	return r.variables[first:len(r.variables):len(r.variables)]
}

// declaredBefore returns the line from which on local variables of one of a frame's scopes
// are not declared yet, except for results. In Go, a variable has its place in memory before
// it is declared, and only the line shows that it has no value yet.
func declaredBefore(frame *variable.Frame, f *stack.Frame, scope, scopes int) (line int) {
	info, at := frame.Info(), scope+len(f.Locations)-scopes
	if at < 0 || f.Locations[at].Line == 0 || info == nil || info.Language(f.Address) != value.Go {
		return math.MaxInt
	}
	return f.Locations[at].Line
}

// name returns the name that the function of a scope has in the source. If the debugging
// information lacks its symbol, name uses the symbol of frame f for the last scope of f.
func (v *variables) name(scope *value.Scope, f *stack.Frame, isLast bool) string {
	name, ok := v.names[scope]
	if !ok {
		fn := scope.Function
		symbol := fn.LinkageName
		if symbol == "" && isLast {
			symbol = unversioned(f.Symbol.Name)
		}
		name = sourceName(fn.Name, symbol, fn.Language)
		if isLast && f.Symbol.Gccgo {
			// gccgo's debugging information has some names encoded and others not, and the C
			// names of C functions that Go calls.
			if decoded, ok := style.DecodeGccgo(unversioned(f.Symbol.Name)); ok {
				name = decoded
			}
		}
		v.names[scope] = name
	}
	return name
}

func (v *variables) argument(a *value.Variable, f *variable.Frame) shownVariable {
	if v.json {
		return v.data(a, f)
	}
	start := len(v.shown.text)
	v.shown.text = v.printer.AppendArgument(v.shown.text, a, f)
	return v.line(a, f, start)
}

func (v *variables) local(l *value.Variable, f *variable.Frame) shownVariable {
	if v.json {
		return v.data(l, f)
	}
	start := len(v.shown.text)
	v.shown.text = append(v.shown.text, v.printer.Variable(l, f)...)
	return v.line(l, f, start)
}

// line returns variable a with the text from offset start on.
func (v *variables) line(a *value.Variable, f *variable.Frame, start int) shownVariable {
	text := v.shown.text[start:len(v.shown.text):len(v.shown.text)]
	v.spend(len(text))
	return shownVariable{name: a.Name, line: text, late: f.Late()}
}

// spend counts a variable. It updates the shared counters only for many variables at once.
func (v *variables) spend(size int) {
	u := &v.pending
	u.count++
	u.size += int64(size)
	if u.count < maxPending && u.size < maxPending*64 {
		return
	}
	v.spent.count.Add(u.count)
	v.spent.size.Add(u.size)
	u.count, u.size = 0, 0
}

// data returns a variable for JSON, with its complete value.
func (v *variables) data(a *value.Variable, f *variable.Frame) shownVariable {
	d := new(shownData)
	val := a.Read(f)
	if t := val.Type(); t != nil {
		d.typ = t.String()
	}
	d.text, d.problem = v.text(val)
	if a.Argument {
		if entry := a.ReadEntry(f); entry.Err() == nil {
			d.entry, _ = v.text(entry)
		}
	}
	v.spend(len(d.typ) + len(d.text) + len(d.entry) + len(d.problem))
	return shownVariable{name: a.Name, data: d, late: f.Late()}
}

func (v *variables) text(val value.Value) (text, problem string) {
	err := val.ReadError()
	if err == nil {
		// For some values only printing shows that they were optimized out.
		text, err = v.printer.Whole(val)
	}
	switch {
	case errors.Is(err, value.ErrOptimizedOut), text == "<"+optimizedOut+">":
		return "", optimizedOut
	case err != nil:
		return "", err.Error()
	}
	return text, ""
}
