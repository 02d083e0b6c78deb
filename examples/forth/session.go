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
	"sync"
	"unsafe"

	"github.com/clewdev/clew/jit"
)

// What ends a word before it returns. A *Fault wraps them.
var (
	ErrReturnStack = errors.New("the recursion is too deep")
	ErrDataStack   = errors.New("the data stack is full, or was taken from when it was empty")
	ErrSteps       = errors.New("out of steps")
	ErrDivision    = errors.New("division by zero")
	ErrAddress     = errors.New("an address outside of the data space")
	ErrOutput      = errors.New("too much output")
)

var errClosed = errors.New("the session is closed")

var faults = [...]error{
	faultReturnStack: ErrReturnStack, faultSteps: ErrSteps, faultDataStack: ErrDataStack,
	faultDivision: ErrDivision, faultAddress: ErrAddress, faultOutput: ErrOutput,
}

// Fault is why a word did not return, and where.
type Fault struct {
	Err  error  // ErrReturnStack and so on
	Word string // that it happened in
	Line jit.Line
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s:%d:%d: in %s: %v", f.Line.File, f.Line.Line, f.Line.Column, f.Word, f.Err)
}

func (f *Fault) Unwrap() error { return f.Err }

// SessionOptions says how a program runs. The zero value, like nil, is a program
// whose output goes nowhere and that does not pause.
type SessionOptions struct {
	// Output is what the program prints to, each time it returns to Go.
	Output io.Writer

	// MaxSteps is how many words a call may enter, and labels (turns of loops,
	// mostly) it may pass, before it ends with ErrSteps; 0 is without a limit.
	MaxSteps int64

	// Unpublished publishes nothing, for who gives the program to one tool alone.
	Unpublished bool

	// PerDefinition publishes each word as a batch of its own. Otherwise the
	// program is one batch.
	PerDefinition bool

	// The word pause writes Notice to Paused, and waits for a byte from Resume or
	// for its end. Without Resume it waits for nothing. The files are the
	// caller's, and must not be closed before the session.
	Paused, Resume *os.File
	Notice         string
}

// Sizes of what a session has besides its code, in bytes.
const (
	dataStackSize  = 64 << 10
	dataStackSlack = 4 << 10 // on both sides, see uncheckedOps
	outputSize     = 1 << 20
)

// Session is a program in memory, published through the publishers of package
// jit that this program has. Its methods may be called from several goroutines,
// of which one at a time runs words.
//
// While words run, their goroutine cannot be stopped: a garbage collection waits
// for them, and other goroutines may wait for it.
type Session struct {
	program *Program
	options SessionOptions
	failed  error // what publishers said

	mu        sync.Mutex
	state     *state
	code      *jit.Memory
	mapping   []byte // the data stack, the output and the data space, in this order
	stack     []byte // with its slack
	output    []byte
	published []*jit.Publication // one, or with PerDefinition one a function
	forgotten int                // index of the first function that is forgotten; those behind it are too
}

// Load copies a program to memory where it can run and publishes it. What a
// publisher says is in Session.Failed; an error is of Load itself, and wraps
// jit.ErrMemory where the system has no memory for code.
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

func address64(s *state) uint64 { return uint64(uintptr(unsafe.Pointer(s))) }

func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// descriptor returns a file's, or one that no file has.
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

// Failed returns what publishers that could not publish the program said, or nil.
func (s *Session) Failed() error { return s.failed }

// Address returns where the first byte of the program's Text is.
func (s *Session) Address() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code.Address()
}

// Run runs what the source has outside of definitions.
func (s *Session) Run() error {
	_, err := s.Call(TopLevel)
	return err
}

// Call runs a word with numbers on the data stack, the last on its top, and
// returns what it leaves there, the top last. An error of the word itself is a
// *Fault.
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

// prepare sets up the state for a call of a word.
func (s *Session) prepare(word string, arguments []int64) (*jit.Function, error) {
	if s.state == nil {
		return nil, errClosed
	}
	f := s.program.word(word)
	if f == nil || s.isForgotten(f) {
		return nil, fmt.Errorf("%s has no word %s", s.program.Name, word)
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
	return f, nil
}

// finish takes what a word that was left has made.
func (s *Session) finish() ([]int64, error) {
	err := s.flush()
	if st := s.state; st.fault != 0 {
		fault := &Fault{Err: faults[st.fault]}
		fault.Word, fault.Line = s.program.position(st.faultPC - s.code.Address())
		return nil, errors.Join(fault, err)
	}
	return s.numbers(s.state.dsp, s.state.tos), err
}

// flush writes what a word has printed.
func (s *Session) flush() (err error) {
	if s.options.Output != nil && s.state.outLength > 0 {
		_, err = s.options.Output.Write(s.output[:min(s.state.outLength, outputSize)])
	}
	s.state.outLength = 0
	return err
}

// cellAt returns the memory of the n-th cell from the bottom of the data stack.
// The lowest is whatever the top held when the stack was empty.
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

// numbers returns what is on the data stack.
func (s *Session) numbers(dsp, tos uint64) []int64 {
	numbers := make([]int64, (s.state.highest-dsp)/cell)
	top := tos
	for n := len(numbers) - 1; n >= 0; n-- {
		numbers[n] = int64(top)
		top = binary.LittleEndian.Uint64(s.cellAt(n))
	}
	return numbers
}

func (s *Session) isForgotten(f *jit.Function) bool {
	return f.Offset >= s.limit()
}

// limit is the offset that what is forgotten begins at.
func (s *Session) limit() uint64 {
	if s.forgotten < len(s.program.Functions) {
		return s.program.Functions[s.forgotten].Offset
	}
	return math.MaxUint64
}

// Forget withdraws a word and, as Forth does, all that were defined after it:
// tools no longer know them, and Call no longer runs them. An error is the
// publishers'.
func (s *Session) Forget(word string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == nil {
		return errClosed
	}
	f := s.program.word(word)
	if f == nil || s.isForgotten(f) {
		return fmt.Errorf("%s has no word %s", s.program.Name, word)
	}
	first := 0
	for &s.program.Functions[first] != f {
		first++
	}
	var failed error
	if s.options.PerDefinition {
		for i := s.forgotten - 1; i >= first; i-- {
			failed = errors.Join(failed, s.published[i].Withdraw())
		}
	} else {
		var indexes []int
		for i := first; i < s.forgotten; i++ {
			indexes = append(indexes, i)
		}
		failed = s.published[0].WithdrawFunctions(indexes...)
	}
	s.forgotten = first
	return failed
}

// Close withdraws the program and gives its memory back. It waits for a word
// that runs. Closing twice is no error.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed []error
	for i := len(s.published) - 1; i >= 0; i-- {
		failed = append(failed, s.published[i].Withdraw())
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
