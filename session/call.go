// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/clewdev/clew/session/internal/worker"
)

// Arguments are the arguments of a call, passed by the machine's C calling convention. Missing
// arguments are 0.
type Arguments struct {
	Words  []uint64  // up to 8 integers and pointers, in the order of the function's parameters
	Floats []float64 // up to 8 floating-point arguments; see Float32

	// StopAtEntry stops the session before the first instruction. The reason is AtBreakpoint if a
	// breakpoint there stops, otherwise AtEntry.
	StopAtEntry bool
}

const maxArguments = 8

// Float32 returns the element of Arguments.Floats that passes f as a float32.
func Float32(f float32) float64 { return math.Float64frombits(uint64(math.Float32bits(f))) }

// Call calls the function at an address of an image and returns at the first stop, at the latest
// when the function returns. A fault is a stop, not an error. The error wraps ErrRunning,
// ErrStopped, ErrArguments for more than 8 words, or ErrAddress for an address outside the images.
func (s *Session) Call(function uint64, words ...uint64) (*Stop, error) {
	return s.CallWith(function, Arguments{Words: words})
}

// CallWith is like [Session.Call], but can also pass floating-point numbers and stop at the entry.
func (s *Session) CallWith(function uint64, a Arguments) (*Stop, error) {
	return s.call(function, a, func(top uint64) uint64 { return top })
}

// checkCall checks the function and the arguments of a call.
func (s *Session) checkCall(function uint64, a Arguments) error {
	if len(a.Words) > maxArguments || len(a.Floats) > maxArguments {
		return fmt.Errorf("%d words and %d floating-point arguments (at most %d of each): %w", len(a.Words), len(a.Floats), maxArguments, ErrArguments)
	}
	if s.Image(function) == nil && !s.closed.Load() {
		return failure(ErrAddress, "%#x is in no image of the session", function)
	}
	return nil
}

// CallMain calls a function with the arguments of C's main: their number, an array of pointers to
// them, and an empty environment, all on the worker's stack. It uses only StopAtEntry of a.
func (s *Session) CallMain(function uint64, arguments []string, a Arguments) (*Stop, error) {
	size := 0
	for _, argument := range arguments {
		size += len(argument) + 1 + 8
	}
	if size > s.stackSize/2 {
		return nil, fmt.Errorf("arguments of %d bytes on a stack of %d: %w", size, s.stackSize, ErrArguments)
	}
	a.Words, a.Floats = make([]uint64, 3), nil
	return s.call(function, a, func(top uint64) uint64 {
		pointers := make([]uint64, len(arguments)+2) // argv ends with a null pointer, envp is one
		for n, argument := range arguments {
			top -= uint64(len(argument)) + 1
			text := memoryAt(top, uint64(len(argument))+1)
			text[copy(text, argument)] = 0
			pointers[n] = top
		}
		top = top&^7 - uint64(len(pointers))*8
		array := memoryAt(top, uint64(len(pointers))*8)
		for n, p := range pointers {
			s.machine.Order.PutUint64(array[n*8:], p)
		}
		a.Words[0], a.Words[1], a.Words[2] = uint64(len(arguments)), top, top+uint64(len(arguments)+1)*8
		return top
	})
}

// call starts a call. push stores the data to which arguments point on the stack, and returns the
// new top of the stack.
func (s *Session) call(function uint64, a Arguments, push func(top uint64) uint64) (*Stop, error) {
	if err := s.checkCall(function, a); err != nil {
		return nil, err
	}
	return s.run(whileFree, func() (*Stop, error) {
		if s.worker == nil {
			if err := s.startWorker(); err != nil {
				return nil, err
			}
		}
		if err := s.prepare(function, a, push); err != nil {
			return nil, err
		}
		return s.enterCall(function, a)
	})
}

// enterCall runs a function for which the worker is prepared.
func (s *Session) enterCall(function uint64, a Arguments) (*Stop, error) {
	if a.StopAtEntry {
		if s.isTrap(function) {
			if stop := s.atTrap(); stop != nil {
				return stop, nil
			}
		}
		return s.stopped(AtEntry), nil
	}
	return s.proceed()
}

// prepare sets the worker's registers and stack for a call.
func (s *Session) prepare(function uint64, a Arguments, push func(top uint64) uint64) error {
	if !reachable(func() {
		_, top := s.worker.Stack()
		s.pass(function, a, push(top), storeWord)
	}) {
		return errors.Join(failure(ErrAddress, "the code has unmapped or protected the stack of the session"), s.lose())
	}
	return s.enterFunction(a)
}

// enterFunction sets the rest of the worker's state for a call, after pass.
func (s *Session) enterFunction(a Arguments) error {
	s.in, s.considered, s.shown, s.matched = inSlot{}, 0, 0, nil
	s.worker.Moved()
	s.worker.Matches()
	if err := s.worker.SetFloats(a.Floats); err != nil && err != worker.ErrGone {
		return fmt.Errorf("setting the worker's vector registers: %w", err)
	}
	return nil
}

