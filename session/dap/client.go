// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value/print"
)

// client is a connection and the state of its editor. Its loop answers requests and reports
// stops, one at a time. The code runs on another goroutine, see Target.drive.
type client struct {
	server     *Server
	connection *connection
	target     *Target  // nil before launch or attach
	program    *Program // nil unless launched
	printer    print.Printer

	requests chan received
	readErr  error // the reason why requests was closed
	reports  chan outcome
	resume   chan operation
	gone     chan struct{}  // closed when the client has gone
	aborts   bool           // then abort a stopped call; set before gone is closed
	driving  sync.WaitGroup // the goroutine of start
	done     chan struct{}  // closed when the goroutine of start has ended

	stopOnEntry atomic.Bool
	pausing     atomic.Bool // the user wants an interrupt to be a stop
	waiting     atomic.Bool // the loop waits in whileInterrupted
	pending     struct {    // functions that wait for a stop
		sync.Mutex
		list []func()
	}
	cancelled struct {
		sync.Mutex
		requests map[int]bool // by sequence number
		handled  int          // the highest sequence number of a request that was handled
	}

	// Only the loop uses the following fields.

	content    []byte // of the current request
	sequence   int    // its sequence number
	lines      int    // number of the first line: 0 or 1
	columns    int    // number of the first column
	configured bool
	running    bool // a call that has not stopped
	plain      bool // running, but not in a step
	restarting bool
	aborting   bool // the call and those that are nested in it
	nested     nested
	ended      bool // terminated was sent
	leaving    bool
	farewell   dap.Message   // sent when another client can be served, or nil
	stop       *session.Stop // the last, nil while code runs
	exceptions bool

	frames      *frontend.Frames // of the stop, nil before launch or attach
	stops       int              // number of stops, for the IDs of frames
	base        int              // the first reference of this stop; references are not reused
	containers  []container
	targets     []uint64 // of goto
	breakpoints *frontend.Breakpoints[editorBreakpoint]
	paths       map[string]string      // the client's paths of files, by path in debugging information
	files       map[string]*dap.Source // by path in debugging information
	sources     []string               // paths of the sources without a file; the reference is the index from 1
	values      *frontend.Values
	calls       *frontend.Calls
}

// received is a request and its encoded form.
type received struct {
	message dap.RequestMessage
	content []byte
}

func newClient(s *Server, stream io.ReadWriteCloser) *client {
	c := &client{server: s, connection: newConnection(stream), lines: 1, columns: 1, base: 1, exceptions: true,
		requests: make(chan received), reports: make(chan outcome), resume: make(chan operation), gone: make(chan struct{}),
		paths: map[string]string{}, files: map[string]*dap.Source{}}
	c.cancelled.requests = map[int]bool{}
	return c
}

// serve answers requests until the client disconnects.
func (c *client) serve() error {
	go c.read()
	first, err := c.begin()
	if first == nil || err != nil {
		close(c.gone)
		c.connection.close()
		for range c.requests { // the reader ends with the connection
		}
		return errors.Join(err, c.broken())
	}
	c.content = first.content
	c.handle(first.message)
	for !c.leaving {
		select {
		case r, ok := <-c.requests:
			if !ok {
				c.disconnected()
				break
			}
			c.content = r.content
			c.handle(r.message)
		case r := <-c.reports:
			c.report(r)
		}
	}
	err = c.leave()
	c.server.free(c)
	if c.farewell != nil {
		c.connection.write(c.farewell)
	}
	c.connection.close()
	for range c.requests { // the reader ends with the connection
	}
	return errors.Join(c.broken(), err)
}

// disconnected ends the service of a client whose connection has ended.
func (c *client) disconnected() {
	c.aborts = c.program != nil
	c.leaving = true
}

// begin waits for the client's initialize request, makes it the client that is served, and
// returns the request. It returns nil if the client goes away first.
func (c *client) begin() (*received, error) {
	for r := range c.requests {
		if _, ok := r.message.(*dap.InitializeRequest); !ok {
			c.connection.write(refusal(r.message, ErrFirst))
			continue
		}
		if err := c.server.take(c); err != nil {
			c.connection.refuse(r.message, err)
			return nil, err
		}
		return &r, nil
	}
	return nil, nil
}

