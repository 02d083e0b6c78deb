// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/clewdev/clew/jit"
)

// Reasons why a word does not return. A *Fault wraps them.
var (
	ErrReturnStack = errors.New("the recursion is too deep")
	ErrDataStack   = errors.New("overflow or underflow of the data stack")
	ErrSteps       = errors.New("out of steps")
	ErrDivision    = errors.New("division by zero")
	ErrAddress     = errors.New("an address outside the data space")
	ErrOutput      = errors.New("too much output")
)

var errClosed = errors.New("the session is closed")

var faults = [...]error{
	faultReturnStack: ErrReturnStack, faultSteps: ErrSteps, faultDataStack: ErrDataStack,
	faultDivision: ErrDivision, faultAddress: ErrAddress, faultOutput: ErrOutput,
}

// Fault is the error of a word that does not return.
type Fault struct {
	Err  error  // ErrReturnStack and so on
	Word string // with the fault
	Line jit.Line
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s:%d:%d: in %s: %v", f.Line.File, f.Line.Line, f.Line.Column, f.Word, f.Err)
}

func (f *Fault) Unwrap() error { return f.Err }

// SessionOptions are the options of Load. With the zero value or nil, output is discarded and the
// program does not pause.
type SessionOptions struct {
	// Output receives the program's output each time the program returns to Go.
	Output io.Writer

	// MaxSteps limits the words that a call may enter plus the labels that it may pass (mostly turns
	// of loops). The call then ends with ErrSteps. 0 is no limit.
	MaxSteps int64

	// Unpublished publishes nothing, for callers that pass the program to only one tool.
	Unpublished bool

	// PerDefinition publishes each word as a batch. Otherwise the whole program is one batch.
	PerDefinition bool

	// The word pause writes Notice to Paused, and waits for a byte from Resume or its end. Without
	// Resume it does not wait. The caller owns the files, and must close them after the session.
	Paused, Resume *os.File
	Notice         string
}

// Sizes of a session's data, in bytes.
const (
	dataStackSize  = 64 << 10
	dataStackSlack = 4 << 10 // on both sides, see uncheckedOps
	outputSize     = 1 << 20
)

// Session is a program in memory, published through the registered publishers of package jit. Its
// methods may be called from several goroutines; one at a time runs words.
//
// The goroutine that runs words cannot be stopped: a garbage collection waits for it, and other
// goroutines may wait for the collection.
type Session struct {
	program *Program
	options SessionOptions
	failed  error // of publishers

	mu        sync.Mutex
	state     *state
	code      *jit.Memory
	mapping   []byte // the data stack, the output and the data space, in this order
	stack     []byte // with its slack
	output    []byte
	published []*jit.Publication // one, or with PerDefinition one for each function
	forgotten int                // index of the first forgotten function; all after it are forgotten too
}

// Load copies a program to executable memory and publishes it. Errors of publishers are in
// Session.Failed. The error wraps jit.ErrMemory if the system has no memory for code.
func Load(p *Program, options *SessionOptions) (*Session, error) {
	if p.Machine != jit.Host() {
		return nil, fmt.Errorf("%s is compiled for %s, and this machine is %s", p.Name, p.Machine.Name, machineName(jit.Host()))
	}
	s := &Session{program: p, forgotten: len(p.Functions)}
	if options != nil {
		s.options = *options
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Session) load() error {
	var err error
	if s.code, err = jit.NewMemory(len(s.program.Text)); err != nil {
		return err
	}
	copy(s.code.Bytes(), s.program.Text)
	if err := s.code.Seal(); err != nil {
		return err
	}
	var memory []byte
	data := max(len(s.program.Data), cell)
	s.mapping, memory, err = mapMemory(dataStackSize + outputSize + len(s.options.Notice) + data)
	if err != nil {
		return fmt.Errorf("memory for data: %w", err)
	}
	take := func(n int) []byte {
		part := memory[:n:n]
		memory = memory[n:]
		return part
	}
	s.stack, s.output = take(dataStackSize), take(outputSize)
	space := take(data)
	copy(space, s.program.Data)
	notice := take(len(s.options.Notice))
	copy(notice, s.options.Notice)
	s.state = &state{
		lowest:   address(s.stack) + dataStackSlack,
		highest:  address(s.stack) + dataStackSize - dataStackSlack,
		data:     address(space),
		lastCell: uint64(data - cell), lastByte: uint64(data - 1),
		out: address(s.output), outCapacity: outputSize,
		paused: descriptor(s.options.Paused), resume: descriptor(s.options.Resume),
		notice: address(notice), noticeSize: uint64(len(notice)),
	}
	if s.options.Unpublished {
		return nil
	}
	return s.publish()
}

func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// descriptor returns the descriptor of a file, or an invalid one for nil.
func descriptor(f *os.File) uint64 {
	if f == nil {
		return math.MaxUint64
	}
	return uint64(f.Fd())
}

func (s *Session) publish() error {
	whole := s.program.Code(s.code.Address(), s.code.Bytes()[:len(s.program.Text)])
	batches := []*jit.Code{whole}
	if s.options.PerDefinition {
		batches = batches[:0]
		for _, f := range whole.Functions {
			code := *whole
			code.Address, code.Text = whole.Start(&f), whole.Bytes(&f)
			f.Offset = 0
			code.Functions = []jit.Function{f}
			batches = append(batches, &code)
		}
	}
	for _, code := range batches {
		p, err := jit.Publish(code)
		if err != nil {
			return err
		}
		s.published = append(s.published, p)
		s.failed = errors.Join(s.failed, p.Failed())
	}
	return nil
}

// Failed returns the errors of publishers that could not publish the program, or nil.
func (s *Session) Failed() error { return s.failed }

// Address returns the address of the program's Text.
func (s *Session) Address() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code.Address()
}

