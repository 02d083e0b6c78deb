// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"fmt"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// machine generates code for one machine. The machine's stack is the return stack.
type machine interface {
	// entry returns the frame at a word's first instruction.
	entry() frame

	// prologue and epilogue begin and end a word. The epilogue removes the word's items from the
	// return stack, and returns.
	prologue(e *emitter)
	epilogue(e *emitter)

	// op generates any op except opReturn and opLabel.
	op(e *emitter, o *op)

	// check generates a check for overflow and underflow of the data stack.
	check(e *emitter)

	// step generates a check of the steps that are left, and counts one.
	step(e *emitter)

	// fail generates the code to which failed checks branch. It leaves all words, and returns to the
	// host.
	fail(e *emitter, code faultCode)

	// patch sets the target of the branch or call at an offset into the text.
	patch(e *emitter, at, target int)

	// size returns the size of items on the return stack, in bytes.
	size(d depth) int64

	// stubs returns the functions with which C code runs words.
	stubs() []stub

	// rules changes the rules of the unwind table from one frame to another.
	rules(e *emitter, b *cfi.Builder, from, to frame)
}

// frame is the content of a row of the unwind table.
type frame struct {
	// cfaOffset is the CFA minus the stack pointer, in bytes. The CFA never depends on the frame
	// pointer: a Go function may be on top of a word, and its unwind table does not show where it has
	// saved the frame pointer.
	cfaOffset int64

	// saved: the frame pointer (with FramePointers) and, on arm64, the return address are on the stack.
	saved bool

	// left: after a fault the stack pointer is that of the first word, and the caller's frame pointer
	// is lost.
	left bool
}

// faultCode is the reason of a fault, or 0.
type faultCode int64

const (
	faultNone faultCode = iota
	faultReturnStack
	faultSteps
	faultDataStack
	faultDivision
	faultAddress
	faultOutput
)

// fixup is a branch to an unknown target.
type fixup struct {
	at     int // offset into the text
	target int // label, word, or index of a fault
}

// fault is an exit of a word for failed checks.
type fault struct {
	code  faultCode
	at    position
	frame frame
}

// uncheckedOps is the number of ops between checks of the data stack. Each takes or leaves at most two
// cells, for which there is memory on both sides of the stack.
const uncheckedOps = 64

// emitter generates the code of words.
type emitter struct {
	machine    machine
	frames     bool                                       // options.FramePointers
	spaceAfter func(*cfi.Program, uint64) (uint64, error) // options.SpaceAfter
	cie        *cfi.CIE
	text       []byte

	// The current word.
	start     int
	file      string
	builder   *cfi.Builder
	row       frame // of the last instruction, in the unwind table
	frame     frame // of the next instruction
	lines     []jit.Line
	at        position // of the next instruction
	labels    []int    // offsets into the text
	branches  []fixup  // to labels
	faults    []fault
	failing   []fixup // branches to faults
	unchecked int     // ops since the last check of the data stack
	leaf      bool    // the word calls nothing
	body      int64   // the frame's cfaOffset without items on the return stack
	err       error   // the first

	calls []fixup // of the program, to words
}

