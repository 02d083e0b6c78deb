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

	// Locked makes the calling goroutine's thread control the session. The goroutine must be
	// locked to its thread (runtime.LockOSThread) until it has closed the session. Otherwise the
	// session has its own thread, and each call and resume costs two switches between threads, as
	// much as the rest of a single step. With Locked, only this goroutine may run code or access
	// registers other than the general ones; the others get ErrThread. A program that replaces
	// itself (execve) on that thread must close the session first, or the worker remains.
	Locked bool
}

const defaultStackSize = 1 << 20

// Session runs functions of its images in a worker. Its methods may be called from several
// goroutines. While one of them runs code, the others return ErrRunning, except Interrupt, Abort,
// State, Close, and those for breakpoints and memory.
type Session struct {
	machine   *arch.Machine
	stackSize int
	returns   *Image // see returnImage
	imageList atomic.Pointer[[]*Image]
	closed    atomic.Bool

	interrupted atomic.Bool // Interrupt was called for this run

	// One thread makes all calls of the worker: with Options.Locked that of the program's
	// goroutine, otherwise that of the goroutine that runs serve. serve runs the functions from
	// work one by one and sends to ack after each. Only the holder of mu sends to work.
	thread         int // ID, with Options.Locked
	work           chan func()
	ack            chan struct{}
	ended          chan struct{} // closed when serve has ended
	over           chan struct{} // closed when Close has ended
	restoreSIGCHLD func()

	mu          sync.Mutex
	changed     sync.Cond // a run has ended
	state       State
	running     bool     // a goroutine is in run
	aborted     bool     // Abort was called for this run
	latest      *outcome // of the current or last run
	breakpoints breakpointTable

	// The fields below belong to the controlling goroutine while state is Running, otherwise to
	// the holder of mu.
	worker     *worker.Worker
	registers  worker.General // with original addresses, as callers see them
	kernel     worker.General // with addresses in slots, as the kernel has them
	shown      uint64         // PC of registers at the last stop
	in         inSlot
	considered uint64 // address of a trap that has been handled: a resume passes it
	internals  []internal
	matched    []any // watchpoints and hardware breakpoints that atWatchpoint has to handle
	inline     inlineState
	at         *Stop        // at which the session is stopped
	nested     []*suspended // the stopped calls outside of nested calls, outermost first
	hit        Frame        // for conditions
	walker     walker
}

// New starts a session. Its worker is a process that lives until Close or until this program ends.
// The error wraps ErrPermission if the system does not allow that, and errors.ErrUnsupported on
// machines that the package does not support.
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
	s.restoreSIGCHLD = sigchld.Quiet()
	if o.Locked {
		s.thread = thisThread()
		close(s.ended)
		err = s.startWorker()
	} else {
		s.work, s.ack = make(chan func(), 1), make(chan struct{}, 1)
		started := make(chan error)
		go func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			err := s.startWorker()
			started <- err
			if err == nil {
				s.serve()
			}
		}()
		err = <-started
	}
	if err != nil {
		s.restoreSIGCHLD()
		s.releaseImages()
		return nil, err
	}
	return s, nil
}

// serve runs the functions from work. If a host function or condition ends the goroutine
// (runtime.Goexit), the thread and the worker end too; the next call gets new ones.
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

// startWorker starts the worker, or another one after the previous has ended.
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

// initTLS initializes an image's thread-local variables in the worker.
func (s *Session) initTLS(i *Image) {
	if s.worker == nil || i.program == nil || i.program.TLS == nil {
		return
	}
	t := i.program.TLS
	block := memoryAt(s.worker.ThreadPointer()+uint64(t.Offset), t.Size)
	clear(block[copy(block, t.Image):])
}

// do runs f on the controlling thread. The caller holds mu, and the session does not run.
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
// releases everything but the images. A running call or resume returns ErrClosed. Close waits for
// it, also while it is in a host function. A second Close waits for the first and returns nil.
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
	s.restoreSIGCHLD()
	s.walker.closeSurroundings()
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

// Images returns the images of the session, in the order in which they were added. The caller owns
// the slice.
func (s *Session) Images() []*Image { return slices.Clone(s.images()) }

// AddImage adds an image. The error wraps ErrInUse if the session already has it.
func (s *Session) AddImage(i *Image) error {
	if i == nil {
		return fmt.Errorf("the image is nil: %w", ErrArguments)
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

// RemoveImage removes an image, and the session's breakpoints in it. The error wraps ErrRunning or
// ErrStopped in these states, and ErrNotFound if the session does not have the image.
func (s *Session) RemoveImage(i *Image) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := whileFree(s.state); err != nil {
		return err
	}
	if !slices.Contains(s.images(), i) {
		return fmt.Errorf("image %s: %w", i.name, ErrNotFound)
	}
	err := s.breakpoints.leave(s, i)
	images := without(s.images(), i)
	s.imageList.Store(&images)
	i.release()
	return err
}

// Image returns the image with the code at an address, or nil.
func (s *Session) Image(address uint64) *Image {
	for _, i := range s.images() {
		if i.Contains(address) {
			return i
		}
	}
	return nil
}

// Symbol returns the address of a function or of data, in the first image that has the name.
func (s *Session) Symbol(name string) (address uint64, ok bool) { return lookUp(s.images(), name) }
