// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import "errors"

var errNotYet = errors.New("not yet")

// Options says what a session has.
type Options struct {
	// Images that the session can call and knows. More can be added later.
	Images []*Image

	// StackSize is the size of the stack that the code runs on, in bytes; 0 is 1 MiB.
	StackSize int
}

// Session runs functions of its images in a worker. Its methods may be called
// from several goroutines; those that run code, from one at a time: the others
// get ErrRunning, apart from Interrupt, State, Close, and reading and writing
// of memory.
type Session struct{}

// New starts a session. Its worker is a process and lives until Close, or until
// this program ends, however it ends.
func New(o *Options) (*Session, error) { return nil, errNotYet }

// Close kills the worker in whatever state the session is, removes the session's
// breakpoints, and gives back all that it holds but the images. Closing twice is
// no error.
func (s *Session) Close() error { return errNotYet }

// State returns what the session does.
func (s *Session) State() State { return Idle }

// PID returns the process of the worker, 0 where there is none at the moment.
func (s *Session) PID() int { return 0 }

// Images returns the images of the session, in the order in which they came.
func (s *Session) Images() []*Image { return nil }

// AddImage adds an image.
func (s *Session) AddImage(i *Image) error { return errNotYet }

// RemoveImage takes an image away, and the session's breakpoints in it.
func (s *Session) RemoveImage(i *Image) error { return errNotYet }

// Image returns the image that holds the code at an address, or nil.
func (s *Session) Image(address uint64) *Image { return nil }

// Symbol returns the address of a function or of data of the images, in their order.
func (s *Session) Symbol(name string) (address uint64, ok bool) { return 0, false }