// broken returns the error that ended the connection, nil if the client or Close ended it.
// The reader must have ended.
func (c *client) broken() error {
	if errors.Is(c.readErr, io.EOF) || errors.Is(c.readErr, os.ErrClosed) || errors.Is(c.readErr, io.ErrClosedPipe) {
		return nil
	}
	return c.readErr
}

// read passes requests to the loop. It records cancelled requests first.
func (c *client) read() {
	defer close(c.requests)
	for {
		content, err := c.connection.read()
		if err != nil {
			c.readErr = err
			return
		}
		r, err := decode(content)
		switch {
		case r == nil && err != nil:
			c.readErr = err
			return
		case r == nil:
			continue
		case err != nil:
			var kind *dap.DecodeProtocolMessageFieldError
			if errors.As(err, &kind) {
				err = fmt.Errorf("request %.100q is not supported", r.GetRequest().Command)
			}
			c.connection.write(refusal(r, err))
			continue
		}
		if cancel, ok := r.(*dap.CancelRequest); ok && cancel.Arguments != nil {
			c.cancelled.Lock()
			// A request that has been answered, or does not exist yet, cannot be cancelled.
			if id := cancel.Arguments.RequestId; id > c.cancelled.handled && id < r.GetSeq() {
				c.cancelled.requests[id] = true
			}
			c.cancelled.Unlock()
		}
		select {
		case c.requests <- received{r, content}:
		case <-c.gone:
			return
		}
	}
}

// leave removes the client's breakpoints, and lets a call continue or aborts it.
func (c *client) leave() error {
	if c.target == nil {
		close(c.gone)
		return nil
	}
	c.plain = true // the end of a step is not reported any more
	for _, b := range c.breakpoints.List() {
		c.unset(b)
	}
	c.target.mu.Lock()
	c.target.client = nil
	c.target.mu.Unlock()
	close(c.gone)
	if c.aborts && c.running {
		c.abortRunning(c.done)
	}
	if c.program == nil {
		return nil
	}
	if !c.aborts { // the program runs to its end
		go func() {
			c.driving.Wait()
			c.closeProgram()
		}()
		return nil
	}
	c.driving.Wait()
	return c.closeProgram()
}

func (c *client) closeProgram() error {
	if c.program.Close == nil {
		return nil
	}
	return c.program.Close()
}

// start runs a launched program on another goroutine.
func (c *client) start() {
	c.driving.Add(1)
	done := make(chan struct{})
	c.done = done
	go func() {
		defer c.driving.Done()
		defer close(done)
		c.target.drive(func() (*session.Stop, error) { return c.program.Run(c.stopOnEntry.Load()) })
	}()
}

// abortRunning ends the call that runs, or that start is about to make. done is c.done,
// which only the loop may read.
func (c *client) abortRunning(done <-chan struct{}) {
	for {
		_, err := c.target.session.Abort()
		if done == nil || !errors.Is(err, session.ErrNotStopped) {
			return
		}
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func (c *client) output(category, text string) {
	c.connection.write(&dap.OutputEvent{Event: event("output"), Body: dap.OutputEventBody{Category: category, Output: text}})
}

// interrupt stops the code, unless it stops by itself.
func (c *client) interrupt() error {
	for c.running {
		err := c.target.session.Interrupt()
		if !errors.Is(err, session.ErrNotRunning) {
			return err
		}
		// It has just stopped, or is about to start.
		select {
		case r := <-c.reports:
			c.report(r)
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// whileInterrupted runs f while the session does not run. If code runs, it interrupts it
// for f, which the editor does not see. During a step, f runs at the next stop, and the
// result is false.
func (c *client) whileInterrupted(f func()) bool {
	if !c.running {
		f()
		return true
	}
	done := make(chan struct{})
	c.pending.Lock()
	c.pending.list = append(c.pending.list, func() { f(); close(done) })
	c.pending.Unlock()
	if !c.plain {
		return false
	}
	c.waiting.Store(true)
	defer c.waiting.Store(false)
	if c.interrupt() != nil {
		return false
	}
	select {
	case <-done:
	case r := <-c.reports: // it stopped for another reason
		c.report(r)
	}
	return true
}

// runPending runs the functions that wait for a stop, and reports whether there were any.
func (c *client) runPending() bool {
	c.pending.Lock()
	defer c.pending.Unlock()
	list := c.pending.list
	c.pending.list = nil
	for _, f := range list {
		f()
	}
	return len(list) > 0
}
