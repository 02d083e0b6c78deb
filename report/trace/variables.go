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

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
	"github.com/clewdev/clew/value/stdtype"
)

// Bounds of what is shown of variables, as the debugging information says how many
// there are and the target's memory how long they are.
const (
	maxFrameVariables = 1 << 12
	maxVariables      = 1 << 20 // of all frames
	maxVariableText   = 64 << 20
	maxPending        = 256 // of those that one goroutine shows
)

// differs stands for the value of a variable that threads with equal stacks do not
// share.
const differs = "<differs>"

// optimizedOut is what debuggers say of a value that the compiler left no trace of.
const optimizedOut = "optimized out"

// shownVariable is a variable of a frame.
type shownVariable struct {
	name string
	line []byte // as backtraces show it: an argument "n=5", a local variable "n = 5"
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
	late      bool // something was read after the target ran on
}

// variables shows the variables of stacks, of one frame at a time.
type variables struct {
	reader  *variable.Reader
	printer print.Printer
	json    bool // for programs
	locals  bool
	names   map[*value.Scope]string // of functions
	spent   *variablesSpent
	pending struct{ count, size int64 } // of what this one shows, and spent does not include yet

	first  *stack.Stack                      // of those that are shown as one; nil before it
	kept   []variable.Frame                  // its frames; the next stack reuses the memory
	frames map[*stack.Stack][]variable.Frame // of the others
	shown  frameBuffer                       // of the frame that is shown
}

// frameBuffer holds the calls, variables and text of the frame that is shown.
type frameBuffer struct {
	calls     []shownCall
	variables []shownVariable
	text      []byte
}

// variablesSpent counts what all goroutines that print the same stacks have shown.
type variablesSpent struct{ count, size atomic.Int64 } // variables, and bytes of their text

func (s *Threads) variables(utf8, json bool) *variables {
	if s.Variables == nil {
		return nil
	}
	v := &variables{reader: s.Variables, printer: print.Printer{Symbols: style.Demangled{Symbolizer: s.Variables}, Demangle: style.Demangle, UTF8: utf8}, json: json, locals: s.Locals, spent: new(variablesSpent)}
	if !s.Raw {
		v.printer.Present = stdtype.Present
	}
	return v.another()
}

// another returns what shows variables for another goroutine.
func (v *variables) another() *variables {
	if v == nil {
		return nil
	}
	return &variables{reader: v.reader, printer: v.printer, json: v.json, locals: v.locals, spent: v.spent,
		names: make(map[*value.Scope]string), frames: make(map[*stack.Stack][]variable.Frame)}
}

// begin forgets the stacks before.
func (v *variables) begin() {
	if v != nil {
		v.first = nil
		clear(v.frames)
	}
}

// framesOf returns the frames of a stack.
func (v *variables) framesOf(s *stack.Stack) []variable.Frame {
	switch v.first {
	case nil:
		v.first, v.kept = s, v.reader.Frames(s, v.kept)
		return v.kept
	case s:
		return v.kept
	}
	frames, ok := v.frames[s]
	if !ok {
		frames = v.reader.Frames(s, nil)
		v.frames[s] = frames
	}
	return frames
}

// left reports whether one more variable may be shown.
func (v *variables) left() bool {
	return v.spent.count.Load()+v.pending.count < maxVariables && v.spent.size.Load()+v.pending.size < maxVariableText
}

// calls returns what is shown of frame i of a stack: of each of its Locations, in
// their order, and nil where nothing is known. Where other threads have the same
// stack, what differs in them says so. It is there until the next call.
func (v *variables) calls(walked *stack.Stack, i int, others []*stack.Stack) []shownCall {
	if v == nil {
		return nil
	}
	v.shown.cut(0, 0, 0)
	calls := v.of(walked, i)
	own, variables, text := len(v.shown.calls), len(v.shown.variables), len(v.shown.text)
	for _, other := range others {
		if len(calls) == 0 || !v.left() {
			break
		}
		if i >= len(other.Frames) {
			continue
		}
		for k, call := range v.of(other, i) {
			if k < len(calls) {
				calls[k].merge(&call)
			}
		}
		v.shown.cut(own, variables, text)
	}
	return calls
}

