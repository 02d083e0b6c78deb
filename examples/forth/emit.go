// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// machine generates the code of ops for one machine. The machine's stack is the
// return stack.
type machine interface {
	// entry is the frame at a word's first instruction.
	entry() frame

	// prologue and epilogue begin and end a word. The epilogue removes what is
	// left of the word on the return stack, and returns.
	prologue(e *emitter)
	epilogue(e *emitter)

	// op is everything but opReturn and opLabel.
	op(e *emitter, o *op)

	// check fails where the data stack is too deep, or has less than nothing.
	check(e *emitter)

	// step counts down what a call may take, and fails below 0.
	step(e *emitter)

	// fail is where the branches of a check that failed lead to. It leaves all
	// words, back to where the host called the first.
	fail(e *emitter, code faultCode)

	// patch makes the branch or call at an offset into the text lead to target.
	patch(e *emitter, at, target int)

	// size is what items take on the return stack, in bytes.
	size(d depth) int64

	// stubs are the functions by which C code runs words.
	stubs() []stub

	// rules tells how the rules of the unwind table change from one frame to another.
	rules(e *emitter, b *cfi.Builder, from, to frame)
}

// frame is where a word's caller is found: what a row of the unwind table says.
type frame struct {
	// cfaOffset is the CFA minus the stack pointer, in bytes. The CFA is never
	// found by the frame pointer: what Go's linker says of its functions does not
	// tell where they saved it, and one may be on top of a word.
	cfaOffset int64

	// saved: the frame pointer (with FramePointers) and, on arm64, the return
	// address are on the stack.
	saved bool

	// left: all words are left, the stack pointer is the first one's again, and
	// the caller's frame pointer is lost.
	left bool
}

// faultCode is why code stopped; 0 where it did not.
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

// fixup is a branch whose target is not known yet.
type fixup struct {
	at     int // offset into the text
	target int // label, word, or index of a fault
}

// fault is a way out of a word that some of its checks take.
type fault struct {
	code  faultCode
	at    position
	frame frame
}

// uncheckedOps is how many ops go by without a check of the data stack. Each
// takes or leaves two cells at most, and the memory on both sides of the stack
// is there for them.
const uncheckedOps = 64

// emitter collects the code of words.
type emitter struct {
	machine    machine
	frames     bool                                       // options.FramePointers
	spaceAfter func(*cfi.Program, uint64) (uint64, error) // options.SpaceAfter
	cie        *cfi.CIE
	text       []byte

	// of the word
	start     int
	file      string
	builder   *cfi.Builder
	row       frame // that the unwind table has for what was emitted last
	frame     frame // that the next instruction has
	lines     []jit.Line
	at        position // of the next instruction
	labels    []int    // offsets into the text
	branches  []fixup  // to labels
	faults    []fault
	failing   []fixup // branches to faults
	unchecked int     // ops since the data stack was checked
	leaf      bool    // the word calls nothing
	body      int64   // the frame's cfaOffset where the return stack holds nothing
	err       error   // the first

	calls []fixup // to words, of the program
}

// program emits the words that TopLevel, and those that the source has, use.
func (e *emitter) program(words []*word) ([]jit.Function, error) {
	used := make([]bool, len(words))
	for i := len(words) - 1; i >= 0; i-- { // a word calls itself and earlier ones
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
	for len(e.text)%16 != 0 {
		e.text = append(e.text, 0)
	}
	e.start, e.file = len(e.text), w.file
	e.builder, e.lines = cfi.NewBuilder(e.cie), nil
	e.labels, e.branches = make([]int, w.labels), e.branches[:0]
	e.faults, e.failing = e.faults[:0], e.failing[:0]
	e.leaf = true
	for _, o := range w.ops {
		if o.code == opCall || o.code == opPause {
			e.leaf = false
		}
	}
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
	if err != nil || e.spaceAfter == nil {
		return f, err
	}
	space, err := e.spaceAfter(program, f.Size)
	e.text = append(e.text, make([]byte, space)...)
	return f, err
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
		before := e.frame
		e.machine.epilogue(e)
		e.frame = before // of what follows, which a branch leads to
	default:
		e.machine.op(e, o)
	}
}

func (e *emitter) check() {
	e.machine.check(e)
	e.unchecked = 0
}

// instruction appends code, after the row of the unwind table and the line that
// it begins.
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

// branch notes that the instruction emitted next branches to a label.
func (e *emitter) branch(label int64) {
	e.branches = append(e.branches, fixup{len(e.text), int(label)})
}

// call notes that the instruction emitted next calls a word.
func (e *emitter) call(word int64) {
	e.calls = append(e.calls, fixup{len(e.text), int(word)})
}

// failure notes that the instruction emitted next branches away with a fault.
func (e *emitter) failure(code faultCode) {
	f := fault{code, e.at, e.frame}
	i := len(e.faults) - 1
	if i < 0 || e.faults[i] != f {
		e.faults = append(e.faults, f)
		i++
	}
	e.failing = append(e.failing, fixup{len(e.text), i})
}