// pass sets the stack, from top downwards, and the general registers for a call. SetFloats sets the
// vector registers. store writes a word to the stack.
func (s *Session) pass(function uint64, a Arguments, top uint64, store func(address, word uint64) error) error {
	top &^= 15
	r := &s.registers
	r.Reset()
	var onStack [maxArguments]uint64
	n := 0
	for i := range maxArguments {
		word := uint64(0)
		if i < len(a.Words) {
			word = a.Words[i]
		}
		if !r.SetWord(i, word) {
			onStack[n] = word
			n++
		}
	}
	top = (top - uint64(n)*8) &^ 15
	for i, word := range onStack[:n] {
		if err := store(top+uint64(i)*8, word); err != nil {
			return err
		}
	}
	r.SetSP(top)
	slot := r.SetReturn(returnAddress(s.returns))
	if slot == 0 {
		slot = top - 8 // the write only checks that the stack is mapped
	}
	r.SetVectors(len(a.Floats))
	r.Enter(function)
	return store(slot, returnAddress(s.returns))
}

// storeWord stores a word in memory that is mapped.
func storeWord(address, word uint64) error {
	binary.NativeEndian.PutUint64(memoryAt(address, 8), word)
	return nil
}

// writeWord stores a word in memory that need not be mapped.
func writeWord(address, word uint64) error {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], word)
	_, err := writeProcess(b[:], address)
	return err
}

// run executes f on the controlling thread if check accepts the current state. f runs code and
// returns the stop at which that ends.
func (s *Session) run(check func(State) error, f func() (*Stop, error)) (*Stop, error) {
	s.mu.Lock()
	if err := check(s.state); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	if s.thread != 0 && thisThread() != s.thread {
		s.mu.Unlock()
		return nil, ErrThread
	}
	before := s.state
	s.state, s.aborted = Running, false
	s.interrupted.Store(false)
	var stop *Stop
	err := errGoexit // unless f returns
	if len(s.breakpoints.watches) > 0 {
		run := f
		f = func() (*Stop, error) {
			s.refreshWatchpoints()
			return run()
		}
	}
	s.running, s.latest = true, &outcome{}
	if s.thread != 0 {
		s.mu.Unlock()
		defer func() {
			if err == errGoexit { // or a panic: both pass through here
				s.lose()
				s.mu.Lock()
				defer s.mu.Unlock()
				s.finish(before, nil, err)
			}
		}()
		stop, err = f()
	} else {
		s.work <- func() { stop, err = f() }
		s.mu.Unlock()
		s.await()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finish(before, stop, err)
}

// Waking a sleeping thread takes longer than a short call if its processor belongs to a virtual
// machine and sleeps too. So the caller and the controlling thread poll for a while before they
// sleep, and yield their processors between polls.
const (
	answerSoon = 100 * time.Microsecond // a few times the duration of a short call
	workSoon   = 50 * time.Microsecond
)

// await waits until the controlling thread has finished its work.
func (s *Session) await() {
	for begin := time.Now(); len(s.ack) == 0 && time.Since(begin) < answerSoon; {
		runtime.Gosched()
		yieldThread()
	}
	<-s.ack
}

// lookForWork polls for the next work for a while.
func (s *Session) lookForWork() {
	if runtime.GOMAXPROCS(0) == 1 {
		return // a locked goroutine yields its processor to the caller only by sleeping
	}
	for begin := time.Now(); len(s.work) == 0 && time.Since(begin) < workSoon; {
		yieldThread()
	}
}

// outcome is the result of a run. Goroutines other than the one that runs it may wait for it.
type outcome struct {
	stop *Stop
	err  error
	over bool
}

// finish ends a run. The caller holds mu.
func (s *Session) finish(before State, stop *Stop, err error) (*Stop, error) {
	s.internals = s.dropInternals()
	s.running = false
	stop, err = s.conclude(before, stop, err)
	*s.latest = outcome{stop, err, true}
	s.changed.Broadcast()
	return stop, err
}

// conclude sets the state that a run leads to.
func (s *Session) conclude(before State, stop *Stop, err error) (*Stop, error) {
	if s.state == Closed {
		return nil, ErrClosed
	}
	if err != nil {
		// Nothing ran, or the worker is lost.
		s.state = before
		if s.worker == nil {
			s.state, s.nested = Exited, nil
		}
		return nil, err
	}
	if s.aborted && stop.Reason.Kind() != KindExit {
		stop = s.leave()
	}
	if err := s.settle(stop); err != nil {
		return nil, err
	}
	return stop, nil
}

// settle sets the state of the session after a stop.
func (s *Session) settle(stop *Stop) error {
	switch {
	case stop.Reason.Kind() != KindExit:
		if s.inline.stop != stop {
			s.inline = inlineState{stop: stop}
		}
		s.state, s.at = Stopped, stop
	case stop.Reason != ExitedProcess && len(s.nested) > 0:
		if err := s.leaveNested(stop); err != nil {
			return err
		}
		s.state, s.at = Stopped, stop.Outer
	default:
		s.state, s.at, s.nested = Exited, nil, nil
	}
	return nil
}

// leave ends the current call without returning from its functions.
func (s *Session) leave() *Stop {
	s.registers.Reset()
	s.registers.Enter(returnAddress(s.returns))
	s.in, s.considered = inSlot{}, 0
	return &Stop{Reason: Aborted, ExitCode: -1}
}