func (v *variables) of(walked *stack.Stack, i int) []shownCall {
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
		var traced []string // what traces of Go have, of the function itself
		for n, a := range scope.Arguments {
			if left--; left < 0 || !v.left() {
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
					if left--; left < 0 || !v.left() {
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
		v.ofGo(frame)
	}
	return buffer.calls[start:len(buffer.calls):len(buffer.calls)]
}

// isLost reports whether nothing is known of an argument.
func (s *shownVariable) isLost() bool {
	if s.data != nil {
		return s.data.problem == optimizedOut
	}
	return bytes.HasSuffix(s.line, []byte("=<"+optimizedOut+">"))
}

// goTraced returns the arguments of a function of Go as Go's own traces have them, "" for
// each that they do not know. It can be what the argument was before it was assigned to.
func goTraced(frame *variable.Frame, arguments int) []string {
	list, _ := frame.GoArguments()
	if len(list) != arguments {
		return make([]string, arguments)
	}
	for k, text := range list {
		if strings.ContainsAny(text, "?._<") { // left over, cut short, too far, not to be read
			list[k] = ""
		}
	}
	return list
}

// addTraced adds what a trace has to what is shown of an argument that is lost.
func (s *shownVariable) addTraced(text string) {
	switch {
	case text == "":
	case s.data != nil:
		s.data.trace = text
	default:
		s.line = append(bytes.TrimSuffix(s.line, []byte(">")), ", "+text+" in a trace>"...)
	}
}

// ofGo shows the arguments of a function of Go without debugging information.
func (v *variables) ofGo(frame *variable.Frame) {
	arguments, ok := frame.GoArguments()
	if !ok {
		return
	}
	first, late := len(v.shown.variables), frame.Late()
	for _, a := range arguments {
		if !v.left() {
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

// cut forgets what is after so many calls, variables and bytes of text.
func (r *frameBuffer) cut(calls, variables, text int) {
	r.calls, r.variables, r.text = r.calls[:calls], r.variables[:variables], r.text[:text]
}

// since returns the variables from one on.
func (r *frameBuffer) since(first int) []shownVariable {
	return r.variables[first:len(r.variables):len(r.variables)]
}

// declaredBefore returns the line in which, and after which, local variables of one of
// a frame's scopes are not declared yet, but for what a function returns. In Go a
// variable has its place in memory before: only the line tells that there is nothing in
// it.
func declaredBefore(frame *variable.Frame, f *stack.Frame, scope, scopes int) (line int) {
	info, at := frame.Info(), scope+len(f.Locations)-scopes
	if at < 0 || f.Locations[at].Line == 0 || info == nil || info.Language(f.Address) != value.Go {
		return math.MaxInt
	}
	return f.Locations[at].Line
}

// name returns the name of a function as the source has it, which many frames ask for: of
// the last scope of one by the frame's symbol, where it has no name for linking.
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
			// Debugging information has some names encoded and some not, and C's names of
			// functions that Go calls.
			if decoded, ok := style.DecodeGccgo(unversioned(f.Symbol.Name)); ok {
				name = decoded
			}
		}
		v.names[scope] = name
	}
	return name
}

// sourceName returns the name of a function as the source has it, without its
// parameters, from the one that the debugging information has and from its symbol.
// Compilers do not agree on how they spell the arguments of C++'s templates, as their
// symbols do: gdb, too, has those of functions from there. What stands within a
// function, as the body of a lambda does, has in the debugging information its name
// without what it stands in.
func sourceName(name, symbol string, language value.Language) string {
	if language == value.CPlusPlus && strings.HasPrefix(symbol, "_Z") {
		if whole, ok := style.DemangleFunction(symbol); ok {
			return whole
		}
	}
	if symbol == "" || strings.Contains(name, "::") {
		return name
	}
	whole := style.WithoutParameters(style.Demangle(symbol))
	if strings.HasSuffix(whole, "::"+name) || strings.HasSuffix(whole, "."+name) {
		return whole
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

// line is a variable whose line is the text from start on.
func (v *variables) line(of *value.Variable, f *variable.Frame, start int) shownVariable {
	text := v.shown.text[start:len(v.shown.text):len(v.shown.text)]
	v.spend(len(text))
	return shownVariable{name: of.Name, line: text, late: f.Late()}
}

// spend counts a variable. It adds to the common counters for many variables at once.
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

// data is a variable for programs: whole, also if it is too long for a line.
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
		// Some values are found to be missing only as they are shown.
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

// merge makes of the variables of one thread those of two.
func (c *shownCall) merge(other *shownCall) {
	merge := func(list, others []shownVariable, is string) {
		for k := range list {
			if k >= len(others) {
				return // they were too many
			}
			list[k].merge(&others[k], is)
		}
	}
	c.late = c.late || other.late
	merge(c.arguments, other.arguments, "=")
	merge(c.locals, other.locals, " = ")
}

// merge makes of the variable of one thread that of two. What is before a value on a
// line is "=" for arguments that have names.
func (s *shownVariable) merge(other *shownVariable, is string) {
	s.late = s.late || other.late
	if s.name == "" {
		is = ""
	}
	if !bytes.Equal(s.line, other.line) {
		s.line = []byte(s.name + is + differs)
	}
	if d, o := s.data, other.data; d != nil && o != nil {
		if d.text != o.text || d.problem != o.problem {
			d.text, d.problem = "", "differs in the threads"
		}
		if d.entry != o.entry {
			d.entry = ""
		}
		if d.trace != o.trace {
			d.trace = ""
		}
	}
}

// call is what is shown of one of a frame's Locations, nil where nothing is known.
// The last ones are those that the function is in itself.
func call(calls []shownCall, location, locations int) *shownCall {
	i := location + len(calls) - max(locations, 1)
	if i < 0 || i >= len(calls) {
		return nil
	}
	return &calls[i]
}

// arguments writes " (n=5, s=0x... "text")".
func (p *stackPrinter) arguments(c *shownCall) {
	p.out = append(p.out, " ("...)
	for i := range c.arguments {
		if i > 0 {
			p.out = append(p.out, ", "...)
		}
		p.out = printable.Append(p.out, c.arguments[i].line)
	}
	p.out = append(p.out, ')')
}

// locals writes the local variables, a line each.
func (p *stackPrinter) locals(c *shownCall) {
	if c == nil {
		return
	}
	for i := range c.locals {
		p.out = append(p.out, "        "...)
		p.out = printable.Append(p.out, c.locals[i].line)
		p.out = append(p.out, '\n')
	}
}

// jsonVariable is a variable for programs.
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
