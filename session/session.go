// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/sigchld"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session/internal/worker"
)

// Options configure a session.
type Options struct {
	// Images that the session can call and knows. More can be added later.
	Images []*Image

	// StackSize is the size of the stack that the code runs on, in bytes; 0 is 1 MiB.
	StackSize int

	// Locked says that the calling goroutine is locked to its thread (runtime.LockOSThread),
	// and stays so until it has closed the session: this thread then controls the session.
	// Otherwise the session has its own thread, and each call and resume costs two switches
	// between threads, as much as the rest of a single step. With Locked, only this goroutine
	// may run code or access registers other than the general ones; the others get ErrThread. A
	// program that replaces itself (execve) on that thread must close the session first:
	// otherwise the worker would stay.
	Locked bool
}

const defaultStackSize = 1 << 20

// Session runs functions of its images in a worker. Its methods may be called
// from several goroutines; those that run code, from one at a time: the others
// get ErrRunning, apart from Interrupt, Abort, State, Close, breakpoints, and
// reading and writing of memory.
type Session struct {
	machine   *arch.Machine
	stackSize int
	returns   *Image // see returnImage
	imageList atomic.Pointer[[]*Image]
	closed    atomic.Bool

	interrupted atomic.Bool // Interrupt was called for this run

	// All calls of the worker are made on one thread. With Options.Locked it is
	// that of the program's goroutine, else that of a goroutine of the session's,
	// which runs what comes through work, one function at a time, and answers each
	// through ack. Sending needs mu.
	thread int // with Options.Locked
	work   chan func()
	ack    chan struct{}
	ended  chan struct{} // the goroutine
	over   chan struct{} // what Close does
	loud   func()        // lets stops be signalled again

	mu          sync.Mutex
	changed     sync.Cond // a run has ended
	state       State
	running     bool     // somebody is in run
	aborted     bool     // Abort was called for this run
	latest      *outcome // of the run, or the last one
	breakpoints breakpointTable

	// The fields below belong to that goroutine while state is Running, otherwise to the holder
	// of mu.
	worker     *worker.Worker
	registers  worker.General // as they are shown
	kernel     worker.General // as the worker has them
	shown      uint64         // the program counter as it was shown at the last stop
	in         inSlot
	considered uint64 // the trap here was looked at: to go on means to pass it
	internals  []internal
	met        []any // watchpoints and hardware breakpoints, not asked yet
	inline     inlineState
	hit        Frame // for conditions
	walker     walker
}

// New starts a session. Its worker is a process and lives until Close, or until
// this program ends, however it ends. The error wraps ErrPermission where the
// system does not allow that, and errors.ErrUnsupported on machines that the
// package does not know.
func New(o *Options) (*Session, error) {
	if o == nil {
		o = &Options{}
	}
	if o.StackSize < 0 || uint64(o.StackSize) > 1<<40 {
		return nil, fmt.Errorf("a stack of %d bytes: %w", o.StackSize, ErrArguments)
	}
	returns, err := returnImage()
	if err != nil {
		return nil, fmt.Errorf("a session on this machine: %w", err)
	}
	s := &Session{machine: jit.Host(), stackSize: o.StackSize, returns: returns,
		ended: make(chan struct{}), over: make(chan struct{})}
	if s.stackSize == 0 {
		s.stackSize = defaultStackSize
	}
	s.changed.L = &s.mu
	s.imageList.Store(&[]*Image{})
	for n, i := range o.Images {
		if i == nil {
			err = fmt.Errorf("image %d is nil: %w", n, ErrArguments)
		} else {
			err = s.AddImage(i)
		}
		if err != nil {
			s.releaseImages()
			return nil, err
		}
	}
	s.loud = sigchld.Quiet()
	if o.Locked {
		s.thread = thisThread()
		close(s.ended)
		err = s.startWorker()
	} else {
		s.work, s.ack = make(chan func(), 1), make(chan struct{}, 1)
		started := make(chan error)
		go s.trace(started)
		err = <-started
	}
	if err != nil {
		s.loud()
		s.releaseImages()
		return nil, err
	}
	return s, nil
}

// trace is the goroutine that controls the worker. Its thread ends with it.
func (s *Session) trace(started chan<- error) {
	runtime.LockOSThread()
	err := s.startWorker()
	started <- err
	if err != nil {
		return
	}
	s.serve()
}

// serve runs what comes through work. A host function or condition that ends its
// goroutine (runtime.Goexit) takes the thread along, and with it the worker: the
// next call has others.
func (s *Session) serve() {
	over := false
	defer func() {
		if s.worker != nil {
			s.worker.Close()
		}
		if over {
			close(s.ended)
			return
		}
		s.mu.Lock()
		s.worker = nil
		s.mu.Unlock()
		go func() {
			runtime.LockOSThread()
			s.serve()
		}()
		s.ack <- struct{}{}
	}()
	for f := range s.work {
		f()
		s.ack <- struct{}{}
		s.lookForWork()
	}
	over = true
}