// Run runs the code outside definitions.
func (s *Session) Run() error {
	_, err := s.Call(TopLevel)
	return err
}

// Call runs a word with arguments on the data stack, the last on top, and returns the numbers that it
// leaves there, the top last. An error of the word is a *Fault.
func (s *Session) Call(word string, arguments ...int64) ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.prepare(word, arguments)
	if err != nil {
		return nil, err
	}
	call(s.state, s.code.Address()+f.Offset)
	runtime.KeepAlive(s)
	return s.finish()
}

// word returns the index of a word that is not forgotten in the program's functions.
func (s *Session) word(name string) (int, error) {
	if s.state == nil {
		return 0, errClosed
	}
	n := s.program.word(name)
	if n < 0 || n >= s.forgotten {
		return 0, fmt.Errorf("%s has no word %s", s.program.Name, name)
	}
	return n, nil
}

// prepare sets up the state for a call of a word.
func (s *Session) prepare(word string, arguments []int64) (*jit.Function, error) {
	n, err := s.word(word)
	if err != nil {
		return nil, err
	}
	st := s.state
	if uint64(len(arguments)) > (st.highest-st.lowest)/cell {
		return nil, fmt.Errorf("%d arguments: %w", len(arguments), ErrDataStack)
	}
	s.put(arguments)
	st.steps = math.MaxInt64
	if s.options.MaxSteps > 0 {
		st.steps = s.options.MaxSteps
	}
	st.fault, st.faultPC, st.outLength = 0, 0, 0
	return &s.program.Functions[n], nil
}

// finish writes the output and returns the results of a word that has ended.
func (s *Session) finish() ([]int64, error) {
	err := s.flush()
	if st := s.state; st.fault != 0 {
		fault := &Fault{Err: faults[st.fault]}
		fault.Word, fault.Line = s.program.position(st.faultPC - s.code.Address())
		return nil, errors.Join(fault, err)
	}
	return s.numbers(s.state.dsp, s.state.tos), err
}

// flush writes the output of a word.
func (s *Session) flush() (err error) {
	if s.options.Output != nil && s.state.outLength > 0 {
		_, err = s.options.Output.Write(s.output[:min(s.state.outLength, outputSize)])
	}
	s.state.outLength = 0
	return err
}

// cellAt returns the memory of the n-th cell from the bottom of the data stack. Cell 0 is not an item:
// it has the value of the top register while the stack was empty.
func (s *Session) cellAt(n int) []byte {
	return s.stack[dataStackSize-dataStackSlack-(n+1)*cell:][:cell]
}

func (s *Session) put(numbers []int64) {
	top := int64(0)
	for n, number := range numbers {
		binary.LittleEndian.PutUint64(s.cellAt(n), uint64(top))
		top = number
	}
	s.state.dsp = s.state.highest - uint64(len(numbers))*cell
	s.state.tos = uint64(top)
}

// numbers returns the items of the data stack.
func (s *Session) numbers(dsp, tos uint64) []int64 {
	numbers := make([]int64, (s.state.highest-dsp)/cell)
	top := tos
	for n := len(numbers) - 1; n >= 0; n-- {
		numbers[n] = int64(top)
		top = binary.LittleEndian.Uint64(s.cellAt(n))
	}
	return numbers
}

// Forget withdraws a word and, as Forth does, all words that were defined after it: tools no longer know
// them, and Call no longer runs them. The error is that of the publishers.
func (s *Session) Forget(word string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, err := s.word(word)
	if err != nil {
		return err
	}
	var failed error
	var indexes []int
	for i := first; i < s.forgotten; i++ {
		indexes = append(indexes, i)
	}
	if s.options.PerDefinition {
		for _, i := range slices.Backward(indexes) {
			failed = errors.Join(failed, s.published[i].Withdraw())
		}
	} else {
		failed = s.published[0].WithdrawFunctions(indexes...)
	}
	s.forgotten = first
	return failed
}

// Close withdraws the program and frees its memory. It waits for a running word. A second call does
// nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed []error
	for _, p := range slices.Backward(s.published) {
		failed = append(failed, p.Withdraw())
	}
	s.published, s.state = nil, nil
	if s.code != nil {
		failed = append(failed, s.code.Close())
	}
	if s.mapping != nil {
		failed = append(failed, unmapMemory(s.mapping))
		s.mapping, s.stack, s.output = nil, nil, nil
	}
	return errors.Join(failed...)
}