// program emits the words of the source, and the words of the prelude that they use.
func (e *emitter) program(words []*word) ([]jit.Function, error) {
	used := make([]bool, len(words))
	for i := len(words) - 1; i >= 0; i-- { // a word calls only itself and earlier words
		used[i] = used[i] || words[i].file != preludeFile
		for _, o := range words[i].ops {
			if used[i] && o.code == opCall {
				used[o.n] = true
			}
		}
	}
	offsets := make([]int, len(words))
	functions := make([]jit.Function, 0, len(words))
	for i, w := range words {
		if !used[i] {
			continue
		}
		f, err := e.emitWord(w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		offsets[i] = int(f.Offset)
		functions = append(functions, f)
	}
	for _, c := range e.calls {
		e.machine.patch(e, c.at, offsets[c.target])
	}
	return functions, nil
}

func (e *emitter) emitWord(w *word) (jit.Function, error) {
	e.align()
	e.start, e.file = len(e.text), w.file
	e.builder, e.lines = cfi.NewBuilder(e.cie), nil
	e.labels, e.branches = make([]int, w.labels), e.branches[:0]
	e.faults, e.failing = e.faults[:0], e.failing[:0]
	e.leaf = !slices.ContainsFunc(w.ops, func(o op) bool { return o.code == opCall || o.code == opPause })
	e.at = w.start
	e.frame = e.machine.entry()
	e.row = e.frame
	e.machine.prologue(e)
	e.machine.step(e)
	e.check()
	e.body = e.frame.cfaOffset
	for i := range w.ops {
		e.op(&w.ops[i])
	}
	for _, b := range e.branches {
		e.machine.patch(e, b.at, e.labels[b.target])
	}
	failing := e.failing // in the order of the faults
	for i, f := range e.faults {
		for len(failing) > 0 && failing[0].target == i {
			e.machine.patch(e, failing[0].at, len(e.text))
			failing = failing[1:]
		}
		e.at, e.frame = f.at, f.frame
		e.machine.fail(e, f.code)
	}
	program, err := e.builder.Program()
	if err == nil {
		err = e.err
	}
	f := jit.Function{
		Name: w.name, Offset: uint64(e.start), Size: uint64(len(e.text) - e.start),
		Unwind: program, Lines: e.lines,
	}
	if err == nil {
		err = e.addSpace(program, f.Size)
	}
	return f, err
}

// align aligns the start of a function.
func (e *emitter) align() {
	for len(e.text)%16 != 0 {
		e.text = append(e.text, 0)
	}
}

// addSpace adds the space after a function of a size in bytes that Options.SpaceAfter requests.
func (e *emitter) addSpace(table *cfi.Program, size uint64) error {
	if e.spaceAfter == nil {
		return nil
	}
	space, err := e.spaceAfter(table, size)
	e.text = append(e.text, make([]byte, space)...)
	return err
}

func (e *emitter) op(o *op) {
	e.at = o.at
	if e.unchecked++; e.unchecked >= uncheckedOps && o.code != opLabel {
		e.check()
	}
	switch o.code {
	case opLabel:
		e.labels[o.n] = len(e.text)
		e.frame.cfaOffset = e.body + e.machine.size(o.depth)
		e.machine.step(e) // a loop is a label and a branch back to it
		e.check()
	case opReturn:
		if e.unchecked > 1 {
			e.check()
		}
		frame := e.frame
		e.machine.epilogue(e)
		e.frame = frame // of the following code, which a branch reaches
	default:
		e.machine.op(e, o)
	}
}

func (e *emitter) check() {
	e.machine.check(e)
	e.unchecked = 0
}

// instruction appends code, and if necessary a row of the unwind table and a line.
func (e *emitter) instruction(code ...byte) {
	offset := uint64(len(e.text) - e.start)
	if e.frame != e.row {
		e.machine.rules(e, e.builder.At(offset), e.row, e.frame)
		e.row = e.frame
	}
	if n := len(e.lines); n == 0 || e.lines[n-1].Line != int(e.at.line) || e.lines[n-1].Column != int(e.at.column) {
		e.lines = append(e.lines, jit.Line{Offset: offset, File: e.file, Line: int(e.at.line), Column: int(e.at.column)})
	}
	e.text = append(e.text, code...)
}

// branch records that the next instruction branches to a label.
func (e *emitter) branch(label int64) {
	e.branches = append(e.branches, fixup{len(e.text), int(label)})
}

// call records that the next instruction calls a word.
func (e *emitter) call(word int64) {
	e.calls = append(e.calls, fixup{len(e.text), int(word)})
}

// failure records that the next instruction branches to a fault.
func (e *emitter) failure(code faultCode) {
	f := fault{code, e.at, e.frame}
	i := len(e.faults) - 1
	if i < 0 || e.faults[i] != f {
		e.faults = append(e.faults, f)
		i++
	}
	e.failing = append(e.failing, fixup{len(e.text), i})
}