// startWorker starts a worker for the next call.
func (s *Session) startWorker() error {
	w, err := worker.Start(worker.Options{StackSize: s.stackSize})
	if err != nil {
		return explain(err)
	}
	if err := w.Registers(&s.kernel); err != nil {
		w.Close()
		return fmt.Errorf("reading the worker's registers: %w", err)
	}
	s.registers = s.kernel
	s.in = inSlot{}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worker = w
	w.Pass = s.passSequence
	for _, i := range s.images() {
		s.initTLS(i)
	}
	// Close could not signal the worker before it existed.
	if s.state == Closed {
		return ErrClosed
	}
	if s.interrupted.Load() {
		w.Interrupt()
	}
	return s.armHardware()
}

// initTLS gives the worker an image's thread-local variables.
func (s *Session) initTLS(i *Image) {
	if s.worker == nil || i.program == nil || i.program.TLS == nil {
		return
	}
	t := i.program.TLS
	block := memoryAt(s.worker.ThreadPointer()+uint64(t.Offset), t.Size)
	clear(block[copy(block, t.Image):])
}

// do runs f on the controlling thread. The caller holds mu, and the session does
// not run.
func (s *Session) do(f func()) error {
	if s.thread != 0 {
		if thisThread() != s.thread {
			return ErrThread
		}
		f()
		return nil
	}
	s.work <- f
	s.await()
	return nil
}

// Close kills the worker in any state of the session, removes the session's breakpoints, and
// releases everything but the images. A call or resume that runs returns ErrClosed. Close waits
// for it, and for a host function that it may be in. Closing twice is not an error; the second
// Close waits for the first to end.
func (s *Session) Close() error {
	s.mu.Lock()
	if s.state == Closed {
		s.mu.Unlock()
		<-s.over
		return nil
	}
	defer close(s.over)
	if s.running && s.worker != nil {
		s.worker.Kill()
	}
	s.state = Closed
	s.closed.Store(true)
	err := s.breakpoints.clear(s)
	for s.running {
		s.changed.Wait()
	}
	s.mu.Unlock()
	if s.thread == 0 {
		close(s.work)
	} else if s.worker != nil {
		err = errors.Join(err, s.worker.Close())
	}
	<-s.ended
	s.loud()
	s.walker.leave()
	s.releaseImages()
	return err
}

func (s *Session) releaseImages() {
	for _, i := range *s.imageList.Swap(&[]*Image{}) {
		i.release()
	}
}

// State returns the state of the session.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// PID returns the process ID of the worker, or 0 while there is no worker.
func (s *Session) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == Closed || s.worker == nil {
		return 0
	}
	return s.worker.PID()
}

func (s *Session) images() []*Image { return *s.imageList.Load() }

// Images returns the images of the session, in the order in which they came.
func (s *Session) Images() []*Image { return slices.Clone(s.images()) }

// AddImage adds an image.
func (s *Session) AddImage(i *Image) error {
	if i == nil {
		return fmt.Errorf("an image that is nil: %w", ErrArguments)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == Closed {
		return ErrClosed
	}
	if slices.Contains(s.images(), i) {
		return failure(ErrInUse, "image %s was added already", i.name)
	}
	if err := i.use(); err != nil {
		return err
	}
	added := append(slices.Clone(s.images()), i)
	s.imageList.Store(&added)
	s.initTLS(i)
	return nil
}

// RemoveImage takes an image away, and the session's breakpoints in it. The error
// wraps ErrRunning or ErrStopped in these states, and ErrNotFound.
func (s *Session) RemoveImage(i *Image) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case Closed:
		return ErrClosed
	case Running:
		return ErrRunning
	case Stopped:
		return ErrStopped
	}
	n := slices.Index(s.images(), i)
	if n < 0 {
		return fmt.Errorf("image %s: %w", i.name, ErrNotFound)
	}
	err := s.breakpoints.leave(s, i)
	left := slices.Delete(slices.Clone(s.images()), n, n+1)
	s.imageList.Store(&left)
	i.release()
	return err
}

// Image returns the image that holds the code at an address, or nil.
func (s *Session) Image(address uint64) *Image {
	for _, i := range s.images() {
		if i.Contains(address) {
			return i
		}
	}
	return nil
}

// Symbol returns the address of a function or of data of the images, in their order.
func (s *Session) Symbol(name string) (address uint64, ok bool) {
	for _, i := range s.images() {
		if address, ok := i.Symbol(name); ok {
			return address, true
		}
	}
	return 0, false
}
